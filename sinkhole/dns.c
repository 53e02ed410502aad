// SPDX-License-Identifier: Apache-2.0
/* The parser of DNS queries. Every read is checked against the message's end. */
#include "sinkhole/dns.h"

#include <errno.h>
#include <string.h>

#define FLAG_QR	     0x8000
#define OPCODE_MASK  0x7800
#define RECORD_FIXED 10 /* type, class, TTL and the length of the data */
#define TYPE_SIG     24
#define TYPE_TSIG    250

struct reader {
	const uint8_t *bytes;
	size_t len, pos;
	const char *why;
};

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static int broken(struct reader *in, const char *why)
{
	in->why = why;
	return -EBADMSG;
}

bool dns_looks_like_query(const uint8_t *bytes, size_t len)
{
	return len >= DNS_QUERY_MIN && (be16(bytes + 2) & (FLAG_QR | OPCODE_MASK)) == 0 &&
	       be16(bytes + 4) != 0 && be16(bytes + 4) <= DNS_QUESTIONS_MAX &&
	       be16(bytes + 6) == 0 && be16(bytes + 8) == 0;
}

/* Appends one label to @text at @used; the caller made sure that it fits. */
static size_t label_print(const uint8_t *label, size_t len, char *text, size_t used)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		uint8_t c = label[i];

		if (c > 0x20 && c < 0x7f && c != '\\' && c != '.') {
			text[used++] = (char)c;
			continue;
		}
		text[used++] = '\\';
		text[used++] = 'x';
		text[used++] = hex[c >> 4];
		text[used++] = hex[c & 15];
	}
	return used;
}

/*
 * Reads a name and leaves in->pos behind it. A pointer must lead further back than every
 * byte read so far for this name, which bounds the walk (RFC 1035 section 4.1.4: "a prior
 * occurrence").
 */
static int name_parse(struct reader *in, char text[static DNS_NAME_TEXT_SIZE])
{
	size_t pos = in->pos, lowest = in->pos, wire = 0, used = 0;
	bool jumped = false;

	for (;;) {
		uint8_t c;

		if (pos >= in->len)
			return broken(in, "a name is cut short");
		c = in->bytes[pos];
		if ((c & 0xc0) == 0xc0) {
			size_t target;

			if (pos + 1 >= in->len)
				return broken(in, "a name is cut short");
			target = be16(in->bytes + pos) & 0x3fff;
			if (target < DNS_HEADER_SIZE || target >= lowest)
				return broken(in, "a name's pointer does not lead back");
			if (!jumped)
				in->pos = pos + 2;
			jumped = true;
			pos = lowest = target;
			continue;
		}
		if (c & 0xc0)
			return broken(in, "a label has an unknown type");
		wire += c + 1u;
		if (wire > DNS_NAME_MAX)
			return broken(in, "a name is longer than 255 bytes");
		if (c == 0)
			break;
		if (in->len - pos - 1 < c)
			return broken(in, "a name is cut short");
		if (used)
			text[used++] = '.';
		used = label_print(in->bytes + pos + 1, c, text, used);
		pos += c + 1u;
	}
	if (!jumped)
		in->pos = pos + 1;
	if (!used)
		text[used++] = '.';
	text[used] = '\0';
	return 0;
}

static int question_parse(struct reader *in, struct dns_question *question)
{
	int r;

	question->offset = in->pos;
	r = name_parse(in, question->name);
	if (r < 0)
		return r;
	if (in->len - in->pos < 4)
		return broken(in, "a question is cut short");
	question->type = be16(in->bytes + in->pos);
	question->class = be16(in->bytes + in->pos + 2);
	in->pos += 4;
	return 0;
}

/* The additional section of a query may hold an OPT record and a signature. */
static int additional_parse(struct reader *in, struct dns_query *query)
{
	char name[DNS_NAME_TEXT_SIZE];
	const uint8_t *fixed;
	uint16_t type, size;
	int r = name_parse(in, name);

	if (r < 0)
		return r;
	if (in->len - in->pos < RECORD_FIXED)
		return broken(in, "a record is cut short");
	fixed = in->bytes + in->pos;
	type = be16(fixed);
	size = be16(fixed + 8);
	in->pos += RECORD_FIXED;
	if (in->len - in->pos < size)
		return broken(in, "a record's data is cut short");
	in->pos += size;
	if (type == TYPE_SIG || type == TYPE_TSIG)
		return 0;
	if (type != DNS_TYPE_OPT)
		return broken(in, "a query has an additional record that is no OPT");
	if (query->has_opt)
		return broken(in, "a query has two OPT records");
	if (strcmp(name, ".") != 0)
		return broken(in, "an OPT record has a name");
	query->has_opt = true;
	query->opt_payload = be16(fixed + 2);
	query->opt_version = fixed[5];
	query->opt_flags = be16(fixed + 6);
	return 0;
}

static int header_parse(struct reader *in, struct dns_query *query)
{
	if (in->len < DNS_HEADER_SIZE)
		return broken(in, "shorter than a header");
	query->id = be16(in->bytes);
	query->flags = be16(in->bytes + 2);
	query->questions_cnt = be16(in->bytes + 4);
	in->pos = DNS_HEADER_SIZE;
	if (query->flags & FLAG_QR)
		return broken(in, "a response, not a query");
	if (query->flags & OPCODE_MASK)
		return broken(in, "an opcode that is not QUERY");
	if (!query->questions_cnt)
		return broken(in, "no question");
	if (query->questions_cnt > DNS_QUESTIONS_MAX)
		return broken(in, "more than 16 questions");
	if (be16(in->bytes + 6) || be16(in->bytes + 8))
		return broken(in, "a query has answers");
	return 0;
}

static int body_parse(struct reader *in, struct dns_query *query)
{
	for (size_t i = 0; i < query->questions_cnt; i++) {
		int r = question_parse(in, &query->questions[i]);

		if (r < 0)
			return r;
	}
	query->questions_end = in->pos;
	for (size_t i = be16(in->bytes + 10); i; i--) {
		int r = additional_parse(in, query);

		if (r < 0)
			return r;
	}
	if (in->pos != in->len)
		return broken(in, "bytes are left over behind the message");
	return 0;
}

int dns_query_parse(const uint8_t *bytes, size_t len, struct dns_query *ret_query,
		    const char **ret_why)
{
	struct reader in = {.bytes = bytes, .len = len};
	int r;

	ret_query->has_opt = false;
	ret_query->opt_version = 0;
	ret_query->opt_payload = 0;
	ret_query->opt_flags = 0;
	r = header_parse(&in, ret_query);
	if (r == 0)
		r = body_parse(&in, ret_query);
	if (r < 0)
		*ret_why = in.why;
	return r;
}
