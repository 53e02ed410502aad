// SPDX-License-Identifier: Apache-2.0
/* ClientHellos: what parses once must parse the same with more behind it and byte by byte, and
 * every truncation of it must ask for more. */
#include "sinkhole/ja4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct tls_hello hello, cut;
	char ja4[JA4_SIZE];
	const char *why = NULL;
	struct tls_progress progress = {}, again = {}, less = {};
	ssize_t used = tls_hello_parse(&progress, bytes, len, &hello, &why);
	size_t alpn = 0;

	if (used < 0) {
		require(used == -EAGAIN || (used == -EBADMSG && why != NULL));
		return 0;
	}
	require((size_t)used <= len && hello.sni_len <= TLS_SNI_MAX);
	require(hello.alpn_cnt <= TLS_ALPN_MAX);
	for (size_t i = 0; i < hello.alpn_cnt; i++)
		alpn += hello.alpn_len[i];
	require(alpn <= TLS_ALPN_BYTES_MAX);
	for (size_t at = 0; at < (size_t)used; at++)
		require(tls_hello_parse(&again, bytes, at, &cut, &why) == -EAGAIN);
	require(tls_hello_parse(&again, bytes, (size_t)used, &cut, &why) == used);
	require(!memcmp(&cut, &hello, sizeof(cut)));
	require(ja4_print(&hello, EVP_sha256(), ja4) == 0 && strlen(ja4) == JA4_SIZE - 1);
	require(tls_hello_parse(&less, bytes, (size_t)used - 1, &cut, &why) == -EAGAIN);
	return 0;
}
