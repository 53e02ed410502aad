// SPDX-License-Identifier: Apache-2.0
/* Packets as the kernel logged them, cut anywhere: nothing is told that was not there. */
#include "sinkhole/packet.h"

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
	struct packet packet, again;

	if (packet_parse(bytes, len, &packet) < 0)
		return 0;
	require(packet.src.family == (bytes[0] >> 4 == 4 ? AF_INET : AF_INET6));
	require(packet.src.family == packet.dst.family);
	/* The service subtracts without looking. */
	require(packet.payload <= len);
	require(packet.payload || !packet.payload_bytes);
	/* Bytes behind what was read change nothing. */
	if (packet.payload) {
		require(packet_parse(bytes, packet.payload, &again) == 0);
		require(again.payload == packet.payload && again.dst.port == packet.dst.port);
	}
	return 0;
}
