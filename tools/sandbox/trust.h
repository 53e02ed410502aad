/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the programs inside a container trust one more certificate authority, where they look
 * for those they trust, so that nothing in their environment tells of it.
 */
#ifndef QP_TOOLS_SANDBOX_TRUST_H
#define QP_TOOLS_SANDBOX_TRUST_H

#include <jansson.h>
#include <stdbool.h>

struct sandbox_trust {
	const char *pem;  /* the certificate */
	const char *name; /* its common name, which becomes a file's */
	const char *hash; /* of its subject, as openssl-rehash(1) names links */
};

/* Whether @path is a folder of certificates that trust_stores writes to: such a folder must
 * be a copy of the host's, not the host's own. */
bool trust_wants_copy(const char *path);

/* Adds the certificate to the stores of the system that are below @root_fd, which must be
 * writable. One that cannot be changed is left: trust_read tells. */
void trust_stores(int root_fd, const struct sandbox_trust *trust);

/*
 * Node brings its own authorities, compiled in. Writes a copy of the program @node_fd to
 * the new file @copy, in which @pem is in the place of one of them. 0; -ENOENT when there are
 * none in it; -errno.
 */
int trust_node_copy(int node_fd, const char *copy, const char *pem);

/* What trusts it, read back below @root_fd: {"trustedBy": [path...], "untrustedBy": [path...]}
 * of the stores that are there, and of @node, a path or NULL. NULL when out of memory. */
json_t *trust_read(int root_fd, const char *pem, const char *node);

#endif
