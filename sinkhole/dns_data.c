// SPDX-License-Identifier: Apache-2.0
/* Length and entropy of the labels below a domain, in whole numbers. */
#include "sinkhole/dns_data.h"

#include <stdint.h>
#include <string.h>

#define FRACTION_BITS	 16
#define ONE		 (1ULL << FRACTION_BITS)
#define RANDOM_LABEL_MIN 28
#define DIGIT_SHARE	 8 /* one character of so many */

/* log2 of a whole number of at least 1, in 65,536ths: its digits by squaring. */
static uint64_t log2_fixed(uint64_t n)
{
	unsigned whole = 63U - (unsigned)__builtin_clzll(n);
	uint64_t result = (uint64_t)whole << FRACTION_BITS;
	uint64_t x = (n << FRACTION_BITS) >> whole;

	for (uint64_t bit = ONE / 2; bit; bit /= 2) {
		x = x * x >> FRACTION_BITS;
		if (x < 2 * ONE)
			continue;
		x /= 2;
		result += bit;
	}
	return result;
}

/* Where the last two labels begin: the domain that somebody registered, roughly. */
static size_t domain_begin(const char *name)
{
	size_t at = strlen(name), dots = 0;

	while (at && dots < 2)
		dots += name[--at] == '.';
	return dots == 2 ? at : 0;
}

/* H = log2(n) - sum of c * log2(c) / n, of one label. */
static unsigned label_entropy(const char *label, size_t len)
{
	uint8_t counts[256] = {};
	uint64_t sum = 0;

	for (size_t i = 0; i < len; i++)
		counts[(unsigned char)label[i]]++;
	for (int c = 0; c < 256; c++)
		if (counts[c])
			sum += counts[c] * log2_fixed(counts[c]);
	return (unsigned)((log2_fixed(len) - sum / len) * 100 >> FRACTION_BITS);
}

/* Words have few digits and are joined by hyphens; encoded bytes have digits all over. */
static bool label_is_random(const char *label, size_t len, unsigned entropy)
{
	size_t digits = 0, hyphens = 0;

	for (size_t i = 0; i < len; i++) {
		digits += label[i] >= '0' && label[i] <= '9';
		hyphens += label[i] == '-';
	}
	return len >= RANDOM_LABEL_MIN && entropy >= DNS_DATA_ENTROPY_MIN &&
	       digits * DIGIT_SHARE >= len && hyphens <= 1;
}

bool dns_data_find(const char *name, struct dns_data *ret_data)
{
	size_t end = domain_begin(name), random = 0;

	*ret_data = (struct dns_data){};
	for (size_t at = 0; at < end;) {
		size_t len = strcspn(name + at, ".");
		/* A label is up to 63 bytes, each spelt with up to four. */
		unsigned entropy = len ? label_entropy(name + at, len) : 0;

		ret_data->chars += len;
		if (entropy > ret_data->entropy)
			ret_data->entropy = entropy;
		if (label_is_random(name + at, len, entropy))
			random += len;
		at += len + 1;
	}
	ret_data->by_length = ret_data->chars >= DNS_DATA_LENGTH_MIN;
	ret_data->by_entropy = random >= DNS_DATA_RANDOM_MIN;
	return ret_data->by_length || ret_data->by_entropy;
}
