// SPDX-License-Identifier: Apache-2.0
/* Addresses in the shapes that events and records have them, and DNS questions. */
#include "collector/decode_net.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#define V4_OFFSET	12
#define DNS_HEAD_BYTES	12
#define DNS_NAME_MAX	253
#define DNS_LABEL_MAX	63
#define DNS_FLAG_QR	0x80
#define DNS_OPCODE_MASK 0x78
#define DNS_CLASS_IN	1

bool endpoint_of_bytes(int family, const void *addr, uint16_t port, struct endpoint *ret_endpoint)
{
	*ret_endpoint = (struct endpoint){.port = port};
	if (family == AF_INET6) {
		memcpy(&ret_endpoint->addr, addr, sizeof(ret_endpoint->addr));
		return true;
	}
	ret_endpoint->addr.s6_addr[10] = ret_endpoint->addr.s6_addr[11] = 0xff;
	memcpy(ret_endpoint->addr.s6_addr + V4_OFFSET, addr, sizeof(struct in_addr));
	return family == AF_INET;
}

bool endpoint_of_sockaddr(const struct event_field *field, struct endpoint *ret_endpoint)
{
	sa_family_t family;
	uint16_t port;

	if (!field || field->flags & QP_FIELD_FAULT || field->len < 8)
		return false;
	memcpy(&family, field->data, sizeof(family));
	memcpy(&port, field->data + 2, sizeof(port));
	if (family == AF_INET)
		return endpoint_of_bytes(AF_INET, field->data + 4, ntohs(port), ret_endpoint);
	if (family != AF_INET6 || field->len < 24)
		return false;
	return endpoint_of_bytes(AF_INET6, field->data + 8, ntohs(port), ret_endpoint);
}

bool endpoint_of_text(const char *address, json_int_t port, struct endpoint *ret_endpoint)
{
	struct in6_addr addr;
	int family;

	if (!address || port < 0 || port > UINT16_MAX)
		return false;
	family = strchr(address, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, address, &addr) != 1)
		return false;
	return endpoint_of_bytes(family, &addr, (uint16_t)port, ret_endpoint);
}

bool endpoint_is_v4(const struct endpoint *endpoint)
{
	return IN6_IS_ADDR_V4MAPPED(&endpoint->addr);
}

bool endpoint_is_loopback(const struct endpoint *endpoint)
{
	const uint8_t *v4 = endpoint->addr.s6_addr + V4_OFFSET;

	/* The unspecified address stands for this host when one connects to it. */
	if (endpoint_is_v4(endpoint))
		return v4[0] == 127 || !(v4[0] | v4[1] | v4[2] | v4[3]);
	return IN6_IS_ADDR_LOOPBACK(&endpoint->addr) || IN6_IS_ADDR_UNSPECIFIED(&endpoint->addr);
}

void endpoint_address(const struct endpoint *endpoint, char ret_text[static INET6_ADDRSTRLEN])
{
	if (endpoint_is_v4(endpoint))
		inet_ntop(AF_INET, endpoint->addr.s6_addr + V4_OFFSET, ret_text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, &endpoint->addr, ret_text, INET6_ADDRSTRLEN);
}

void endpoint_text(const struct endpoint *endpoint, char ret_text[static ENDPOINT_TEXT_SIZE])
{
	char address[INET6_ADDRSTRLEN];

	endpoint_address(endpoint, address);
	snprintf(ret_text, ENDPOINT_TEXT_SIZE, endpoint_is_v4(endpoint) ? "%s:%u" : "[%s]:%u",
		 address, endpoint->port);
}

/* The name of a question in dotted form, not compressed; the bytes it took, 0 for none. */
static size_t dns_name(const unsigned char *p, size_t len, char ret_name[static DNS_NAME_MAX + 1],
		       size_t *ret_len)
{
	size_t at = 0, out = 0;

	while (at < len && p[at]) {
		size_t label = p[at++];

		if (label > DNS_LABEL_MAX || label > len - at ||
		    out + label + (out > 0) > DNS_NAME_MAX)
			return 0;
		if (out)
			ret_name[out++] = '.';
		memcpy(ret_name + out, p + at, label);
		out += label;
		at += label;
	}
	*ret_len = out;
	return at < len ? at + 1 : 0;
}

int dns_question(const struct event_field *payload, json_t **queries)
{
	const unsigned char *p = payload ? payload->data : NULL;
	char name[DNS_NAME_MAX + 1];
	size_t name_len = 0, took;
	json_t *question;

	if (!p || payload->len < DNS_HEAD_BYTES + 5 || p[2] & (DNS_FLAG_QR | DNS_OPCODE_MASK))
		return 0;
	/* One question, no answers, no authorities: what a resolver sends. */
	if (p[4] || p[5] != 1 || p[6] || p[7] || p[8] || p[9])
		return 0;
	took = dns_name(p + DNS_HEAD_BYTES, payload->len - DNS_HEAD_BYTES, name, &name_len);
	p += DNS_HEAD_BYTES + took;
	if (!took || payload->len - DNS_HEAD_BYTES - took < 4 || p[2] || p[3] != DNS_CLASS_IN)
		return 0;
	if (!*queries)
		*queries = json_array();
	if (json_array_size(*queries) >= FLOW_QUERIES_MAX)
		return 0;
	question = json_pack("{s:o, s:i}", "name", json_escaped(name, name_len), "qtype",
			     p[0] << 8 | p[1]);
	return json_array_append_new(*queries, question) < 0 ? -ENOMEM : 0;
}
