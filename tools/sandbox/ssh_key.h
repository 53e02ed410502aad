/* SPDX-License-Identifier: Apache-2.0 */
/* A new Ed25519 key pair in the formats of OpenSSH (its PROTOCOL.key). */
#ifndef QP_TOOLS_SANDBOX_SSH_KEY_H
#define QP_TOOLS_SANDBOX_SSH_KEY_H

/*
 * @comment is at most 100 bytes. *ret_private is the private key's file, *ret_public the
 * public key's line, *ret_secret a line of the private file that holds key material: all
 * strings that the caller frees. 0 or -errno.
 */
int ssh_key_make(const char *comment, char **ret_private, char **ret_public, char **ret_secret);

#endif
