// SPDX-License-Identifier: Apache-2.0
/* From question to answer, by type. */
#include "sinkhole/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LABEL_MAX     63
#define MX_PREFERENCE 10
#define SRV_PRIORITY  10
#define SRV_WEIGHT    5
#define SRV_PORT_ELSE 443
#define NIBBLES	      32
#define ALPN_KEY      1 /* SvcParamKey, RFC 9460 section 14.3.2 */
#define ALIAS_PREFIX  "www."
#define REVERSE4      ".in-addr.arpa"
#define REVERSE6      ".ip6.arpa"
#define SPF	      "v=spf1 -all"

static const struct {
	const char *service;
	uint16_t port;
} services[] = {
	{"_ldap.", 389},  {"_ldaps.", 636}, {"_kerberos.", 88},	     {"_sip.", 5060},
	{"_sips.", 5061}, {"_imaps.", 993}, {"_submission.", 587},   {"_xmpp-client.", 5222},
	{"_http.", 80},	  {"_caldav.", 80}, {"_xmpp-server.", 5269}, {"_mongodb.", 27017},
};

static void put16(struct dns_answer *answer, unsigned value)
{
	answer->data[answer->size++] = (uint8_t)(value >> 8);
	answer->data[answer->size++] = (uint8_t)value;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of a spelt name, as dns_query_parse spells them. Its length, 0: no room. */
static size_t name_wire(const char *text, uint8_t wire[static DNS_NAME_MAX])
{
	size_t used = 1, length_at = 0;

	if (!strcmp(text, "."))
		text = "";
	for (const char *p = text; *p; p++) {
		uint8_t c = (uint8_t)*p;

		if (used == DNS_NAME_MAX - 1)
			return 0;
		if (c == '.') {
			wire[length_at] = (uint8_t)(used - length_at - 1);
			length_at = used++;
			continue;
		}
		if (c == '\\' && p[1] == 'x' && p[2] && p[3]) {
			c = (uint8_t)(hex_value(p[2]) << 4 | hex_value(p[3]));
			p += 3;
		}
		if (used - length_at > LABEL_MAX)
			return 0;
		wire[used++] = c;
	}
	wire[length_at] = (uint8_t)(used - length_at - 1);
	if (used - length_at > 1)
		wire[used++] = 0;
	return used;
}

/* Appends a name to the data; without room there is no answer at all. */
static bool put_name(struct dns_answer *answer, const char *text)
{
	uint8_t wire[DNS_NAME_MAX];
	size_t len = name_wire(text, wire);

	if (!len) {
		answer->size = 0;
		return false;
	}
	memcpy(answer->data + answer->size, wire, len);
	answer->size += len;
	return true;
}

/* @prefix and the name behind the numbers that the data begins with. */
static void host_answer(struct dns_answer *answer, const char *prefix, const char *name, char *text)
{
	char host[ANSWER_TEXT_SIZE];
	size_t there = strlen(text);

	snprintf(host, sizeof(host), "%s%s", prefix, name);
	if (!strcmp(name, ".") || !put_name(answer, host)) {
		answer->size = 0;
		text[0] = '\0';
		return;
	}
	snprintf(text + there, ANSWER_TEXT_SIZE - there, "%s", host);
}

static const char *alias_target(const char *name)
{
	size_t len = strlen(ALIAS_PREFIX);

	return !strncasecmp(name, ALIAS_PREFIX, len) && strchr(name + len, '.') ? name + len : NULL;
}

static enum dns_rcode address_answer(struct names *names, const struct dns_question *question,
				     struct dns_answer *answer, char *text)
{
	uint8_t family = question->type == DNS_TYPE_A ? AF_INET : AF_INET6;
	const char *target = alias_target(question->name);
	struct endpoint address;

	if (names_address(names, question->name, family, &address) < 0)
		return DNS_RCODE_SERVFAIL;
	answer->size = family == AF_INET ? 4 : 16;
	memcpy(answer->data, address.address, answer->size);
	endpoint_address(&address, text);
	if (target)
		answer->alias_size = name_wire(target, answer->alias);
	return DNS_RCODE_NOERROR;
}

/* The address that a name below ip6.arpa or in-addr.arpa stands for. */
static bool reverse_parse(const char *name, struct endpoint *ret_address)
{
	unsigned part[4];
	uint8_t bytes[16] = {};
	size_t len = strlen(name);
	int end = 0;

	if (sscanf(name, "%3u.%3u.%3u.%3u%n", &part[0], &part[1], &part[2], &part[3], &end) == 4 &&
	    !strcasecmp(name + end, REVERSE4)) {
		for (int i = 0; i < 4; i++)
			bytes[i] = (uint8_t)part[3 - i];
		*ret_address = endpoint_make(AF_INET, bytes, 0);
		return true;
	}
	if (len != 2 * NIBBLES - 1 + strlen(REVERSE6) ||
	    strcasecmp(name + 2 * NIBBLES - 1, REVERSE6) != 0)
		return false;
	for (int i = 0; i < NIBBLES; i++) {
		int value = hex_value((char)(name[2 * i] | 0x20));

		if (value < 0 || (i && name[2 * i - 1] != '.'))
			return false;
		bytes[15 - i / 2] |= (uint8_t)(value << (i % 2 ? 4 : 0));
	}
	*ret_address = endpoint_make(AF_INET6, bytes, 0);
	return true;
}

static enum dns_rcode reverse_answer(struct names *names, const struct dns_question *question,
				     struct dns_answer *answer, char *text)
{
	struct endpoint address;
	const char *name = NULL;

	if (reverse_parse(question->name, &address))
		name = names_find(names, &address);
	if (!name)
		return DNS_RCODE_NXDOMAIN;
	host_answer(answer, "", name, text);
	return DNS_RCODE_NOERROR;
}

/* "_service._protocol.name" (RFC 2782): the name itself, on the service's usual port. */
static void service_answer(const char *name, struct dns_answer *answer, char *text)
{
	const char *protocol = strchr(name, '.');
	const char *host = protocol ? strchr(protocol + 1, '.') : NULL;
	uint16_t port = SRV_PORT_ELSE;

	if (name[0] != '_' || !host || protocol[1] != '_')
		return;
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		if (!strncasecmp(name, services[i].service, strlen(services[i].service)))
			port = services[i].port;
	put16(answer, SRV_PRIORITY);
	put16(answer, SRV_WEIGHT);
	put16(answer, port);
	snprintf(text, ANSWER_TEXT_SIZE, "%d %d %u ", SRV_PRIORITY, SRV_WEIGHT, port);
	host_answer(answer, "", host + 1, text);
}

/* Priority 1, the name itself, and what a server of today speaks. */
static void https_answer(struct dns_answer *answer, char *text)
{
	static const uint8_t alpn[] = {2, 'h', '2'};

	put16(answer, 1);
	answer->data[answer->size++] = 0;
	put16(answer, ALPN_KEY);
	put16(answer, sizeof(alpn));
	memcpy(answer->data + answer->size, alpn, sizeof(alpn));
	answer->size += sizeof(alpn);
	snprintf(text, ANSWER_TEXT_SIZE, "1 . alpn=h2");
}

static void other_answer(const char *name, uint16_t type, struct dns_answer *answer, char *text)
{
	switch (type) {
	case DNS_TYPE_NS:
		host_answer(answer, "ns1.", name, text);
		break;
	case DNS_TYPE_MX:
		put16(answer, MX_PREFERENCE);
		snprintf(text, ANSWER_TEXT_SIZE, "%d ", MX_PREFERENCE);
		host_answer(answer, "mail.", name, text);
		break;
	case DNS_TYPE_TXT:
		answer->data[answer->size++] = sizeof(SPF) - 1;
		memcpy(answer->data + answer->size, SPF, sizeof(SPF) - 1);
		answer->size += sizeof(SPF) - 1;
		snprintf(text, ANSWER_TEXT_SIZE, "%s", SPF);
		break;
	case DNS_TYPE_SRV:
		service_answer(name, answer, text);
		break;
	case DNS_TYPE_HTTPS:
		https_answer(answer, text);
		break;
	default:
		break;
	}
}

/* Whoever asks for anything else of an alias is told of what the alias stands for. */
static void alias_answer(const char *target, uint16_t type, struct dns_answer *answer, char *text)
{
	if (type == DNS_TYPE_CNAME) {
		host_answer(answer, "", target, text);
		return;
	}
	other_answer(target, type, answer, text);
	if (answer->size)
		answer->alias_size = name_wire(target, answer->alias);
}

enum dns_rcode answer_make(struct names *names, const struct dns_question *question,
			   struct dns_answer *ret_answer, char ret_text[static ANSWER_TEXT_SIZE])
{
	const char *target = alias_target(question->name);

	ret_answer->size = ret_answer->alias_size = 0;
	ret_text[0] = '\0';
	if (question->class != DNS_CLASS_IN)
		return DNS_RCODE_NOERROR;
	if (question->type == DNS_TYPE_A || question->type == DNS_TYPE_AAAA)
		return address_answer(names, question, ret_answer, ret_text);
	if (question->type == DNS_TYPE_PTR)
		return reverse_answer(names, question, ret_answer, ret_text);
	if (target)
		alias_answer(target, question->type, ret_answer, ret_text);
	else
		other_answer(question->name, question->type, ret_answer, ret_text);
	return DNS_RCODE_NOERROR;
}
