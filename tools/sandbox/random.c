// SPDX-License-Identifier: Apache-2.0
/* Random choices, from getrandom(2), without modulo bias. */
#include "tools/sandbox/random.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int random_bytes(void *bytes, size_t len)
{
	unsigned char *p = bytes;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int random_below(uint32_t bound, uint32_t *ret_value)
{
	/* The numbers below this one would come up once more often than the others. */
	uint32_t uneven = -bound % bound, value;

	do {
		int r = random_bytes(&value, sizeof(value));

		if (r)
			return r;
	} while (value < uneven);
	*ret_value = value % bound;
	return 0;
}

int random_text(const char *alphabet, size_t len, char *text)
{
	uint32_t cnt = (uint32_t)strlen(alphabet);

	for (size_t i = 0; i < len; i++) {
		uint32_t at;
		int r = random_below(cnt, &at);

		if (r)
			return r;
		text[i] = alphabet[at];
	}
	text[len] = '\0';
	return 0;
}
