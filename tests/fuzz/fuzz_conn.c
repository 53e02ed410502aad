// SPDX-License-Identifier: Apache-2.0
/* Whole connections, of any protocol, in pieces: each has a record, however it ends. */
#include "tests/fuzz/side.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t address[4] = {203, 0, 113, 7};
	struct endpoint src = endpoint_make(AF_INET, address, 40000);
	struct endpoint dst = endpoint_make(AF_INET, address, 53);
	uint64_t before;
	int ends[2];

	if (!side.conns)
		side_open();
	if (len < 2)
		return 0;
	dst.port = data[0] & 1 ? 53 : 80;
	before = side.log.written = 0;
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
	require(conns_add(side.conns, ends[1], &src, &dst) == 0);
	if (data[0] & 2)
		send_in(ends[0], PREFACE, sizeof(PREFACE) - 1, sizeof(PREFACE));
	send_in(ends[0], data + 1, len - 1, data[0] & 4 ? len : (data[0] >> 3) + 1u);
	close(ends[0]);
	turn();
	conns_flush(side.conns);
	conns_bury(side.conns);
	require(side.log.error == 0 && side.log.written > before);
	return 0;
}
