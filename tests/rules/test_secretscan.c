// SPDX-License-Identifier: Apache-2.0
/* Which texts look like credentials. The samples are made up in the issuers' formats. */
#include "rules/secretscan.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define TWENTY "abcdefghij0123456789"

struct sample {
	const char *text, *pattern;
};

static const struct sample samples[] = {
	{"npm_" TWENTY "abcdefghijklmnop", "npm-token"},
	{"see npm_" TWENTY "abcdefghijklmnop.", "npm-token"},
	{"npm_" TWENTY "abcdefghijklmno", NULL},
	{"xnpm_" TWENTY "abcdefghijklmnop", NULL},
	{"ghp_" TWENTY "ABCDEFGHIJKLMNOP", "github-token"},
	{"gho_" TWENTY "ABCDEFGHIJKLMNOP", "github-token"},
	{"done\\nghp_" TWENTY "ABCDEFGHIJKLMNOP", "github-token"},
	{"\\x0dghp_" TWENTY "ABCDEFGHIJKLMNOP", "github-token"},
	{"\\u001bghp_" TWENTY "ABCDEFGHIJKLMNOP", "github-token"},
	{"x0dghp_" TWENTY "ABCDEFGHIJKLMNOP", NULL},
	{"nghp_" TWENTY "ABCDEFGHIJKLMNOP", NULL},
	{"\0\0\0\0\0\0\0\0", NULL},
	{"github_pat_" TWENTY "_" TWENTY, "github-token"},
	{"glpat-" TWENTY, "gitlab-token"},
	{"AKIAIOSFODNN7EXAMPLE", "aws-access-key"},
	{"key=AKIAIOSFODNN7EXAMPLE;", "aws-access-key"},
	{"AKIAIOSFODNN7EXAMPL", NULL},
	{"AKIAiosfodnn7example", NULL},
	{"MAKIAIOSFODNN7EXAMPLE", NULL},
	{"xoxb-12345678901-" TWENTY, "slack-token"},
	{"sk_live_" TWENTY, "stripe-key"},
	{"sk_test_" TWENTY, NULL},
	{"Authorization: Bearer " TWENTY, "bearer-token"},
	{"Bearer of news", NULL},
	{"//registry.example/:_authToken=" TWENTY, "npm-auth"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N", "jwt"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0", NULL},
	{"eyJhbGciOiJIUzI1NiJ9", NULL},
	{"-----BEGIN PRIVATE KEY-----\nMII", "private-key"},
	{"-----BEGIN RSA PRIVATE KEY-----\nMII", "private-key"},
	{"-----BEGIN OPENSSH PRIVATE KEY-----\n", "private-key"},
	{"-----BEGIN PUBLIC KEY-----\n", NULL},
	{"-----BEGIN CERTIFICATE-----\n", NULL},
	{"https://user:hunter2@host.example/", "url-password"},
	{"https://user@host.example/", NULL},
	{"https://host.example:443/@scope/name", NULL},
	{"sha512-" TWENTY TWENTY TWENTY "==", NULL},
	{"8bdc1c9f466bbeec481298109f37e658e6cea294881fd97bef60263ca9acbe04", NULL},
	{"", NULL},
};

Test(secretscan, credentials_are_told_from_other_text)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const char *pattern = secretscan_text(samples[i].text, strlen(samples[i].text));

		if (samples[i].pattern)
			cr_expect(pattern && !strcmp(pattern, samples[i].pattern), "%s: %s",
				  samples[i].text, pattern ? pattern : "nothing");
		else
			cr_expect_null(pattern, "%s: %s", samples[i].text, pattern);
	}
}

Test(secretscan, hits_name_the_pointer_and_never_the_value)
{
	json_t *value = json_pack("{s:[s, {s:s}], s:s}", "a/b~c", "fine", "deep",
				  "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "x");
	json_t *scan = NULL, *hits;
	char *text;

	cr_assert_eq(secretscan_json(value, &scan), 0);
	cr_assert(json_is_false(json_object_get(scan, "pass")));
	hits = json_object_get(scan, "hits");
	cr_assert_eq(json_array_size(hits), 2);
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(hits, 0), "pointer")),
			 "/a~1b~0c/1/deep");
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(hits, 1), "pointer")),
			 "/(secret)");
	text = json_dumps(scan, 0);
	cr_expect_null(strstr(text, "AKIA"));
	free(text);
	json_decref(scan);
	json_decref(value);
}

Test(secretscan, hits_are_bounded_and_the_answer_is_not)
{
	json_t *value = json_array(), *scan = NULL;

	for (int i = 0; i < SECRETSCAN_HITS_MAX + 7; i++)
		json_array_append_new(value, json_string("AKIAIOSFODNN7EXAMPLE"));
	cr_assert_eq(secretscan_json(value, &scan), 0);
	cr_expect_eq(json_array_size(json_object_get(scan, "hits")), SECRETSCAN_HITS_MAX);
	cr_expect(json_is_false(json_object_get(scan, "pass")));
	json_decref(scan);
	json_decref(value);
}

Test(secretscan, nesting_is_bounded)
{
	json_t *value = json_array(), *scan;

	for (int i = 0; i < 400; i++)
		value = json_pack("[o]", value);
	cr_assert_eq(secretscan_json(value, &scan), -ELOOP);
	json_decref(value);
}
