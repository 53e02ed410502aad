// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/names.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *address_of(struct names *names, const char *name, uint8_t family)
{
	static char text[ENDPOINT_ADDRESS_SIZE];
	struct endpoint address;

	cr_assert_eq(names_address(names, name, family, &address), 0);
	return endpoint_address(&address, text);
}

Test(names, gives_each_name_the_next_address_and_keeps_it)
{
	_cleanup_names_ struct names *names = names_new();

	cr_expect_str_eq(address_of(names, "a.example", AF_INET), "198.18.0.1");
	cr_expect_str_eq(address_of(names, "b.example", AF_INET6), "fd00::c612:2");
	cr_expect_str_eq(address_of(names, "a.example", AF_INET6), "fd00::c612:1");
	cr_expect_str_eq(address_of(names, "b.example", AF_INET), "198.18.0.2");
	cr_expect_str_eq(address_of(names, "c.example", AF_INET), "198.18.0.3");
}

/* RFC 4343. */
Test(names, ignores_case)
{
	_cleanup_names_ struct names *names = names_new();

	address_of(names, "Pkg.Example", AF_INET);
	cr_expect_str_eq(address_of(names, "pKG.eXAMPLE", AF_INET), "198.18.0.1");
}

static const char *find(const struct names *names, const char *text, int family)
{
	uint8_t bytes[16];

	cr_assert_eq(inet_pton(family, text, bytes), 1);
	struct endpoint address = endpoint_make((uint8_t)family, bytes, 443);

	return names_find(names, &address);
}

Test(names, finds_the_name_of_an_address)
{
	_cleanup_names_ struct names *names = names_new();

	address_of(names, "Pkg.example", AF_INET);
	cr_expect_str_eq(find(names, "198.18.0.1", AF_INET), "Pkg.example");
	cr_expect_str_eq(find(names, "fd00::c612:1", AF_INET6), "Pkg.example");
	cr_expect_null(find(names, "198.18.0.0", AF_INET));
	cr_expect_null(find(names, "198.18.0.2", AF_INET));
	cr_expect_null(find(names, "203.0.113.7", AF_INET));
	cr_expect_null(find(names, "fd00::1:0:c612:1", AF_INET6));
	cr_expect_null(find(names, "2001:db8::1", AF_INET6));
}

/* RFC 2544 has 198.18.0.0/15; its first and last address are nobody's. */
Test(names, uses_the_whole_range_and_then_says_so)
{
	_cleanup_names_ struct names *names = names_new();
	struct endpoint address;
	char name[32];

	for (int i = 1; i <= NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d.example", i);
		cr_assert_eq(names_address(names, name, AF_INET, &address), 0);
	}
	cr_expect_str_eq(address_of(names, name, AF_INET), "198.19.255.254");
	cr_expect_eq(names_address(names, "more.example", AF_INET, &address), -ENOSPC);
	cr_expect_str_eq(find(names, "198.19.255.254", AF_INET), name);
	cr_expect_str_eq(find(names, "198.19.0.0", AF_INET), "n65536.example");
	cr_expect_null(find(names, "198.19.255.255", AF_INET));
}
