// SPDX-License-Identifier: Apache-2.0
/* MQTT, SOCKS and BitTorrent: what the other end says so that the client goes on. */
#include "sinkhole/talk_internal.h"

#include <arpa/inet.h>

#define MQTT_HEADER_MAX	   5
#define BITTORRENT_HELLO   68
#define BITTORRENT_PEER_ID 48
#define SOCKS_CONNECT	   1

static const char bittorrent_id[] = "-qB4630-";

enum mqtt_type {
	MQTT_CONNECT = 1,
	MQTT_PUBLISH = 3,
	MQTT_SUBSCRIBE = 8,
	MQTT_UNSUBSCRIBE = 10,
	MQTT_PINGREQ = 12,
	MQTT_DISCONNECT = 14,
};

/* The length that follows the first byte, 7 bits in each byte. The bytes of the header; 0:
 * more are needed, or it is none. */
static size_t mqtt_header(const uint8_t *b, size_t len, size_t *ret_size)
{
	*ret_size = 0;
	for (size_t i = 1; i < len && i < MQTT_HEADER_MAX; i++) {
		*ret_size |= (size_t)(b[i] & 0x7f) << 7 * (i - 1);
		if (!(b[i] & 0x80))
			return i + 1;
	}
	return 0;
}

static void mqtt_answer(struct talk *talk, const uint8_t *b, const uint8_t *payload, size_t there)
{
	size_t topic = there >= 2 ? (size_t)payload[0] << 8 | payload[1] : 0;
	uint8_t reply[5] = {0x40, 2};

	switch (b[0] >> 4) {
	case MQTT_CONNECT:
		/* Version 5 has properties, of which there are none. */
		if (there > 6 && payload[6] == 5)
			talk_send(talk, "\x20\x03\0\0\0", 5);
		else
			talk_send(talk, "\x20\x02\0\0", 4);
		break;
	case MQTT_PUBLISH:
		talk_note(talk, "topics", payload + 2,
			  topic + 2 <= there ? topic : there - (there < 2 ? there : 2));
		if (!(b[0] & 6) || there < topic + 4)
			break;
		reply[0] = (b[0] >> 1 & 3) == 2 ? 0x50 : 0x40;
		memcpy(reply + 2, payload + 2 + topic, 2);
		talk_send(talk, reply, 4);
		break;
	case MQTT_SUBSCRIBE:
	case MQTT_UNSUBSCRIBE:
		if (there < 2)
			break;
		reply[0] = b[0] >> 4 == MQTT_SUBSCRIBE ? 0x90 : 0xb0;
		reply[1] = b[0] >> 4 == MQTT_SUBSCRIBE ? 3 : 2;
		memcpy(reply + 2, payload, 2);
		talk_send(talk, reply, 2u + reply[1]);
		break;
	case MQTT_PINGREQ:
		talk_send(talk, "\xd0\0", 2);
		break;
	case MQTT_DISCONNECT:
		talk->end = TALK_OVER;
		break;
	default:
		break;
	}
}

static size_t mqtt_take(struct talk *talk, const char *bytes, size_t len)
{
	const uint8_t *b = (const uint8_t *)bytes;
	size_t size, header = mqtt_header(b, len, &size), there;

	if (!header) {
		if (len >= MQTT_HEADER_MAX)
			talk->end = TALK_OVER;
		return len >= MQTT_HEADER_MAX ? len : 0;
	}
	there = size < TALK_LINE_MAX / 2 ? size : TALK_LINE_MAX / 2;
	if (len < header + there)
		return 0;
	talk->skip = size - there;
	mqtt_answer(talk, b, b + header, there);
	return header + there;
}

static void socks_target(struct talk *talk, const char *host, unsigned port)
{
	char text[TALK_NOTE_BYTES];
	int len = snprintf(text, sizeof(text), "%.*s:%u", (int)sizeof(text) - 8, host, port);

	talk_note(talk, "targets", text, (size_t)len);
}

/* Version 4: the request, a user and, in version 4a, a name. */
static size_t socks4_take(struct talk *talk, const char *bytes, size_t len)
{
	const uint8_t *b = (const uint8_t *)bytes;
	const char *user_end = len > 8 ? memchr(bytes + 8, 0, len - 8) : NULL, *name_end = NULL;
	bool named = len > 7 && !b[4] && !b[5] && !b[6] && b[7];
	char address[INET_ADDRSTRLEN];

	if (!user_end)
		return len == TALK_LINE_MAX ? len : 0;
	if (named) {
		name_end = memchr(user_end + 1, 0, len - (size_t)(user_end + 1 - bytes));
		if (!name_end)
			return len == TALK_LINE_MAX ? len : 0;
	}
	inet_ntop(AF_INET, b + 4, address, sizeof(address));
	socks_target(talk, named ? user_end + 1 : address, (unsigned)b[2] << 8 | b[3]);
	talk_send(talk, "\0\x5a\0\0\0\0\0\0", 8);
	talk->end = TALK_NEXT;
	return (size_t)((named ? name_end : user_end) + 1 - bytes);
}

enum socks5_stage {
	SOCKS5_METHODS,
	SOCKS5_PASSWORD,
	SOCKS5_REQUEST,
};

/* The bytes of the request, and its target's name in @host; 0: more are needed. */
static size_t socks5_request(const uint8_t *b, size_t len, char host[static TALK_NOTE_BYTES])
{
	size_t size = len < 5 ? 0 : b[3] == 1 ? 4 : b[3] == 4 ? 16 : b[4] + 1u;

	if (len < 5 || len < 4 + size + 2)
		return 0;
	if (size == 4 || size == 16)
		inet_ntop(size == 4 ? AF_INET : AF_INET6, b + 4, host, TALK_NOTE_BYTES);
	if (b[3] != 1 && b[3] != 4)
		snprintf(host, TALK_NOTE_BYTES, "%.*s", (int)b[4], (const char *)b + 5);
	return 4 + size + 2;
}

static size_t socks5_take(struct talk *talk, const char *bytes, size_t len)
{
	const uint8_t *b = (const uint8_t *)bytes;
	char host[TALK_NOTE_BYTES] = "";
	size_t used = 0;

	switch (talk->stage) {
	case SOCKS5_METHODS:
		if (len < 2 || len < 2u + b[1])
			return 0;
		/* A password only for who offers nothing else. */
		talk->stage = memchr(b + 2, 0, b[1]) ? SOCKS5_REQUEST : SOCKS5_PASSWORD;
		talk_send(talk, talk->stage == SOCKS5_REQUEST ? "\5\0" : "\5\2", 2);
		return 2u + b[1];
	case SOCKS5_PASSWORD:
		if (len < 2 || len < 3u + b[1] || len < 3u + b[1] + b[2 + b[1]])
			return 0;
		talk_note(talk, "users", b + 2, b[1]);
		talk_send(talk, "\1\0", 2);
		talk->stage = SOCKS5_REQUEST;
		return 3u + b[1] + b[2 + b[1]];
	default:
		used = socks5_request(b, len, host);
		if (!used)
			return 0;
		socks_target(talk, host, (unsigned)b[used - 2] << 8 | b[used - 1]);
		/* Another command than to connect is refused. */
		talk_send(talk, b[1] == SOCKS_CONNECT ? "\5\0\0\1\0\0\0\0\0" : "\5\7\0\1\0\0\0\0\0",
			  10);
		talk->end = b[1] == SOCKS_CONNECT ? TALK_NEXT : TALK_OVER;
		return used;
	}
}

/* A peer that has the same torrent, and nothing of it. */
static size_t bittorrent_take(struct talk *talk, const char *bytes, size_t len)
{
	char reply[BITTORRENT_HELLO];

	if (talk->stage)
		return len;
	if (len < BITTORRENT_HELLO)
		return 0;
	talk->stage = 1;
	memcpy(reply, bytes, sizeof(reply));
	memset(reply + 20, 0, 8);
	memcpy(reply + BITTORRENT_PEER_ID, bittorrent_id, sizeof(bittorrent_id) - 1);
	for (size_t i = BITTORRENT_PEER_ID + 8; i < BITTORRENT_HELLO; i++)
		reply[i] = (char)('A' + (uint8_t)(reply[i] * 7 + reply[28 + i % 20]) % 26);
	talk_send(talk, reply, sizeof(reply));
	return BITTORRENT_HELLO;
}

const struct talk_protocol talk_mqtt = {"mqtt", NULL, mqtt_take};
const struct talk_protocol talk_socks4 = {"socks4", NULL, socks4_take};
const struct talk_protocol talk_socks5 = {"socks5", NULL, socks5_take};
const struct talk_protocol talk_bittorrent = {"bittorrent", NULL, bittorrent_take};
