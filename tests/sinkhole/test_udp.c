// SPDX-License-Identifier: Apache-2.0
#include "sinkhole/udp.h"
#include "sinkhole/listen.h"
#include "tests/sinkhole/bench.h"

#define PORT_ELSE 443

/* A query for A of pkg.example, whole and with a byte too many. */
static const char query[] = "\x12\x34\x01\x00\x00\x01\0\0\0\0\0\0\x03pkg\x07"
			    "example\0\0\x01\0\x01";

/* The beginning of RFC 9001 appendix A.2, padded to 1,200 bytes as it is there. */
static const char quic[1200] = "\xc3\0\0\0\1\x08\x83\x94\xc8\xf0\x3e\x51\x57\x08\0\0\x44\x9e\x7b";

/* The records of one datagram to 203.0.113.7. */
static json_t *sent(struct bench *bench, uint16_t port, const void *bytes, size_t len)
{
	const uint8_t from[4] = {10, 23, 4, 17}, to[4] = {203, 0, 113, 7};
	struct dns_exchange exchange = {.src = endpoint_make(AF_INET, from, 4000),
					.dst = endpoint_make(AF_INET, to, port),
					.proto = "udp"};
	struct udp udp = {.resolver = &bench->resolver};

	bench_open(bench, 1);
	udp_record(&udp, &exchange, bytes, len, len);
	return bench_read(bench);
}

Test(udp, a_query_is_one_on_any_port)
{
	const uint16_t ports[] = {53, PORT_ELSE};

	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		json_t *records = sent(&bench, ports[i], query, sizeof(query) - 1);

		cr_assert_eq(json_array_size(records), 1);
		expect_record(records, 0, "{\"type\": \"dns\", \"name\": \"pkg.example\"}");
		bench_close(&bench);
	}
}

Test(udp, a_broken_query_is_said_to_be_one_and_recorded_whole)
{
	const uint16_t ports[] = {53, PORT_ELSE};

	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		json_t *records = sent(&bench, ports[i], query, sizeof(query));

		cr_assert_eq(json_array_size(records), 2);
		expect_record(records, 0, "{\"type\": \"malformed\", \"protocol\": \"dns\"}");
		expect_record(records, 1, "{\"type\": \"udp\", \"bytes\": 30}");
		bench_close(&bench);
	}
}

Test(udp, the_beginning_of_quic_is_no_broken_query)
{
	struct bench bench;
	json_t *records = sent(&bench, PORT_ELSE, quic, sizeof(quic));

	cr_assert_eq(json_array_size(records), 1);
	expect_record(records, 0,
		      "{\"type\": \"udp\", \"protocol\": \"quic\", \"quicVersion\": 1,"
		      " \"bytes\": 1200}");
	bench_close(&bench);
}

Test(udp, other_bytes_are_no_query_but_on_its_port)
{
	struct bench bench;
	json_t *records = sent(&bench, PORT_ELSE, "some text, long enough", 22);

	cr_assert_eq(json_array_size(records), 1);
	bench_close(&bench);
	records = sent(&bench, 53, "some text, long enough", 22);
	cr_assert_eq(json_array_size(records), 2);
	expect_record(records, 0, "{\"type\": \"malformed\"}");
	bench_close(&bench);
}

/* SO_RXQ_OVFL says it with the next datagram only: of a burst's end it says nothing. */
Test(udp, every_datagram_without_room_is_counted_though_none_comes_after_it)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);
	int size = 4096;
	uint64_t waited;

	cr_assert_eq(setsockopt(in, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	cr_assert_eq(bind(in, (struct sockaddr *)&to, sizeof(to)), 0);
	cr_assert_eq(getsockname(in, (struct sockaddr *)&to, &len), 0);
	for (int i = 0; i < 1003; i++)
		cr_assert_eq(sendto(out, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)), 1);
	cr_expect_gt(socket_drops(in), 0);
	waited = udp_discard(in);
	cr_expect_gt(waited, 0);
	cr_expect_eq(waited + socket_drops(in), 1003);
	cr_expect_eq(udp_discard(in), 0);
	cr_expect_eq(socket_drops(-1) + udp_discard(-1), 0);
	close(in);
	close(out);
}
