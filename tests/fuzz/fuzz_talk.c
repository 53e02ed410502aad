// SPDX-License-Identifier: Apache-2.0
/* Every protocol that is answered, and the telling of them, in pieces of any size. */
#include "sinkhole/talk.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

static void swallow(void *context, const void *bytes, size_t len)
{
	unsigned char sum = 0;

	for (size_t i = 0; i < len; i++)
		sum ^= ((const unsigned char *)bytes)[i];
	*(unsigned char *)context = sum;
}

static void converse(const struct talk_protocol *protocol, const char *bytes, size_t len,
		     size_t piece, EVP_MD *sha256)
{
	const uint8_t address[4] = {203, 0, 113, 7};
	unsigned char answers;
	const struct talk_setup setup = {swallow, &answers, "mail", sha256,
					 endpoint_make(AF_INET, address, 25)};
	struct talk *talk = talk_new(protocol, &setup);
	struct record record = {.object = json_object()};
	enum talk_end end = TALK_ON;

	require(talk != NULL);
	talk_greet(talk);
	for (size_t at = 0; at < len && end == TALK_ON; at += piece) {
		size_t n = len - at < piece ? len - at : piece, used = 0;

		end = talk_feed(talk, bytes + at, n, &used);
		require(end == TALK_NEXT ? used <= n : used == n);
	}
	require(talk_memory(talk) < 65536);
	talk_members(talk, &record);
	require(!record.failed);
	json_decref(record.object);
	talk_free(talk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint16_t ports[] = {21,   22,   25,   110,	 143,	389,  445,
					 1080, 1883, 3306, 3333, 3389,	554,  5432,
					 6379, 6667, 8545, 9050, 11211, 27017};
	static EVP_MD *sha256;
	const struct talk_protocol *protocol = NULL;
	uint16_t port;
	size_t piece;
	bool late;

	if (!sha256)
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (len < 2)
		return 0;
	port = ports[data[0] % (sizeof(ports) / sizeof(ports[0]))];
	piece = data[1] ? data[1] : len;
	data += 2;
	len -= 2;
	talk_tell_datagram(data, len, port);
	talk_tell_early(data, len, &protocol);
	if (talk_tell(data, len, port, true, &protocol) != TALK_YES)
		protocol = talk_greeter(port, &late);
	if (protocol)
		converse(protocol, (const char *)data, len, piece, sha256);
	return 0;
}
