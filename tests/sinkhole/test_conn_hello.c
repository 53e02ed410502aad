// SPDX-License-Identifier: Apache-2.0
/* ClientHellos that come slowly. */
#include "tests/sinkhole/hello.h"
#include "tests/sinkhole/tls_client.h"

#include <criterion/criterion.h>

/* Each byte in a segment of its own, in refuse mode and where TLS is answered. */
Test(conn_hello, reads_the_longest_hello_in_segments_of_one_byte)
{
	static uint8_t message[TLS_HELLO_MAX], wire[6 * TLS_HELLO_MAX];
	size_t len = records_of(wire, message, maximal_hello(message), 16384);

	for (int answered = 0; answered < 2; answered++) {
		struct authority *authority = NULL;
		struct tls_server *server = NULL;
		struct bench bench;

		if (answered)
			server = bench_open_tls(&bench, NULL, &authority);
		else
			bench_open(&bench, 4);
		bench_connect(&bench, 50000, 443);
		bench_send(&bench, wire, len, 1);
		bench_end(&bench);
		cr_assert_eq(json_array_size(bench_read(&bench)), 1);
		expect_record(bench.records, 0,
			      "{\"type\": \"tcp\", \"protocol\": \"tls\", \"sni\": \"big.example\","
			      " \"bytesReceived\": 131445}");
		bench_close(&bench);
		tls_server_free(server);
		authority_free(authority);
	}
}
