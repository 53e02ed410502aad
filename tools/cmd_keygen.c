// SPDX-License-Identifier: Apache-2.0
/* qp keygen: a new pair of Ed25519 keys. */
#include "tools/command.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "tools/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

DEFINE_CLEANUP(secret, char *, key_text_free);
#define _cleanup_secret_ _cleanup_(secret)

static const struct command_help help = {
	.usage = "qp keygen [OPTION...]",
	.summary = "Makes a pair of Ed25519 keys: BASENAME.key, for --key of qp run and qp exec, "
		   "and\nBASENAME.pub, for qp verify. Neither file is ever overwritten.",
	.details = "With a passphrase the private key is encrypted (PBES2, AES-256); without one, "
		   "only the\nfile's mode, 0600, protects it.",
	.example = "  qp keygen --out qp --passphrase-file ./passphrase",
};

static int file_write(const char *base, const char *suffix, mode_t mode, const char *text,
		      struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s%s", base, suffix) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = write_new_file_at(AT_FDCWD, path, mode, text, strlen(text));
	return r ? qp_error_set(err, r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

static void file_undo(const char *base, const char *suffix)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s%s", base, suffix) < 0)
		path = NULL;
	else
		unlink(path);
}

static int pair_write(const char *base, const char *passphrase_path, struct key **ret_key,
		      struct qp_error *err)
{
	_cleanup_secret_ char *passphrase = NULL, *private_text = NULL;
	_cleanup_free_ char *public_text = NULL;
	_cleanup_key_ struct key *key = NULL;
	int r = passphrase_path ? key_passphrase_read(passphrase_path, &passphrase, err) : 0;

	if (!r)
		r = key_generate(&key, err);
	if (r)
		return r;
	r = key_private_pem(key, passphrase, &private_text);
	if (!r)
		r = key_public_pem(key, &public_text);
	if (r)
		return qp_error_set(err, r, "OpenSSL could not spell the keys");
	r = file_write(base, ".key", 0600, private_text, err);
	if (r)
		return r;
	r = file_write(base, ".pub", 0644, public_text, err);
	if (r)
		file_undo(base, ".key");
	else
		*ret_key = steal_ptr(key);
	return r;
}

int cmd_keygen(int argc, char **argv)
{
	const char *out = "qp", *passphrase = NULL;
	const struct option rows[] = {
		{"out", OPTION_STRING, &out, "BASENAME", "names of the files, without .key (qp)", 0,
		 0, NULL},
		{"passphrase-file", OPTION_STRING, &passphrase, "FILE",
		 "encrypt with the first line of FILE; - is standard input", 0, 0, NULL},
		{0},
	};
	_cleanup_key_ struct key *key = NULL;
	struct qp_error err = {0};
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 0, 0, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	r = pair_write(out, passphrase, &key, &err);
	if (r)
		return command_failed(&err, r);
	printf("%s.key  the private key: keep it secret\n%s.pub  the public key, id %s\n", out, out,
	       key_id(key));
	if (fflush(stdout)) {
		log_error("cannot write: %s", strerror(errno));
		return EXIT_OTHER;
	}
	return 0;
}
