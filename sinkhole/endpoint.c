// SPDX-License-Identifier: Apache-2.0
/* Addresses and ports of both families. */
#include "sinkhole/endpoint.h"

#include <netinet/in.h>
#include <string.h>

struct endpoint endpoint_make(uint8_t family, const void *bytes, uint16_t port)
{
	struct endpoint endpoint = {.family = family, .port = port};

	memcpy(endpoint.address, bytes, family == AF_INET ? 4 : 16);
	return endpoint;
}

bool endpoint_from_sockaddr(const struct sockaddr_storage *address, struct endpoint *ret_endpoint)
{
	if (address->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		*ret_endpoint = endpoint_make(AF_INET, &in->sin_addr, ntohs(in->sin_port));
		return true;
	}
	if (address->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)address;

		*ret_endpoint = endpoint_make(AF_INET6, &in6->sin6_addr, ntohs(in6->sin6_port));
		return true;
	}
	memset(ret_endpoint, 0, sizeof(*ret_endpoint));
	return false;
}

socklen_t endpoint_to_sockaddr(const struct endpoint *endpoint,
			       struct sockaddr_storage *ret_address)
{
	memset(ret_address, 0, sizeof(*ret_address));
	if (endpoint->family == AF_INET) {
		struct sockaddr_in *in = (void *)ret_address;

		in->sin_family = AF_INET;
		in->sin_port = htons(endpoint->port);
		memcpy(&in->sin_addr, endpoint->address, sizeof(in->sin_addr));
		return sizeof(*in);
	}
	struct sockaddr_in6 *in6 = (void *)ret_address;

	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(endpoint->port);
	memcpy(&in6->sin6_addr, endpoint->address, sizeof(in6->sin6_addr));
	return sizeof(*in6);
}

const char *endpoint_address(const struct endpoint *endpoint,
			     char buf[static ENDPOINT_ADDRESS_SIZE])
{
	if (!inet_ntop(endpoint->family, endpoint->address, buf, ENDPOINT_ADDRESS_SIZE))
		buf[0] = '\0';
	return buf;
}

int endpoint_compare(const struct endpoint *a, const struct endpoint *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return memcmp(a->address, b->address, sizeof(a->address));
}
