// SPDX-License-Identifier: Apache-2.0
/* Requests: scanned in one piece and byte by byte, with the same result; every span lies
 * within the input; bodies never take more than there is. */
#include "sinkhole/http.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

static void body_walk(const struct http_head *head, const char *bytes, size_t len)
{
	struct http_body whole, single;
	enum http_result whole_result, result = HTTP_MORE;
	size_t used, at = 0;

	http_body_init(&whole, head);
	http_body_init(&single, head);
	whole_result = http_body_feed(&whole, bytes, len, &used);
	require(used <= len && whole.payload <= len);
	do {
		size_t one;

		result = http_body_feed(&single, bytes + at, at < len, &one);
		at += one;
	} while (result == HTTP_MORE && at < len);
	require(result == whole_result && at == used && single.payload == whole.payload);
}

/* A name is a token of at least one character, within the head. */
static void name_look(void *context, const char *name, size_t len)
{
	(void)context;
	require(len >= 1 && memchr(name, ':', len) == NULL && memchr(name, '\n', len) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *bytes = (const char *)data;
	struct http_head whole = {}, single = {};
	enum http_result result = HTTP_MORE, whole_result;

	if (!len)
		return 0;
	whole_result = http_head_scan(&whole, bytes, len);
	for (size_t have = 1; have <= len && result == HTTP_MORE; have++)
		result = http_head_scan(&single, bytes, have);
	require(result == whole_result);
	require(result != HTTP_BAD || whole.why != NULL);
	if (whole.has_line) {
		require(whole.method.offset + whole.method.len <= len);
		require(whole.target.offset + whole.target.len <= len);
		require(whole.host.offset + whole.host.len <= len);
	}
	if (whole_result == HTTP_DONE) {
		require(whole.length <= len && whole.length == single.length);
		http_names_walk(&whole, bytes, name_look, NULL);
		body_walk(&whole, bytes + whole.length, len - whole.length);
	}
	return 0;
}
