// SPDX-License-Identifier: Apache-2.0
/* Which protocol it is: by the first bytes, and where these are ambiguous by the port. */
#include "sinkhole/rpc.h"
#include "sinkhole/talk_internal.h"

#include "base/json.h"

#include <ctype.h>

/* Known by name only. */
static const struct talk_protocol adb = {.name = "adb"}, amqp = {.name = "amqp"},
				  bitcoin = {.name = "bitcoin"}, dht = {.name = "bittorrent-dht"},
				  ldap = {.name = "ldap"}, mongodb = {.name = "mongodb"},
				  ntp = {.name = "ntp"}, rdp = {.name = "rdp"},
				  rsync = {.name = "rsync"}, rtsp = {.name = "rtsp"},
				  sip = {.name = "sip"}, smb = {.name = "smb"},
				  ssdp = {.name = "ssdp"}, stun = {.name = "stun"},
				  telnet = {.name = "telnet"}, vnc = {.name = "vnc"},
				  xmpp = {.name = "xmpp"};

/* A row fits when these bytes are there; letters of either case. Port 0: at any. */
struct talk_sign {
	const struct talk_protocol *protocol;
	uint16_t port;
	uint8_t at, len;
	const char *bytes;
};

#define SIGN(protocol, port, at, bytes)                       \
	{                                                     \
		&protocol, port, at, sizeof(bytes) - 1, bytes \
	}

static const struct talk_sign signs[] = {
	SIGN(talk_ssh, 0, 0, "SSH-"),
	SIGN(talk_smtp, 0, 0, "EHLO "),
	SIGN(talk_smtp, 0, 0, "HELO "),
	SIGN(talk_smtp, 0, 0, "LHLO "),
	SIGN(talk_smtp, 0, 0, "MAIL FROM:"),
	SIGN(talk_pop3, 110, 0, "USER "),
	SIGN(talk_pop3, 110, 0, "AUTH "),
	SIGN(talk_pop3, 0, 0, "CAPA\r"),
	SIGN(talk_pop3, 0, 0, "APOP "),
	SIGN(talk_irc, 6667, 0, "USER "),
	SIGN(talk_irc, 6667, 0, "PASS "),
	SIGN(talk_irc, 0, 0, "NICK "),
	SIGN(talk_irc, 0, 0, "CAP LS"),
	SIGN(talk_irc, 0, 0, "CAP REQ "),
	SIGN(talk_ftp, 0, 0, "USER "),
	SIGN(talk_ftp, 21, 0, "AUTH "),
	SIGN(talk_redis, 6379, 0, "PING"),
	SIGN(talk_redis, 6379, 0, "AUTH "),
	SIGN(talk_redis, 6379, 0, "INFO"),
	SIGN(talk_redis, 6379, 0, "SET "),
	SIGN(talk_redis, 6379, 0, "CONFIG "),
	SIGN(talk_memcached, 0, 0, "stats\r"),
	SIGN(talk_memcached, 0, 0, "version\r"),
	SIGN(talk_memcached, 11211, 0, "set "),
	SIGN(talk_memcached, 11211, 0, "get "),
	SIGN(talk_bittorrent, 0, 0,
	     "\x13"
	     "BitTorrent protocol"),
	SIGN(talk_postgresql, 0, 4, "\x04\xd2\x16\x2f"),
	SIGN(talk_postgresql, 0, 4, "\x04\xd2\x16\x30"),
	SIGN(talk_postgresql, 0, 4, "\x04\xd2\x16\x2e"),
	SIGN(talk_postgresql, 0, 4, "\x00\x03\x00\x00user"),
	SIGN(adb, 0, 0, "CNXN"),
	SIGN(amqp, 0, 0, "AMQP"),
	SIGN(bitcoin, 0, 0, "\xf9\xbe\xb4\xd9"),
	SIGN(talk_git, 0, 4, "git-upload-pack "),
	SIGN(talk_git, 0, 4, "git-receive-pack "),
	SIGN(mongodb, 0, 12, "\xdd\x07\0\0"),
	SIGN(mongodb, 0, 12, "\xd4\x07\0\0"),
	SIGN(rdp, 3389, 0, "\x03\0\0"),
	SIGN(rsync, 0, 0, "@RSYNCD:"),
	SIGN(smb, 0, 4, "\xffSMB"),
	SIGN(smb, 0, 4, "\xfeSMB"),
	SIGN(telnet, 0, 0, "\xff\xfb"),
	SIGN(telnet, 0, 0, "\xff\xfd"),
	SIGN(vnc, 0, 0, "RFB 00"),
	SIGN(xmpp, 0, 0, "<stream:stream"),
	SIGN(xmpp, 0, 0, "<?xml version='1.0'?><stream:stream"),
	SIGN(xmpp, 0, 0, "<?xml version=\"1.0\"?><stream:stream"),
};

static const struct talk_sign datagram_signs[] = {
	SIGN(stun, 0, 4, "\x21\x12\xa4\x42"), SIGN(dht, 0, 0, "d1:ad2:id20:"),
	SIGN(dht, 0, 0, "d1:rd2:id20:"),      SIGN(ssdp, 0, 0, "M-SEARCH * HTTP/1.1\r"),
	SIGN(sip, 0, 0, "REGISTER sip:"),     SIGN(sip, 0, 0, "INVITE sip:"),
	SIGN(sip, 0, 0, "OPTIONS sip:"),
};

#define CNT(table) (sizeof(table) / sizeof((table)[0]))

static enum talk_told sign_fits(const struct talk_sign *sign, const uint8_t *bytes, size_t len,
				uint16_t port)
{
	size_t there = len > sign->at ? len - sign->at : 0;

	if (sign->port && sign->port != port)
		return TALK_NO;
	there = there < sign->len ? there : sign->len;
	for (size_t i = 0; i < there; i++)
		if (tolower(bytes[sign->at + i]) != tolower((uint8_t)sign->bytes[i]))
			return TALK_NO;
	return there == sign->len ? TALK_YES : TALK_MAYBE;
}

/* "*3\r\n$": an array, as every Redis client but a person sends it. */
static enum talk_told redis_tell(const uint8_t *b, size_t len)
{
	size_t at = 1;

	while (at < len && at < 8 && isdigit(b[at]))
		at++;
	if (b[0] != '*' || (at < len && (at == 1 || b[at] != '\r')))
		return TALK_NO;
	if (at + 2 >= len)
		return at + 1 < len && b[at + 1] != '\n' ? TALK_NO : TALK_MAYBE;
	return b[at + 1] == '\n' && b[at + 2] == '$' ? TALK_YES : TALK_NO;
}

/* A tag and a command of those with which sessions begin. */
static enum talk_told imap_tell(const uint8_t *b, size_t len)
{
	static const char *const verbs[] = {"CAPABILITY\r", "LOGIN ", "AUTHENTICATE ", "STARTTLS\r",
					    "ID ("};
	size_t at = 0;

	while (at < len && at < 16 && (isalnum(b[at]) || b[at] == '.'))
		at++;
	if (at == len)
		return at < 16 ? TALK_MAYBE : TALK_NO;
	if (!at || b[at++] != ' ')
		return TALK_NO;
	for (size_t i = 0; i < CNT(verbs); i++) {
		size_t wanted = strlen(verbs[i]), there = len - at < wanted ? len - at : wanted;

		if (!strncasecmp((const char *)b + at, verbs[i], there))
			return there == wanted ? TALK_YES : TALK_MAYBE;
	}
	return TALK_NO;
}

/* CONNECT: its first byte, a length, then the protocol's name. */
static enum talk_told mqtt_tell(const uint8_t *b, size_t len)
{
	size_t at = 1;

	if (b[0] != 0x10)
		return TALK_NO;
	while (at < len && at < 4 && b[at] & 0x80)
		at++;
	at++;
	if (len < at + 6)
		return TALK_MAYBE;
	return !memcmp(b + at, "\0\4MQTT", 6) || !memcmp(b + at, "\0\6MQIsd", 6) ? TALK_YES
										 : TALK_NO;
}

/* Only its methods, of those that there are. */
static enum talk_told socks5_tell(const uint8_t *b, size_t len)
{
	if (b[0] != 5 || (len >= 2 && (!b[1] || b[1] > 8)))
		return TALK_NO;
	for (size_t i = 2; i < len; i++)
		if (i >= 2u + b[1] || (b[i] > 9 && b[i] < 0x80))
			return TALK_NO;
	return len >= 2 && len == 2u + b[1] ? TALK_YES : TALK_MAYBE;
}

static enum talk_told socks4_tell(const uint8_t *b, size_t len)
{
	if (b[0] != 4 || (len >= 2 && b[1] != 1 && b[1] != 2))
		return TALK_NO;
	if (len < 9)
		return TALK_MAYBE;
	/* The user's name is text, and ends. */
	for (size_t i = 8; i < len && b[i]; i++)
		if (!isprint(b[i]))
			return TALK_NO;
	return memchr(b + 8, 0, len - 8) ? TALK_YES : TALK_MAYBE;
}

/* A BindRequest or a SearchRequest, of a message number of one byte (RFC 4511). */
static enum talk_told ldap_tell(const uint8_t *b, size_t len)
{
	size_t at = len >= 2 && b[1] & 0x80 ? 2u + (b[1] & 3) : 2;

	if (b[0] != 0x30)
		return TALK_NO;
	if (len < at + 4)
		return TALK_MAYBE;
	return b[at] == 2 && b[at + 1] == 1 && (b[at + 3] == 0x60 || b[at + 3] == 0x63) ? TALK_YES
											: TALK_NO;
}

static enum talk_told rtsp_tell(const uint8_t *b, size_t len)
{
	const uint8_t *end = memchr(b, '\n', len);
	size_t line = end ? (size_t)(end - b) : len;
	bool is = memmem(b, line, " rtsp://", 8) || memmem(b, line, " RTSP/1.", 8);

	if (!isupper(b[0]))
		return TALK_NO;
	return is ? TALK_YES : end ? TALK_NO : TALK_MAYBE;
}

static const struct tell_row {
	const struct talk_protocol *protocol;
	enum talk_told (*tell)(const uint8_t *bytes, size_t len);
	bool early; /* can be told before it is known that it is no DNS */
} tells[] = {
	{&talk_redis, redis_tell, false},  {&talk_imap, imap_tell, false},
	{&talk_mqtt, mqtt_tell, false},	   {&talk_socks5, socks5_tell, true},
	{&talk_socks4, socks4_tell, true}, {&ldap, ldap_tell, false},
	{&rtsp, rtsp_tell, false},
};

/* A call on the first line, or on what there is of it. */
static enum talk_told rpc_tell(const uint8_t *bytes, size_t len, bool whole,
			       const struct talk_protocol **ret_protocol)
{
	const uint8_t *end = memchr(bytes, '\n', len);
	_cleanup_json_ json_t *calls = NULL;

	if (bytes[0] != '{' && bytes[0] != '[')
		return TALK_NO;
	if (!end && !whole)
		return TALK_MAYBE;
	calls = rpc_parse((const char *)bytes, end ? (size_t)(end - bytes) : len, false);
	if (!calls)
		return TALK_NO;
	*ret_protocol = strcmp(rpc_service(calls), "stratum") ? &talk_json_rpc : &talk_stratum;
	return TALK_YES;
}

enum talk_told talk_tell(const uint8_t *bytes, size_t len, uint16_t port, bool whole,
			 const struct talk_protocol **ret_protocol)
{
	enum talk_told best;

	if (!len)
		return TALK_MAYBE;
	best = rpc_tell(bytes, len, whole, ret_protocol);
	for (size_t i = 0; i < CNT(tells) && best != TALK_YES; i++) {
		enum talk_told told = tells[i].tell(bytes, len);

		if (told == TALK_YES)
			*ret_protocol = tells[i].protocol;
		best = told > best ? told : best;
	}
	for (size_t i = 0; i < CNT(signs) && best != TALK_YES; i++) {
		enum talk_told told = sign_fits(&signs[i], bytes, len, port);

		if (told == TALK_YES)
			*ret_protocol = signs[i].protocol;
		best = told > best ? told : best;
	}
	return best == TALK_MAYBE && (whole || len >= TALK_TELL_MAX) ? TALK_NO : best;
}

enum talk_told talk_tell_early(const uint8_t *bytes, size_t len,
			       const struct talk_protocol **ret_protocol)
{
	enum talk_told best = len ? TALK_NO : TALK_MAYBE;

	for (size_t i = 0; len && i < CNT(tells) && best != TALK_YES; i++) {
		enum talk_told told = tells[i].early ? tells[i].tell(bytes, len) : TALK_NO;

		if (told == TALK_YES)
			*ret_protocol = tells[i].protocol;
		best = told > best ? told : best;
	}
	return best == TALK_MAYBE && len >= TALK_TELL_MAX ? TALK_NO : best;
}

const char *talk_tell_datagram(const uint8_t *bytes, size_t len, uint16_t port)
{
	for (size_t i = 0; i < CNT(datagram_signs); i++)
		if (sign_fits(&datagram_signs[i], bytes, len, port) == TALK_YES)
			return datagram_signs[i].protocol->name;
	/* A client's request (RFC 5905): mode 3, versions 1 to 4. */
	if (port == 123 && len >= 48 && (bytes[0] & 7) == 3 && bytes[0] >> 3 & 7)
		return ntp.name;
	return NULL;
}

const struct talk_protocol *talk_greeter(uint16_t port, bool *ret_late)
{
	static const struct {
		uint16_t port;
		bool late;
		const struct talk_protocol *protocol;
	} greeters[] = {
		{21, false, &talk_ftp},	    {22, false, &talk_ssh},   {25, false, &talk_smtp},
		{110, false, &talk_pop3},   {143, false, &talk_imap}, {194, false, &talk_irc},
		{465, true, &talk_smtp},    {587, false, &talk_smtp}, {993, true, &talk_imap},
		{995, true, &talk_pop3},    {2222, false, &talk_ssh}, {2525, false, &talk_smtp},
		{3306, false, &talk_mysql}, {6667, false, &talk_irc}, {6697, true, &talk_irc},
	};

	for (size_t i = 0; i < CNT(greeters); i++) {
		if (greeters[i].port != port)
			continue;
		*ret_late = greeters[i].late;
		return greeters[i].protocol;
	}
	return NULL;
}
