// SPDX-License-Identifier: Apache-2.0
/* Protocols other than HTTP, TLS and DNS: told apart, answered, and what they carried told. */
#include "tests/sinkhole/bench.h"
#include "tests/sinkhole/exact.h"

#include "sinkhole/talk.h"

/* What the client has been sent since it was last asked. */
static const char *heard(struct bench *bench)
{
	static char text[8192];
	ssize_t n = recv(bench->client, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Lets the time pass that a server waits at most before it greets. */
static void wait_silently(struct bench *bench)
{
	conns_expire(bench->conns, UINT64_MAX / 2);
}

struct line {
	const char *say;
	const char *hear; /* how the answer begins */
};

/* Says each line in pieces of @piece and checks what comes back. */
static void converse(struct bench *bench, const struct line *lines, size_t cnt, size_t piece)
{
	for (size_t i = 0; i < cnt; i++) {
		const char *answer;

		bench_send(bench, lines[i].say, strlen(lines[i].say), piece);
		answer = heard(bench);
		cr_expect_eq(strncmp(answer, lines[i].hear, strlen(lines[i].hear)), 0,
			     "%s -> %s, not %s", lines[i].say, answer, lines[i].hear);
	}
}

/* The only record of one conversation. */
static void expect_talk(uint16_t port, const struct line *lines, size_t cnt, const char *expected)
{
	size_t said = 0;

	for (size_t i = 0; i < cnt; i++)
		said += lines[i].say ? strlen(lines[i].say) : 0;
	for (size_t piece = 1; piece < 64; piece += 20) {
		struct bench bench;
		json_t *records;

		bench_open(&bench, 8);
		bench_connect(&bench, 40000, port);
		wait_silently(&bench);
		if (!lines[0].say)
			cr_expect_str_eq(heard(&bench), lines[0].hear);
		converse(&bench, lines + !lines[0].say, cnt - !lines[0].say, piece);
		bench_end(&bench);
		records = bench_read(&bench);
		cr_assert_eq(json_array_size(records), 1, "%s", expected);
		expect_record(records, 0, expected);
		cr_expect_eq(json_integer_value(
				     json_object_get(json_array_get(records, 0), "bytesReceived")),
			     (json_int_t)said, "%s", expected);
		bench_close(&bench);
	}
}

#define EXPECT_TALK(port, expected, ...)                                               \
	do {                                                                           \
		const struct line lines_[] = {__VA_ARGS__};                            \
		expect_talk(port, lines_, sizeof(lines_) / sizeof(*lines_), expected); \
	} while (0)

/* The digests are those of `printf 'Subject: x\r\n\r\n.begins with a dot\r\nends\r\n' | sha256sum`
 * and `printf 'a\r\nb\r\n' | sha256sum`. */
Test(talk, takes_mails_and_tells_their_size_and_digest)
{
	EXPECT_TALK(
		25,
		"{\"protocol\": \"smtp\", \"mails\": [{\"from\":"
		" \"a@b.example\", \"to\": [\"c@d.example\", \"e@f.example\"], \"bytes\": 40,"
		" \"sha256\": "
		"\"7a9f20478c7dd4aeb7e20b2e88ab58d5372ca9b030552d23332b66c054737b1a\"}, {\"from\": "
		"\"\", \"to\": [], \"bytes\": 6,"
		" \"sha256\": "
		"\"58055bdcc73787eb88c78d36f0b4939e9c5dc1c3ad17e25cc85a6833cf1a0cab\"}]}",
		{NULL, "220 mail ESMTP Postfix (Debian/GNU)\r\n"}, {"EHLO x\r\n", "250-mail\r\n"},
		{"AUTH LOGIN\r\n", "334 VXNlcm5hbWU6\r\n"}, {"dXNlcg==\r\n", "334 UGFzc3dvcmQ6"},
		{"cGFzcw==\r\n", "235 "}, {"mail from:<a@b.example>\r\n", "250 "},
		{"RCPT TO:<c@d.example>\r\n", "250 "}, {"RCPT TO:<e@f.example>\r\n", "250 "},
		{"DATA\r\n", "354 "},
		{"Subject: x\r\n\r\n..begins with a dot\r\nends\r\n.\r\n", "250 2.0.0 Ok: queued"},
		{"MAIL FROM:<>\r\n", "250 "}, {"DATA\r\n", "354 "}, {"a\r\n.b\r\n.\r\n", "250 "},
		{"NONSENSE\r\n", "502 "}, {"QUIT\r\n", "221 "});
}

Test(talk, tells_of_a_mail_that_broke_off)
{
	EXPECT_TALK(2525,
		    "{\"protocol\": \"smtp\", \"mails\": [{\"from\": \"a@b.example\", \"to\": [],"
		    " \"bytes\": 7, \"cut\": true}]}",
		    {NULL, "220 "
			   "mail ESMTP Postfix (Debian/GNU)\r\n"},
		    {"HELO x\r\n", "250 mail\r\n"}, {"MAIL FROM:<a@b.example>\r\n", "250 "},
		    {"DATA\r\n", "354 "}, {"half\r\n.x", ""});
}

Test(talk, lets_clients_of_line_protocols_go_on)
{
	EXPECT_TALK(
		21,
		"{\"protocol\": \"ftp\", \"users\": [\"anonymous\"], \"files\": [\"loot.txt\"]}",
		{NULL, "220 (vsFTPd 3.0.3)\r\n"}, {"USER anonymous\r\n", "331 "},
		{"PASS secret\r\n", "230 "},
		{"PASV\r\n", "227 Entering Passive Mode (203,0,113,7,"},
		{"EPSV\r\n", "229 Entering Extended Passive Mode (|||"},
		{"STOR loot.txt\r\n", "150 Ok to send data.\r\n226 "}, {"XYZ\r\n", "500 "},
		{"QUIT\r\n", "221 "});
	EXPECT_TALK(6667, "{\"protocol\": \"irc\", \"users\": [\"bot1\"], \"channels\": [\"#go\"]}",
		    {NULL, ":mail NOTICE * :*** Looking up your hostname...\r\n"},
		    {"NICK bot1\r\n", ""}, {"USER a 0 * :a\r\n", ":mail 001 bot1 :"},
		    {"PING :x7\r\n", ":mail PONG mail :x7\r\n"},
		    {"JOIN #go\r\n", ":bot1!bot1@mail JOIN"}, {"PRIVMSG #go :data\r\n", ""},
		    {"QUIT\r\n", "ERROR "});
	EXPECT_TALK(110, "{\"protocol\": \"pop3\", \"users\": [\"me\"]}",
		    {NULL, "+OK Dovecot (Debian) ready.\r\n"}, {"USER me\r\n", "+OK"},
		    {"PASS x\r\n", "+OK Logged in"}, {"STAT\r\n", "+OK 0 0\r\n"},
		    {"QUIT\r\n", "+OK"});
	EXPECT_TALK(4143, "{\"protocol\": \"imap\", \"users\": [\"me pw\"]}",
		    {"a1 CAPABILITY\r\n", "* OK [CAPABILITY IMAP4rev1"},
		    {"a2 AUTHENTICATE PLAIN\r\n", "a2 BAD"}, {"a2 LOGIN me pw\r\n", "a2 OK"},
		    {"a3 APPEND x {5}\r\n", "+ OK\r\n"}, {"\r\nab.\r\n", ""},
		    {"a4 LOGOUT\r\n", "* BYE Logging out\r\na4 OK"});
}

/* gitprotocol-pack(5): lengths in four hexadecimal digits that count themselves. */
Test(talk, tells_a_client_of_git_that_there_is_no_such_repository)
{
	EXPECT_TALK(9418, "{\"protocol\": \"git\", \"repositories\": [\"/a.git\"]}",
		    {"001bgit-upload-pack /a.git\n",
		     "0038ERR access denied or repository not exported: /a.git"});
	/* As git sends it, nothing ends a line (the first of its zero bytes is \1 here). */
	EXPECT_TALK(9418, "{\"protocol\": \"git\"}",
		    {"0020git-upload-pack /a.git\1host=", "003eERR access denied or "});
	EXPECT_TALK(9418, "{\"protocol\": \"git\", \"bytesReceived\": 27}",
		    {"zzzzgit-upload-pack /a.git\n", ""});
	EXPECT_TALK(9418, "{\"protocol\": \"git\", \"bytesReceived\": 27}",
		    {"ffffgit-upload-pack /a.git\n", ""});
}

Test(talk, names_the_software_of_ssh_and_ends_after_its_first_packet)
{
	EXPECT_TALK(22, "{\"protocol\": \"ssh\", \"software\": [\"SSH-2.0-x\"]}",
		    {NULL, "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"}, {"SSH-2.0-x\r\n", ""},
		    {"\1\2\3\4\5\6", ""});
	/* Who does not wait is greeted all the same. */
	EXPECT_TALK(2200, "{\"protocol\": \"ssh\", \"firstBytes\": \"SSH-2.0-x\\\\x0d\\\\x0a\"}",
		    {"SSH-2.0-x\r\n", "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"});
}

Test(talk, obeys_redis_commands)
{
	EXPECT_TALK(6379, "{\"protocol\": \"redis\", \"commands\": [\"AUTH\", \"SET\", \"save\"]}",
		    {"*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n", "+OK\r\n"},
		    {"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$12\r\n\r\n*1\r\n$4\r\nab\r\n", "+OK\r\n"},
		    {"*1\r\n$4\r\nsave\r\n", "+OK\r\n"});
	EXPECT_TALK(6379, "{\"protocol\": \"redis\", \"commands\": [\"PING\", \"get\"]}",
		    {"PING\r\n", "+PONG\r\n"}, {"get x\r\n", "$-1\r\n"});
}

Test(talk, answers_pools_and_other_callers)
{
	EXPECT_TALK(3333,
		    "{\"protocol\": \"stratum\", \"methods\": [\"mining.subscribe\","
		    " \"mining.authorize\"]}",
		    {"{\"id\": 1, \"method\": \"mining.subscribe\", \"params\": []}\n",
		     "{\"id\":1,\"result\":[[["},
		    {"{\"id\": 2, \"method\": \"mining.authorize\", \"params\": [\"w\"]}\n",
		     "{\"id\":2,\"result\":true,\"error\":null}\n"});
	EXPECT_TALK(8546, "{\"protocol\": \"json-rpc\", \"methods\": [\"eth_chainId\", \"odd\"]}",
		    {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"eth_chainId\"}\n",
		     "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":\"0x1\"}\n"},
		    {"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"odd\"}\n",
		     "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32601,"});
}

/* What goes through a proxy is what it is; the proxy is told beside it. */
Test(talk, looks_through_socks)
{
	static const char request[] = "\5\1\0\3\11h.example\0\120GET /p HTTP/1.1\r\n"
				      "Host: h.example\r\nContent-Length: 0\r\n\r\n";
	static const char four[] = "\4\1\1\273\0\0\0\1me\0t.example\0SSH-2.0-y\r\n";
	struct bench bench;
	json_t *records;

	for (size_t piece = 1; piece < sizeof(request); piece += 9) {
		bench_open(&bench, 8);
		bench_connect(&bench, 40000, 1080);
		bench_send(&bench, "\5\2\0\2", 4, 4);
		cr_expect_eq(memcmp(heard(&bench), "\5\0", 2), 0);
		bench_send(&bench, request, sizeof(request) - 1, piece);
		bench_end(&bench);
		bench_connect(&bench, 40001, 1080);
		bench_send(&bench, four, sizeof(four) - 1, piece);
		bench_end(&bench);
		records = bench_read(&bench);
		cr_assert_eq(json_array_size(records), 2);
		expect_record(records, 0,
			      "{\"protocol\": \"http\", \"path\": \"/p\", \"host\": \"h.example\","
			      " \"proxy\": {\"protocol\": \"socks5\","
			      " \"targets\": [\"h.example:80\"]}}");
		expect_record(records, 1,
			      "{\"protocol\": \"ssh\", \"proxy\": {\"protocol\": \"socks4\","
			      " \"targets\": [\"t.example:443\"]}}");
		bench_close(&bench);
	}
}

struct begin {
	const char *protocol;
	uint16_t port;
	const char *bytes;
	size_t len;
};

#define BEGIN(protocol, port, bytes)                     \
	{                                                \
		protocol, port, bytes, sizeof(bytes) - 1 \
	}

/* On port 53 SOCKS is told only after HTTP: nothing of that look is left for what comes then. */
Test(talk, begins_anew_with_what_comes_through_a_proxy)
{
	static const char stream[] =
		"\4\1\0\x50\xcb\0\x71\7me\0GET /p HTTP/1.1\r\nHost: h.example\r\n\r\n";
	const uint16_t ports[] = {53, 1080};

	for (size_t i = 0; i < 2; i++) {
		for (size_t piece = 1; piece < sizeof(stream); piece += 1 + piece / 2) {
			struct bench bench;

			bench_open(&bench, 8);
			bench_connect(&bench, 40000, ports[i]);
			bench_send(&bench, stream, sizeof(stream) - 1, piece);
			bench_end(&bench);
			expect_record(bench_read(&bench), 0,
				      "{\"protocol\": \"http\", \"path\": \"/p\", \"host\": "
				      "\"h.example\"}");
			bench_close(&bench);
		}
	}
}

Test(talk, tells_nothing_by_no_bytes)
{
	const struct talk_protocol *protocol = NULL;
	/* A sanitizer sees any read behind the end. */
	_cleanup_free_ uint8_t *one = exact_copy("x", 1);
	const uint8_t *none = one + 1;

	cr_expect_eq(talk_tell(none, 0, 25, false, &protocol), TALK_MAYBE);
	cr_expect_eq(talk_tell_early(none, 0, &protocol), TALK_MAYBE);
	cr_expect_null(talk_tell_datagram(none, 0, 123));
	cr_expect_null(protocol);
}

/* First messages, as the protocols' own descriptions have them. */
static const struct begin begins[] = {
	BEGIN("smtp", 26, "HELO a\r\n"),
	BEGIN("irc", 7000, "CAP LS 302\r\n"),
	BEGIN("irc", 6667, "PASS x\r\nNICK a\r\n"),
	BEGIN("ftp", 2121, "USER a\r\n"),
	BEGIN("pop3", 110, "USER a\r\n"),
	BEGIN("redis", 7777, "*1\r\n$4\r\nPING\r\n"),
	BEGIN("memcached", 11211, "set k 0 0 3\r\nabc\r\n"),
	BEGIN("mqtt", 1883, "\x10\x0d\0\4MQTT\4\2\0\x3c\0\1x"),
	BEGIN("postgresql", 5432, "\0\0\0\x08\x04\xd2\x16\x2f"),
	BEGIN("postgresql", 9, "\0\0\0\x13\0\3\0\0user\0pguser\0\0"),
	BEGIN("bittorrent", 51413,
	      "\x13"
	      "BitTorrent protocol\0\0\0\0\0\0\0\0"
	      "01234567890123456789"
	      "-XX0001-abcdefghijkl"),
	BEGIN("socks5", 9050, "\5\1\0"),
	BEGIN("socks4", 1080, "\4\1\0\x50\xcb\0\x71\7\0"),
	BEGIN("amqp", 5672, "AMQP\0\0\x09\1"),
	BEGIN("mongodb", 27017, "\x2a\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0"),
	BEGIN("smb", 445,
	      "\0\0\0\x45\xff"
	      "SMBr"),
	BEGIN("rdp", 3389, "\3\0\0\x13\x0e\xe0\0\0\0\0\0\1\0\x08\0\3\0\0\0"),
	BEGIN("ldap", 389, "\x30\x0c\2\1\1\x60\7\2\1\3\4\0\x80\0"),
	BEGIN("telnet", 23, "\xff\xfd\x03\xff\xfb\x18"),
	BEGIN("git", 9418, "0033git-upload-pack /project.git\0host=h.example\0"),
	BEGIN("rsync", 873, "@RSYNCD: 31.0\n"),
	BEGIN("rtsp", 554, "OPTIONS rtsp://h.example/ RTSP/1.0\r\nCSeq: 1\r\n\r\n"),
	BEGIN("rtsp", 554, "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"),
	BEGIN("xmpp", 5222, "<stream:stream to='h.example'>"),
	BEGIN("vnc", 5900, "RFB 003.008\n"),
	BEGIN("adb", 5555, "CNXN\0\0\0\1"),
	BEGIN("bitcoin", 8333, "\xf9\xbe\xb4\xd9version\0\0\0\0\0"),
	BEGIN("json-rpc", 9000, "{\"id\":1,\"method\":\"x\"}"),
	BEGIN("unknown", 9000, "{\"id\":1}\n"),
	BEGIN("unknown", 9000, "hello world, this is nothing that anyone knows\r\n"),
	BEGIN("unknown", 9000, "\x80\x81\x82\x83\x84\x85\x86\x87"),
};

Test(talk, tells_protocols_by_their_first_bytes_in_pieces_of_any_size)
{
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		for (size_t piece = 1; piece <= begins[i].len; piece += 1 + piece / 2) {
			struct bench bench;
			char expected[128];

			bench_open(&bench, 8);
			bench_connect(&bench, 40000, begins[i].port);
			bench_send(&bench, begins[i].bytes, begins[i].len, piece);
			bench_end(&bench);
			if (!strncmp(begins[i].protocol, "socks", 5))
				snprintf(expected, sizeof(expected), "{\"bytesReceived\": %zu}",
					 begins[i].len);
			else
				snprintf(expected, sizeof(expected),
					 "{\"protocol\": \"%s\", \"bytesReceived\": %zu}",
					 begins[i].protocol, begins[i].len);
			expect_record(bench_read(&bench), 0, expected);
			bench_close(&bench);
		}
	}
}

/* A silent client at such a port may still begin with TLS or HTTP. */
Test(talk, greets_only_where_servers_speak_first_and_http_is_http_there_too)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct bench bench;
	json_t *records;

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 80);
	wait_silently(&bench);
	cr_expect_str_eq(heard(&bench), "");
	bench_end(&bench);
	bench_connect(&bench, 40001, 25);
	cr_expect_str_eq(heard(&bench), "");
	wait_silently(&bench);
	cr_expect_eq(strncmp(heard(&bench), "220 ", 4), 0);
	bench_send(&bench, get, sizeof(get) - 1, 7);
	cr_expect_eq(strncmp(heard(&bench), "HTTP/1.1 403", 12), 0);
	bench_end(&bench);
	bench_connect(&bench, 40002, 25);
	wait_silently(&bench);
	bench_end(&bench);
	records = bench_read(&bench);
	expect_record(records, 1, "{\"protocol\": \"http\", \"path\": \"/\"}");
	expect_record(records, 2, "{\"protocol\": \"none\", \"bytesReceived\": 0}");
	bench_close(&bench);
}

static size_t after(const char *text, const char *part)
{
	const char *found = strstr(text, part);

	cr_assert_not_null(found, "%s", part);
	return (size_t)(found - text) + strlen(part);
}

/* The login packet of MySQL's own protocol description, and a query. */
Test(talk, lets_a_database_client_in)
{
	static const char login[] =
		"\x26\0\0\1\x05\xa6\3\0\0\0\0\1\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		"\0\0\0\0\0\0\0root\0\0";
	static const char query[] = "\x09\0\0\0\3SELECT 1\1\0\0\0\1";
	struct bench bench;
	char greeting[256];

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 3306);
	wait_silently(&bench);
	cr_assert_gt(recv(bench.client, greeting, sizeof(greeting), MSG_DONTWAIT), 60);
	cr_expect_eq(greeting[4], 10);
	after(greeting + 5, "8.0.");
	bench_send(&bench, login, sizeof(login) - 1, 3);
	cr_expect_eq(memcmp(heard(&bench), "\7\0\0\2\0", 5), 0);
	bench_send(&bench, query, sizeof(query) - 1, 3);
	cr_expect_eq(memcmp(heard(&bench), "\7\0\0\1\0", 5), 0);
	expect_record(
		bench_read(&bench), 0,
		"{\"protocol\": \"mysql\", \"users\": [\"root\"], \"queries\": [\"SELECT 1\"]}");
	bench_close(&bench);

	bench_open(&bench, 8);
	bench_connect(&bench, 40000, 5432);
	bench_send(&bench, "\0\0\0\x08\x04\xd2\x16\x2f", 8, 8);
	cr_expect_str_eq(heard(&bench), "N");
	bench_send(&bench, "\0\0\0\x13\0\3\0\0user\0ann\0\0\0", 19, 4);
	cr_expect_eq(memcmp(heard(&bench), "R\0\0\0\10\0\0\0\3", 9), 0);
	bench_send(&bench, "p\0\0\0\6x\0", 7, 2);
	cr_expect_eq(memcmp(heard(&bench), "R\0\0\0\10\0\0\0\0", 9), 0);
	bench_send(&bench, "Q\0\0\0\15SELECT 2\0", 14, 5);
	cr_expect_eq(memcmp(heard(&bench), "C\0\0\0\15SELECT 0\0Z", 15), 0);
	expect_record(bench_read(&bench), 0,
		      "{\"protocol\": \"postgresql\", \"users\": [\"ann\"],"
		      " \"queries\": [\"SELECT 2\"]}");
	bench_close(&bench);
}

Test(talk, counts_and_searches_all_that_came_whatever_was_understood)
{
	static char mail[200003];
	struct bench bench;
	json_t *records;

	memset(mail, 'x', sizeof(mail));
	memcpy(mail + 150000, "npm_0123456789", 14);
	bench_open_decoys(&bench, 8, "{\"token\": \"npm_0123456789\"}");
	bench_connect(&bench, 40000, 25);
	bench_send(&bench, "HELO a\r\nMAIL FROM:<a>\r\nDATA\r\n", 29, 29);
	bench_send(&bench, mail, sizeof(mail), 10007);
	bench_end(&bench);
	records = bench_read(&bench);
	cr_assert_eq(json_array_size(records), 1);
	expect_record(
		records, 0,
		"{\"bytesReceived\": 200032, \"decoys\": [\"token\"],"
		" \"mails\": [{\"from\": \"a\", \"to\": [], \"bytes\": 200003, \"cut\": true}]}");
	bench_close(&bench);
}

Test(talk, tells_datagrams)
{
	uint8_t ntp[48] = {0x23};

	cr_expect_str_eq(talk_tell_datagram(ntp, sizeof(ntp), 123), "ntp");
	cr_expect_null(talk_tell_datagram(ntp, sizeof(ntp), 124));
	cr_expect_str_eq(talk_tell_datagram((const uint8_t *)"\0\1\0\0\x21\x12\xa4\x42", 8, 1),
			 "stun");
	cr_expect_str_eq(talk_tell_datagram((const uint8_t *)"d1:ad2:id20:x", 13, 1),
			 "bittorrent-dht");
	cr_expect_null(talk_tell_datagram((const uint8_t *)"", 0, 123));
}

/* The same call over HTTP/1.1; a row of the user's own table comes first. */
Test(talk, answers_calls_of_json_rpc_over_http)
{
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"eth_sendRawTransaction\","
		"\"params\":[\"0x00\"]}";
	static const char batch[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"net_version\"},"
				    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"eth_chainId\"}]";
	static const char *const bodies[] = {call, batch, "{\"id\":1,\"method\":\"eth_chainId\"}"};
	static const char *const expected[] = {
		"{\"protocol\": \"http\", \"service\": \"ethereum\","
		" \"methods\": [\"eth_sendRawTransaction\"]}",
		"{\"service\": \"ethereum\", \"methods\": [\"net_version\", \"eth_chainId\"]}",
		"{\"protocol\": \"http\"}"};
	static const char *const answers[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"0x",
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"1\"},{\"jsonrpc\":\"2.0\",\"id\":2,"
		"\"result\":\"0x1\"}]",
		"Forbidden"};

	for (size_t i = 0; i < 3; i++) {
		struct bench bench;
		char request[512];
		const char *answer;
		int len = snprintf(request, sizeof(request),
				   "POST / HTTP/1.1\r\nHost: rpc.example\r\nContent-Length: %zu\r\n"
				   "\r\n%s",
				   strlen(bodies[i]), bodies[i]);

		bench_open(&bench, 8);
		bench_connect(&bench, 40000, 8545);
		bench_send(&bench, request, (size_t)len, 17);
		answer = heard(&bench);
		after(answer, answers[i]);
		after(answer, i < 2 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 403 Forbidden\r\n");
		expect_record(bench_read(&bench), 0, expected[i]);
		cr_expect_eq(i == 2, !json_object_get(json_array_get(bench.records, 0), "service"));
		bench_close(&bench);
	}
}
