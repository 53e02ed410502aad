/* SPDX-License-Identifier: Apache-2.0 */
/* ClientHellos made by hand, and their cut into records. */
#ifndef QP_TESTS_SINKHOLE_HELLO_H
#define QP_TESTS_SINKHOLE_HELLO_H

#include "sinkhole/tls.h"

#include <string.h>

/* The message in records of @piece bytes each; returns their length together. */
static inline size_t records_of(uint8_t *wire, const uint8_t *message, size_t len, size_t piece)
{
	size_t used = 0;

	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		const uint8_t header[] = {22, 3, 1, (uint8_t)(n >> 8), (uint8_t)n};

		memcpy(wire + used, header, sizeof(header));
		memcpy(wire + used + sizeof(header), message + at, n);
		used += sizeof(header) + n;
	}
	return used;
}

/* RFC 8446 section 4.1.2: every vector as long as it may be, "big.example" in the first extension,
 * padding (RFC 7685) in the second. */
static inline size_t maximal_hello(uint8_t message[static TLS_HELLO_MAX])
{
	static const uint8_t sni[] = {0, 0, 0, 16, 0, 14, 0, 0, 11};
	const size_t padding = 65535 - sizeof(sni) - 11 - 4;
	uint8_t *p = message;

	memset(message, 0, TLS_HELLO_MAX);
	memcpy(p, "\1\2\x01\x44\3\3", 6); /* 131,396 */
	p += 6 + 32;
	*p = 32;
	p += 1 + 32;
	memcpy(p, "\xff\xfe\x13\x01", 4);
	p += 2 + 65534;
	*p = 255;
	p += 1 + 255;
	memcpy(p, "\xff\xff", 2);
	p += 2;
	memcpy(p, sni, sizeof(sni));
	memcpy(p + sizeof(sni), "big.example", 11);
	p += sizeof(sni) + 11;
	p[1] = 21;
	p[2] = (uint8_t)(padding >> 8);
	p[3] = (uint8_t)padding;
	return (size_t)(p + 4 + padding - message);
}

#endif
