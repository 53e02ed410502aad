/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invoking user's npm configuration, carried into the download's container: copies of
 * the npmrc files and of the certificates they name, and the variables they use. It holds
 * tokens: the copies are in one private folder, and what is printed is scrubbed of them.
 */
#ifndef QP_TOOLS_DOWNLOAD_NPM_SETTINGS_H
#define QP_TOOLS_DOWNLOAD_NPM_SETTINGS_H

#include "base/error.h"
#include "tools/download/paths.h"

#include <sys/types.h>

#define SETTINGS_ENV_MAX     256
#define SETTINGS_SECRETS_MAX 256

struct npm_settings {
	int dirfd;	    /* the private folder, borrowed */
	const char *inside; /* its path in the container, borrowed */
	uid_t uid;
	gid_t gid;
	char *env[SETTINGS_ENV_MAX + 1]; /* NAME=VALUE, then NULL */
	size_t env_cnt;
	char *secrets[SETTINGS_SECRETS_MAX];
	size_t secrets_cnt;
	unsigned int copies_cnt;
};

/*
 * Copies the builtin, global and user npmrc into settings->dirfd, owned by settings->uid and
 * readable by no one else, and fills env. The caller set the first four members, the rest
 * is zero. -EFBIG for a file or a configuration past its bounds, others by the system.
 */
int npm_settings_gather(struct npm_settings *settings, const struct host_npm *npm,
			struct qp_error *err);

/* Adds NAME=VALUE to settings->env, replacing an earlier NAME. -E2BIG, -ENOMEM. */
int npm_settings_setenv(struct npm_settings *settings, const char *name, const char *value);

/* A new file in the private folder, for the container's user alone. */
int npm_settings_write(const struct npm_settings *settings, const char *name, const char *bytes,
		       size_t len, struct qp_error *err);

/* Notes a value that must not be printed; shorter ones than six bytes would hide ordinary
 * text. The other takes the user and password out of a URL that has them. -E2BIG, -ENOMEM. */
int npm_settings_add_secret(struct npm_settings *settings, const char *value);
int npm_settings_add_url_secret(struct npm_settings *settings, const char *url);

/*
 * Copies the certificates or key at @path, where "~/" is the invoking user's home.
 * *ret_inside is where the container has the copy, the caller's; NULL when there is no such
 * file, which npm takes for none.
 */
int npm_settings_copy_pem(struct npm_settings *settings, const char *path, char **ret_inside,
			  struct qp_error *err);

/* The part of npm_settings_gather that reads npmrc files. */
int npm_files_take(struct npm_settings *settings, const struct host_npm *npm, struct qp_error *err);

/* Overwrites every secret in @text with asterisks. */
void npm_settings_scrub(const struct npm_settings *settings, char *text);

/* Frees what gathering made; the folder is the caller's. */
void npm_settings_clear(struct npm_settings *settings);

#endif
