// SPDX-License-Identifier: Apache-2.0
#include "tools/download/download.h"
#include "tools/download/paths.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct spec parsed(const char *text)
{
	struct qp_error err = {0};
	struct spec spec;
	int r = spec_parse(text, &spec, &err);

	cr_assert_eq(r, 0, "%s: %s", text, err.text);
	return spec;
}

Test(spec, splits_name_and_version_at_the_second_at_sign_of_a_scoped_name)
{
	static const struct {
		const char *text, *name, *range;
	} rows[] = {
		{"fastify@5.12.4", "fastify", "5.12.4"},
		{"fastify", "fastify", ""},
		{"@scope/pkg", "@scope/pkg", ""},
		{"@scope/pkg@^1.2.0", "@scope/pkg", "^1.2.0"},
		{"lodash.merge@latest", "lodash.merge", "latest"},
		{"x@>=1 <2 || 3", "x", ">=1 <2 || 3"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct spec spec = parsed(rows[i].text);

		cr_expect_eq(spec.source, SPEC_REGISTRY);
		cr_expect_str_eq(spec.requested, rows[i].text);
		cr_expect_str_eq(spec.name, rows[i].name);
		cr_expect_str_eq(spec.range, rows[i].range);
	}
}

Test(spec, refuses_what_is_not_the_registrys_with_a_reason)
{
	static const char *const texts[] = {
		"",
		"@",
		"@scope",
		"@scope/",
		"@/x",
		"fastify@",
		"user/repo",
		"git+https://git.example/x.git",
		"x@git+ssh://git@git.example/x",
		"x@npm:y@1",
		"x@file:../y",
		"https://files.example/x.zip",
		"_hidden",
		".npmrc@1",
		"a b",
		"x@1\n2",
		"x\x1b[31m",
		"@../x",
		"@s/../x",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct qp_error err = {0};
		struct spec spec = {.name = "untouched"};

		cr_expect_eq(spec_parse(texts[i], &spec, &err), -EINVAL, "'%s'", texts[i]);
		cr_expect_str_neq(err.text, "", "'%s'", texts[i]);
		cr_expect_str_eq(spec.name, "untouched");
	}
}

Test(spec, refuses_a_name_longer_than_npm_allows)
{
	char text[300];
	struct qp_error err = {0};
	struct spec spec;

	memset(text, 'a', sizeof(text));
	text[214] = '\0';
	cr_expect_eq(spec_parse(text, &spec, &err), 0);
	text[214] = 'a';
	text[215] = '\0';
	cr_expect_eq(spec_parse(text, &spec, &err), -EINVAL);
}

Test(spec, tells_folder_from_tarball_by_what_is_there)
{
	char folder[] = "/tmp/qp-test-spec-XXXXXX", file[64];
	struct spec spec;
	FILE *out;

	cr_assert(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/x.tgz", folder);
	out = fopen(file, "w");
	cr_assert(out);
	fclose(out);

	spec = parsed(folder);
	cr_expect_eq(spec.source, SPEC_FOLDER);
	cr_expect_str_eq(spec.path, folder);
	spec = parsed(file);
	cr_expect_eq(spec.source, SPEC_TARBALL);
	cr_expect_str_eq(spec.path, file);

	/* A relative path becomes absolute, through links. */
	cr_assert_eq(chdir(folder), 0);
	cr_assert_eq(symlink("x.tgz", "link.tgz"), 0);
	spec = parsed("link.tgz");
	cr_expect_str_eq(spec.path, file);
	unlink("link.tgz");
	unlink(file);
	rmdir(folder);
}

Test(spec, says_which_path_is_not_there)
{
	struct qp_error err = {0};
	struct spec spec;

	cr_expect_eq(spec_parse("./no/such/folder", &spec, &err), -ENOENT);
	cr_expect(strstr(err.text, "./no/such/folder"));
}

Test(spec, takes_a_device_for_no_package)
{
	struct qp_error err = {0};
	struct spec spec;

	cr_expect_eq(spec_parse("/dev/null", &spec, &err), -EINVAL);
}

/* Puts the fixtures where a program looks for them: beside itself. */
static void fixtures_link(void)
{
	char path[PATH_MAX] = "", *slash;
	char *fixtures = realpath("tests/fixtures", NULL);

	cr_assert_not_null(fixtures, "tests run in the project's root");
	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 16), 0);
	slash = strrchr(path, '/');
	strcpy(slash, "/fixtures");
	cr_assert(!symlink(fixtures, path) || errno == EEXIST);
	free(fixtures);
}

Test(spec, finds_fixtures_by_name_and_nothing_else)
{
	static const char *const bad[] = {"fixture:", "fixture:../quiet", "fixture:a/b",
					  "fixture:Quiet", "fixture:."};
	struct qp_error err = {0};
	struct spec spec;
	size_t len;

	fixtures_link();
	spec = parsed("fixture:quiet");
	len = strlen(spec.path);

	cr_expect_eq(spec.source, SPEC_FIXTURE);
	cr_expect(len > 6 && !strcmp(spec.path + len - 6, "/quiet"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_eq(spec_parse(bad[i], &spec, &err), -EINVAL, "%s", bad[i]);
	err.text[0] = '\0';
	cr_expect_eq(spec_parse("fixture:no-such", &spec, &err), -ENOENT);
	cr_expect(strstr(err.text, "no-such"));
}

Test(spec, names_each_source_as_receipts_do)
{
	cr_expect_str_eq(spec_source_name(SPEC_REGISTRY), "registry");
	cr_expect_str_eq(spec_source_name(SPEC_FIXTURE), "fixture");
	cr_expect_str_eq(spec_source_name(SPEC_FOLDER), "folder");
	cr_expect_str_eq(spec_source_name(SPEC_TARBALL), "tarball");
}
