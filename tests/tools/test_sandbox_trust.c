// SPDX-License-Identifier: Apache-2.0
/* Stores and a program that come to trust one authority more. */
#include "base/authority.h"
#include "base/io.h"
#include "tools/sandbox/trust.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 256
#define ROOTS	  60

/* A root in a new folder, and an authority. */
struct place {
	char folder[64];
	int root_fd;
	char *pem, name[AUTHORITY_NAME_SIZE], hash[AUTHORITY_HASH_SIZE];
	struct sandbox_trust trust;
};

static void place_open(struct place *place)
{
	struct authority *authority;

	memset(place, 0, sizeof(*place));
	snprintf(place->folder, sizeof(place->folder), "/tmp/qp-test-trust-XXXXXX");
	cr_assert_not_null(mkdtemp(place->folder));
	place->root_fd = open(place->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(authority_make(&authority, NULL), 0);
	place->pem = authority_pem(authority);
	authority_name(authority, place->name);
	authority_hash(authority, place->hash);
	authority_free(authority);
	place->trust = (struct sandbox_trust){place->pem, place->name, place->hash};
}

static void place_close(struct place *place)
{
	remove_tree_at(AT_FDCWD, place->folder);
	close(place->root_fd);
	free(place->pem);
}

static void shell(const struct place *place, const char *command)
{
	char line[1024];

	cr_assert_lt(snprintf(line, sizeof(line), "cd %s && %s", place->folder, command), 1024);
	cr_assert_eq(system(line), 0, "%s", command);
}

static void expect_trust(const struct place *place, const char *node, const char *expected)
{
	json_t *wanted = json_loads(expected, 0, NULL);
	json_t *got = trust_read(place->root_fd, place->pem, node);

	cr_expect(json_equal(got, wanted), "%s", json_dumps(got, 0));
	json_decref(wanted);
	json_decref(got);
}

/* openssl finds it by either way. The link leads out for all but who looks from inside. */
Test(trust, reaches_bundles_and_the_folder_of_hashes_once)
{
	struct place place;

	place_open(&place);
	shell(&place, "mkdir -p etc/ssl/certs && printf 'first' > etc/ssl/certs/ca-certificates.crt"
		      " && ln -s /etc/ssl/certs/ca-certificates.crt etc/ssl/cert.pem");
	expect_trust(&place, NULL,
		     "{\"trustedBy\": [], \"untrustedBy\":"
		     " [\"/etc/ssl/certs/ca-certificates.crt\", \"/etc/ssl/cert.pem\"]}");
	trust_stores(place.root_fd, &place.trust);
	expect_trust(&place, NULL,
		     "{\"untrustedBy\": [], \"trustedBy\":"
		     " [\"/etc/ssl/certs/ca-certificates.crt\", \"/etc/ssl/cert.pem\"]}");
	shell(&place, "head -c 6 etc/ssl/certs/ca-certificates.crt | grep -qx first");
	shell(&place, "test $(grep -c BEGIN etc/ssl/certs/ca-certificates.crt) = 1");
	shell(&place, "sed 1d etc/ssl/certs/ca-certificates.crt > ca.pem"
		      " && openssl verify -CApath etc/ssl/certs -no-CAfile -no-CAstore ca.pem"
		      " > /dev/null");
	place_close(&place);
}

Test(trust, makes_no_store_where_there_is_none)
{
	struct place place;

	place_open(&place);
	shell(&place, "mkdir -p etc/ssl/certs/ca-certificates.crt");
	trust_stores(place.root_fd, &place.trust);
	expect_trust(&place, "/usr/bin/node", "{\"trustedBy\": [], \"untrustedBy\": []}");
	place_close(&place);
}

/* A program with @cnt certificates among other bytes. */
static void program_write(const struct place *place, int cnt)
{
	char path[PATH_SIZE];
	FILE *file;

	snprintf(path, sizeof(path), "%s/program", place->folder);
	file = fopen(path, "we");
	for (int i = 0; i < cnt; i++) {
		struct authority *authority;
		char *pem;

		cr_assert_eq(authority_make(&authority, NULL), 0);
		pem = authority_pem(authority);
		fprintf(file, "code %d", i);
		fputc('\0', file);
		/* Longer by a comment, as those of larger keys are. */
		fprintf(file, "%.*s%s%s", (int)(strlen(pem) - 26), pem,
			i % 2 ? "" : "MIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIBMIIB\n",
			pem + strlen(pem) - 26);
		fputc('\0', file);
		free(pem);
		authority_free(authority);
	}
	fputs("-----BEGIN CERTIFICATE-----\n%s is what begins one", file);
	fclose(file);
}

static int program_copy(const struct place *place)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	int fd, r;

	snprintf(from, sizeof(from), "%s/program", place->folder);
	snprintf(to, sizeof(to), "%s/copy", place->folder);
	fd = open(from, O_RDONLY | O_CLOEXEC);
	r = trust_node_copy(fd, to, place->pem);
	close(fd);
	return r;
}

Test(trust, takes_the_place_of_one_authority_of_a_program)
{
	char *before, *after;
	size_t before_len, after_len, begins = 0, differs = 0;
	char path[PATH_SIZE];
	struct place place;

	place_open(&place);
	program_write(&place, ROOTS);
	cr_assert_eq(program_copy(&place), 0);
	snprintf(path, sizeof(path), "%s/program", place.folder);
	cr_assert_eq(read_file_at(AT_FDCWD, path, 1 << 20, &before, &before_len), 0);
	snprintf(path, sizeof(path), "%s/copy", place.folder);
	cr_assert_eq(read_file_at(AT_FDCWD, path, 1 << 20, &after, &after_len), 0);
	cr_assert_eq(before_len, after_len);
	for (size_t i = 0; i < after_len; i++) {
		begins += !strncmp(after + i, "-----BEGIN CERTIFICATE-----\n", 28);
		differs += before[i] != after[i];
	}
	cr_expect_eq(begins, ROOTS + 1);
	/* Nothing but one string. */
	cr_expect(differs && differs <= strlen(place.pem) + 64, "%zu", differs);
	cr_expect_not_null(memmem(after, after_len, place.pem, strlen(place.pem) + 1));
	expect_trust(&place, "/copy", "{\"trustedBy\": [\"/copy\"], \"untrustedBy\": []}");
	expect_trust(&place, "/program", "{\"trustedBy\": [], \"untrustedBy\": [\"/program\"]}");
	free(before);
	free(after);
	place_close(&place);
}

Test(trust, leaves_a_program_alone_that_brings_no_authorities)
{
	struct place place;

	place_open(&place);
	program_write(&place, 10);
	cr_expect_eq(program_copy(&place), -ENOENT);
	place_close(&place);
}
