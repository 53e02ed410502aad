// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/answers.h"
#include "sinkhole/dns_data.h"

#include <criterion/criterion.h>
#include <string.h>

static struct names *names;
static struct dns_answer answer;
static char text[ANSWER_TEXT_SIZE];

static void begin(void)
{
	names = names_new();
}

static void tidy(void)
{
	names_free(names);
}

TestSuite(answers, .init = begin, .fini = tidy);

static enum dns_rcode ask(const char *name, uint16_t type)
{
	struct dns_question question = {.type = type, .class = DNS_CLASS_IN};

	strcpy(question.name, name);
	return answer_make(names, &question, &answer, text);
}

/* The data of the answer, as its RFC lays it out. */
static void expect_data(const void *bytes, size_t len)
{
	cr_assert_eq(answer.size, len, "%zu", answer.size);
	cr_expect_arr_eq(answer.data, bytes, len);
}

Test(answers, a_name_has_its_address_and_the_address_has_the_name)
{
	cr_expect_eq(ask("a.example", DNS_TYPE_A), DNS_RCODE_NOERROR);
	expect_data("\306\022\0\001", 4);
	cr_expect_str_eq(text, "198.18.0.1");
	cr_expect_eq(ask("1.0.18.198.in-addr.arpa", DNS_TYPE_PTR), DNS_RCODE_NOERROR);
	expect_data("\001a\007example", 11);
	cr_expect_str_eq(text, "a.example");
	cr_expect_eq(ask("1.0.0.0.2.1.6.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.D.f.ip6.ARPA",
			 DNS_TYPE_PTR),
		     DNS_RCODE_NOERROR);
	cr_expect_str_eq(text, "a.example");
}

Test(answers, an_address_without_a_name_is_no_domain)
{
	static const char *const none[] = {
		"7.113.0.203.in-addr.arpa",
		"1.0.18.198.x.example",
		"in-addr.arpa",
		"999.1.1.1",
		"x.0.0.0.2.1.6.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa",
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		cr_expect_eq(ask(none[i], DNS_TYPE_PTR), DNS_RCODE_NXDOMAIN, "%s", none[i]);
		cr_expect_eq(answer.size, 0);
	}
}

/* RFC 1035 sections 3.3.9 and 3.3.14, RFC 2782, RFC 9460 section 2.2. */
Test(answers, other_types_are_made_from_the_name)
{
	ask("a.example", DNS_TYPE_MX);
	expect_data("\0\012\004mail\001a\007example", 18);
	cr_expect_str_eq(text, "10 mail.a.example");
	ask("a.example", DNS_TYPE_TXT);
	expect_data("\013v=spf1 -all", 12);
	ask("_ldap._tcp.a.example", DNS_TYPE_SRV);
	expect_data("\0\012\0\005\001\205\001a\007example", 17);
	cr_expect_str_eq(text, "10 5 389 a.example");
	ask("a.example", DNS_TYPE_HTTPS);
	expect_data("\0\001\0\0\001\0\003\002h2", 10);
	ask("a.example", DNS_TYPE_NS);
	cr_expect_str_eq(text, "ns1.a.example");
	ask("www.a.example", DNS_TYPE_CNAME);
	expect_data("\001a\007example", 11);
}

Test(answers, a_www_name_is_an_alias_that_has_the_address)
{
	ask("www.a.example", DNS_TYPE_A);
	expect_data("\306\022\0\001", 4);
	cr_assert_eq(answer.alias_size, 11);
	cr_expect_arr_eq(answer.alias, "\001a\007example", 11);
	ask("www.example", DNS_TYPE_A);
	cr_expect_eq(answer.alias_size, 0, "a top-level domain is nobody's alias");
}

/* RFC 1034 section 3.6.2: an alias has no other data. */
Test(answers, an_alias_answers_for_what_it_stands_for)
{
	cr_expect_eq(ask("www.a.example", DNS_TYPE_MX), DNS_RCODE_NOERROR);
	expect_data("\0\012\004mail\001a\007example", 18);
	cr_expect_str_eq(text, "10 mail.a.example");
	cr_assert_eq(answer.alias_size, 11);
	cr_expect_arr_eq(answer.alias, "\001a\007example", 11);
	ask("WWW.a.example", DNS_TYPE_CNAME);
	expect_data("\001a\007example", 11);
	cr_expect_eq(answer.alias_size, 0);
	ask("www.a.example", 257);
	cr_expect_eq(answer.size, 0);
	cr_expect_eq(answer.alias_size, 0);
}

Test(answers, what_has_no_answer_or_no_room_has_none)
{
	char longest[DNS_NAME_TEXT_SIZE] = "";

	for (int i = 0; i < 125; i++)
		strcat(longest, "a.");
	strcat(longest, "bcd");
	cr_assert_eq(strlen(longest), 253);
	cr_expect_eq(ask(longest, DNS_TYPE_MX), DNS_RCODE_NOERROR);
	cr_expect_eq(answer.size, 0);
	cr_expect_str_empty(text);
	ask("a.example", DNS_TYPE_CNAME);
	cr_expect_eq(answer.size, 0);
	ask("a.example", DNS_TYPE_SRV);
	cr_expect_eq(answer.size, 0);
	ask("a.example", 255);
	cr_expect_eq(answer.size, 0);
	ask(".", DNS_TYPE_MX);
	cr_expect_eq(answer.size, 0);
}

Test(answers, escaped_bytes_of_a_name_come_back_as_they_were)
{
	ask("a\\x2e\\xff.example", DNS_TYPE_NS);
	expect_data("\003ns1\003a.\377\007example", 17);
}

/* Eight hexadecimal digits three times and eight twice have 3.97 bits each. */
Test(dns_data, names_that_carry_data_are_told_from_names_of_hosts)
{
	static const char *const hosts[] = {
		"registry.a.example",
		"ec2-203-0-113-25.eu-central-1.compute.cloud.example",
		"internal-frontend-prod-1234567890.us-east-1.elb.cloud.example",
		"d111111abcdef8.cdn.example",
		"my-very-long-bucket-name-with-2024-01.s3.dualstack.eu-central-1.cloud.example",
		"thisisaverylongsinglewordwithoutanydigitsinitatall.a.example",
		"example",
		".",
		"",
	};
	struct dns_data data;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
		cr_expect_not(dns_data_find(hosts[i], &data), "%s", hosts[i]);
	cr_expect(dns_data_find("0123456789abcdef0123456789abcdef01234567.t.example", &data));
	cr_expect(data.by_entropy && !data.by_length);
	cr_expect_eq(data.chars, 40);
	cr_expect(data.entropy >= 390 && data.entropy <= 400, "%u", data.entropy);
	cr_expect(dns_data_find("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
				"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t.example",
				&data));
	cr_expect(data.by_length && !data.by_entropy);
	cr_expect_eq(data.entropy, 0);
}
