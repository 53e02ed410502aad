// SPDX-License-Identifier: Apache-2.0
/* The worked example of JA4's description; its digests agree with sha256sum. */
#include "sinkhole/ja4.h"

#include <criterion/criterion.h>
#include <string.h>

static struct tls_hello example(void)
{
	struct tls_hello hello = {
		.legacy_version = 0x0303,
		.sni = "a.example",
		.sni_len = 9,
		.alpn = "h2http/1.1",
		.alpn_len = {2, 8},
		.alpn_cnt = 2,
		.versions = {{0x0304, 0x0303}, 2},
		.suites = {{0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8,
			    0xc013, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035},
			   15},
		.extensions = {{0x001b, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002d, 0x000d,
				0x0005, 0x0023, 0x0012, 0x002b, 0xff01, 0x000b, 0x000a, 0x0015},
			       16},
		.signatures = {{0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601}, 8},
	};

	return hello;
}

static const char *print(const struct tls_hello *hello)
{
	static char text[JA4_SIZE];

	cr_assert_eq(ja4_print(hello, EVP_sha256(), text), 0);
	return text;
}

Test(ja4, is_that_of_the_published_example)
{
	struct tls_hello hello = example();

	cr_expect_str_eq(print(&hello), "t13d1516h2_8daaf6152771_e5627efa2ab1");
}

Test(ja4, says_what_is_missing)
{
	struct tls_hello hello = example(), none = {.legacy_version = 0x0301};

	hello.sni_len = hello.alpn_cnt = hello.versions.cnt = 0;
	cr_expect_eq(strncmp(print(&hello), "t12i151600_8daaf6152771_", 24), 0, "%s",
		     print(&hello));
	cr_expect_str_eq(print(&none), "t10i000000_000000000000_000000000000");
}

Test(ja4, holds_whatever_a_hello_may_list)
{
	struct tls_hello hello = {.alpn = "\xab\xcd", .alpn_len = {2}, .alpn_cnt = 1};

	for (size_t i = 0; i < TLS_LIST_MAX; i++) {
		hello.suites.items[i] = hello.extensions.items[i] = hello.signatures.items[i] =
			(uint16_t)(0xf000 + i);
	}
	hello.suites.cnt = hello.extensions.cnt = hello.signatures.cnt = TLS_LIST_MAX;
	cr_expect_eq(strlen(print(&hello)), JA4_SIZE - 1);
	cr_expect_eq(strncmp(print(&hello), "t00i9999ad_", 11), 0, "%s", print(&hello));
}
