// SPDX-License-Identifier: Apache-2.0
/* MySQL and PostgreSQL servers that let everybody in and have nothing to give. */
#include "sinkhole/talk_internal.h"

/* Packets of MySQL: three bytes of length, one that counts, then a command. */
#define MYSQL_HEADER	4
#define MYSQL_QUIT	1
#define MYSQL_INIT_DB	2
#define MYSQL_QUERY	3
#define MYSQL_VERSION	"8.0.36-0ubuntu0.22.04.1"
#define MYSQL_SALT_SIZE 20

/* What asks in place of a start-up message of PostgreSQL, and its version 3. */
#define PG_SSL	  0x04d2162f
#define PG_GSS	  0x04d21630
#define PG_CANCEL 0x04d2162e
#define PG_HEADER 5

/* How much of a query's text is looked into. */
#define QUERY_SHOWN TALK_NOTE_BYTES

static uint32_t be32(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void mysql_packet(struct talk *talk, uint8_t number, const void *bytes, uint8_t len)
{
	uint8_t packet[MYSQL_HEADER + UINT8_MAX] = {len, 0, 0, number};

	memcpy(packet + MYSQL_HEADER, bytes, len);
	talk_send(talk, packet, (size_t)MYSQL_HEADER + len);
}

/* Handshake version 10, with mysql_native_password and without CLIENT_SSL. */
static void mysql_greet(struct talk *talk)
{
	static const uint8_t middle[] = {0xff, 0xf7, 0xff, 0x02, 0x00, 0xff, 0x81, 21, 0,
					 0,    0,    0,	   0,	 0,    0,    0,	   0,  0};
	uint8_t bytes[UINT8_MAX], salt[MYSQL_SALT_SIZE + 1] = {};
	size_t at = 0;

	/* Printable, and not the same for any two servers. */
	for (size_t i = 0; i < MYSQL_SALT_SIZE; i++)
		salt[i] = (uint8_t)('0' + (talk->setup.dst.address[i % 4] * 31u + i * 17u) % 74);
	bytes[at++] = 10;
	at += (size_t)snprintf((char *)bytes + at, sizeof(bytes) - at, "%s", MYSQL_VERSION) + 1;
	bytes[at++] = talk->setup.dst.address[3] | 8;
	memset(bytes + at, 0, 3);
	at += 3;
	memcpy(bytes + at, salt, 8);
	at += 8;
	bytes[at++] = 0;
	memcpy(bytes + at, middle, sizeof(middle));
	at += sizeof(middle);
	memcpy(bytes + at, salt + 8, MYSQL_SALT_SIZE - 8 + 1);
	at += MYSQL_SALT_SIZE - 8 + 1;
	at += (size_t)snprintf((char *)bytes + at, sizeof(bytes) - at, "mysql_native_password") + 1;
	mysql_packet(talk, 0, bytes, (uint8_t)at);
}

static void mysql_login(struct talk *talk, const char *payload, size_t there)
{
	const size_t fixed = 32; /* flags, largest packet, character set, zeros */

	if (there > fixed)
		talk_note(talk, "users", payload + fixed, strnlen(payload + fixed, there - fixed));
}

static size_t mysql_take(struct talk *talk, const char *bytes, size_t len)
{
	static const uint8_t ok[] = {0, 0, 0, 2, 0, 0, 0};
	const uint8_t *b = (const uint8_t *)bytes;
	size_t size, there;

	if (len < MYSQL_HEADER)
		return 0;
	size = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16;
	there = size < QUERY_SHOWN ? size : QUERY_SHOWN;
	if (len < MYSQL_HEADER + there)
		return 0;
	talk->skip = size - there;
	if (!talk->stage) {
		talk->stage = 1;
		mysql_login(talk, bytes + MYSQL_HEADER, there);
	} else if (there && b[MYSQL_HEADER] == MYSQL_QUIT) {
		talk->end = TALK_OVER;
		return MYSQL_HEADER + there;
	} else if (there && (b[MYSQL_HEADER] == MYSQL_QUERY || b[MYSQL_HEADER] == MYSQL_INIT_DB)) {
		talk_note(talk, "queries", bytes + MYSQL_HEADER + 1, there - 1);
	}
	mysql_packet(talk, (uint8_t)(b[3] + 1), ok, sizeof(ok));
	return MYSQL_HEADER + there;
}

#define PG_SAY(talk, text) talk_send(talk, text, sizeof(text) - 1)
#define PG_READY	   "Z\0\0\0\5I"

struct pg_row {
	char type;
	const char *reply;
	size_t len;
};

#define PG_ROW(type, text)                   \
	{                                    \
		type, text, sizeof(text) - 1 \
	}

static const struct pg_row pg_rows[] = {
	PG_ROW('p', "R\0\0\0\10\0\0\0\0S\0\0\0\30server_version\00015.6\0" PG_READY),
	PG_ROW('Q', "C\0\0\0\15SELECT 0\0" PG_READY),
	PG_ROW('P', "1\0\0\0\4"),
	PG_ROW('B', "2\0\0\0\4"),
	PG_ROW('D', "n\0\0\0\4"),
	PG_ROW('E', "C\0\0\0\15SELECT 0\0"),
	PG_ROW('S', PG_READY),
};

/* Start-up messages have no type. */
static size_t pg_start(struct talk *talk, const char *bytes, size_t len)
{
	uint32_t size = be32(bytes), code = len < 8 ? 0 : be32(bytes + 4);
	size_t there = size < TALK_LINE_MAX / 2 ? size : TALK_LINE_MAX / 2;
	const char *user;

	if (len < 8 || len < there)
		return 0;
	if (size < 8 || code == PG_CANCEL) {
		talk->end = TALK_OVER;
		return len;
	}
	if (code == PG_SSL || code == PG_GSS) {
		PG_SAY(talk, "N");
		return 8;
	}
	user = memmem(bytes + 8, there - 8, "user", 5);
	if (user) {
		user += 5;
		talk_note(talk, "users", user, strnlen(user, there - (size_t)(user - bytes)));
	}
	talk->stage = 1;
	talk->skip = size - there;
	PG_SAY(talk, "R\0\0\0\10\0\0\0\3"); /* the password, as it is */
	return there;
}

static size_t pg_take(struct talk *talk, const char *bytes, size_t len)
{
	uint32_t size;
	size_t there;

	if (len < PG_HEADER)
		return 0;
	if (!talk->stage)
		return pg_start(talk, bytes, len);
	size = be32(bytes + 1);
	there = size < QUERY_SHOWN ? size : QUERY_SHOWN;
	if (size < 4 || *bytes == 'X') {
		talk->end = TALK_OVER;
		return len;
	}
	if (len < 1 + there)
		return 0;
	talk->skip = size - there;
	if (*bytes == 'Q' || *bytes == 'P') {
		const char *text = bytes + PG_HEADER;
		size_t max = there - 4, name = *bytes == 'P' ? strnlen(text, max) + 1 : 0;

		if (name < max)
			talk_note(talk, "queries", text + name, strnlen(text + name, max - name));
	}
	for (size_t i = 0; i < sizeof(pg_rows) / sizeof(pg_rows[0]); i++)
		if (pg_rows[i].type == *bytes)
			talk_send(talk, pg_rows[i].reply, pg_rows[i].len);
	return 1 + there;
}

const struct talk_protocol talk_mysql = {"mysql", mysql_greet, mysql_take};
const struct talk_protocol talk_postgresql = {"postgresql", NULL, pg_take};
