// SPDX-License-Identifier: Apache-2.0
/* Reading keys and passphrases from files, descriptors and systemd's credentials. */
#include "rules/keys_internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/log.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/stat.h>

#define KEY_FILE_BYTES_MAX   (64U << 10)
#define PASSPHRASE_BYTES_MAX 1023
#define CREDENTIAL_PREFIX    "credential:"
#define DESCRIPTOR_PREFIX    "/dev/fd/"

DEFINE_CLEANUP(bio, BIO *, BIO_free_all);
DEFINE_CLEANUP(secret, char *, key_text_free);
#define _cleanup_secret_ _cleanup_(secret)

static int credential_path(const char *name, char **ret_path, struct qp_error *err)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");

	if (!folder || !*folder)
		return qp_error_set(err, -ENOENT,
				    "credential:%s: $CREDENTIALS_DIRECTORY is not set, so systemd "
				    "gave this process no credentials",
				    name);
	if (!*name || strchr(name, '/'))
		return qp_error_set(err, -EINVAL, "credential:%s is no name of a credential", name);
	if (asprintf(ret_path, "%s/%s", folder, name) < 0) {
		*ret_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* A descriptor that was handed over must not go on to the programs that qp starts. */
static int descriptor_take(const char *path)
{
	uint64_t fd;

	if (strncmp(path, DESCRIPTOR_PREFIX, strlen(DESCRIPTOR_PREFIX)) != 0 ||
	    number_parse(path + strlen(DESCRIPTOR_PREFIX), 0, INT32_MAX, &fd))
		return -1;
	return (int)fd;
}

/* One of the three stays open, on nothing: it is not to become some other file. */
static int standard_take(int fd)
{
	_cleanup_close_ int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (nothing < 0 || copy < 0 || dup2(nothing, fd) < 0)
		return -errno;
	return steal_fd(&copy);
}

static int source_open(const char *path, const char *what, struct qp_error *err)
{
	_cleanup_free_ char *credential = NULL;
	int fd = descriptor_take(path), r;

	if (fd > STDERR_FILENO)
		return fd;
	if (fd >= 0)
		return standard_take(fd);
	if (!strncmp(path, CREDENTIAL_PREFIX, strlen(CREDENTIAL_PREFIX))) {
		r = credential_path(path + strlen(CREDENTIAL_PREFIX), &credential, err);
		if (r)
			return r;
	}
	fd = open(credential ? credential : path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? qp_error_set(err, -errno, "cannot open the %s %s: %s", what, path,
				     strerror(errno))
		      : fd;
}

static int source_read(const char *path, const char *what, size_t max, char **ret_text,
		       size_t *ret_len, struct qp_error *err)
{
	_cleanup_close_ int fd = source_open(path, what, err);
	struct stat st;
	int r;

	if (fd < 0)
		return fd;
	if (!strcmp(what, "key") && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & 077)
		log_warning("the key %s can be read by others than its owner: chmod 600 %s", path,
			    path);
	r = read_all(fd, max, ret_text, ret_len);
	return r ? qp_error_set(err, r, "cannot read the %s %s: %s", what, path, strerror(-r)) : 0;
}

int key_passphrase_read(const char *path, char **ret_passphrase, struct qp_error *err)
{
	const char *name = strcmp(path, "-") ? path : "/dev/fd/0";
	_cleanup_secret_ char *text = NULL;
	size_t len;
	int r = source_read(name, "passphrase file", KEY_FILE_BYTES_MAX, &text, &len, err);

	if (r)
		return r;
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text || strlen(text) > PASSPHRASE_BYTES_MAX)
		return qp_error_set(err, -EINVAL,
				    "the first line of the passphrase file %s is empty or longer "
				    "than %d bytes",
				    path, PASSPHRASE_BYTES_MAX);
	*ret_passphrase = steal_ptr(text);
	return 0;
}

struct passphrase {
	const char *text; /* or NULL */
	bool was_asked;
};

/* Never asks the terminal, as OpenSSL would without a function of ours. */
static int passphrase_give(char *buf, int size, int writing, void *context)
{
	struct passphrase *passphrase = context;
	size_t len = passphrase->text ? strlen(passphrase->text) : 0;

	(void)writing;
	passphrase->was_asked = true;
	if (!len || len > (size_t)size)
		return -1;
	memcpy(buf, passphrase->text, len);
	return (int)len;
}

static int private_parse(const char *path, const char *text, size_t len,
			 struct passphrase *passphrase, struct key **ret_key, struct qp_error *err)
{
	_cleanup_(bio) BIO *bio = BIO_new_mem_buf(text, (int)len);
	EVP_PKEY *pkey;
	int r;

	if (!bio)
		return -ENOMEM;
	pkey = PEM_read_bio_PrivateKey(bio, NULL, passphrase_give, passphrase);
	if (pkey) {
		r = key_new_take(pkey, ret_key);
		return r ? qp_error_set(err, r, "the key %s is not an Ed25519 key", path) : 0;
	}
	if (passphrase->was_asked && !passphrase->text)
		return qp_error_set(err, -EACCES,
				    "the key %s is encrypted: name the file with its passphrase "
				    "with --key-passphrase-file",
				    path);
	if (passphrase->was_asked)
		return qp_error_set(err, -EACCES, "the passphrase does not open the key %s", path);
	return qp_error_set(err, -EINVAL,
			    "%s is no private key in PEM (PKCS #8); qp keygen makes one", path);
}

int key_private_read(const char *path, const char *passphrase_path, struct key **ret_key,
		     struct qp_error *err)
{
	_cleanup_secret_ char *secret = NULL, *text = NULL;
	struct passphrase passphrase = {0};
	size_t len;
	int r;

	if (passphrase_path) {
		r = key_passphrase_read(passphrase_path, &secret, err);
		if (r)
			return r;
		passphrase.text = secret;
	}
	r = source_read(path, "key", KEY_FILE_BYTES_MAX, &text, &len, err);
	return r ? r : private_parse(path, text, len, &passphrase, ret_key, err);
}

int key_public_read(const char *path, struct key **ret_key, struct qp_error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(bio) BIO *bio = NULL;
	EVP_PKEY *pkey;
	size_t len;
	int r = source_read(path, "public key", KEY_FILE_BYTES_MAX, &text, &len, err);

	if (r)
		return r;
	bio = BIO_new_mem_buf(text, (int)len);
	if (!bio)
		return -ENOMEM;
	pkey = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
	r = pkey ? key_new_take(pkey, ret_key) : -EINVAL;
	return r ? qp_error_set(err, r, "%s is no Ed25519 public key in PEM", path) : 0;
}
