// SPDX-License-Identifier: Apache-2.0
/* The parser of ClientHello messages. Every read is checked against its vector's end. */
#include "sinkhole/tls.h"

#include "base/cleanup.h"

#include <string.h>

#define RECORD_HEADER	     5
#define RECORD_MAX	     16384 /* of a plaintext record, RFC 8446 section 5.1 */
#define RECORD_HANDSHAKE     22
#define MESSAGE_HEADER	     4
#define CLIENT_HELLO	     1
#define VERSION_MAJOR	     3
#define RANDOM_SIZE	     32
#define SESSION_ID_MAX	     32
#define EXTENSION_SNI	     0
#define EXTENSION_ALPN	     16
#define EXTENSION_SIGNATURES 13
#define EXTENSION_VERSIONS   43
#define GREASE_MASK	     0x0f0f
#define GREASE		     0x0a0a
#define SNI_HOST_NAME	     0

const uint8_t tls_handshake_failure[TLS_ALERT_SIZE] = {21, 3, 3, 0, 2, 2, 40};

/* What is left of a vector. */
struct vector {
	const uint8_t *p;
	size_t len;
};

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static bool skip(struct vector *in, size_t n)
{
	if (in->len < n)
		return false;
	in->p += n;
	in->len -= n;
	return true;
}

/* Takes a vector whose length is written in @width (1 or 2) bytes before it. */
static bool take_vector(struct vector *in, size_t width, struct vector *ret_vector)
{
	size_t len;

	if (in->len < width)
		return false;
	len = width == 1 ? in->p[0] : be16(in->p);
	skip(in, width);
	*ret_vector = (struct vector){in->p, len};
	return skip(in, len);
}

static void list_add(struct tls_list *list, unsigned value)
{
	bool grease = (value & GREASE_MASK) == GREASE && value >> 8 == (value & 0xff);

	if (!grease && list->cnt < TLS_LIST_MAX)
		list->items[list->cnt++] = (uint16_t)value;
}

/* A vector of 16-bit numbers, whose length is written in @width bytes. */
static bool numbers_parse(struct vector data, size_t width, struct tls_list *list)
{
	struct vector numbers;

	if (!take_vector(&data, width, &numbers) || data.len || !numbers.len || numbers.len % 2)
		return false;
	for (; numbers.len; skip(&numbers, 2))
		list_add(list, be16(numbers.p));
	return true;
}

/* RFC 6066 section 3: a list of names, of which only host names are defined. */
static bool sni_parse(struct vector data, struct tls_hello *hello)
{
	struct vector list, name;

	if (!take_vector(&data, 2, &list) || data.len || !list.len)
		return false;
	while (list.len) {
		uint8_t type = list.p[0];

		if (!skip(&list, 1) || !take_vector(&list, 2, &name))
			return false;
		if (type != SNI_HOST_NAME)
			continue;
		if (!name.len || name.len > TLS_SNI_MAX || hello->sni_len)
			return false;
		memcpy(hello->sni, name.p, name.len);
		hello->sni_len = name.len;
	}
	return true;
}

/* RFC 7301 section 3.1. */
static bool alpn_parse(struct vector data, struct tls_hello *hello)
{
	struct vector list, name;
	size_t used = 0;

	if (!take_vector(&data, 2, &list) || data.len || !list.len || hello->alpn_cnt)
		return false;
	while (list.len) {
		if (!take_vector(&list, 1, &name) || !name.len)
			return false;
		if (hello->alpn_cnt == TLS_ALPN_MAX || name.len > TLS_ALPN_BYTES_MAX - used)
			continue;
		memcpy(hello->alpn + used, name.p, name.len);
		used += name.len;
		hello->alpn_len[hello->alpn_cnt++] = (uint8_t)name.len;
	}
	return true;
}

static const char *extensions_parse(struct vector in, struct tls_hello *hello)
{
	while (in.len) {
		struct vector data;
		unsigned type;

		if (in.len < 2)
			return "an extension is cut short";
		type = be16(in.p);
		skip(&in, 2);
		if (!take_vector(&in, 2, &data))
			return "an extension is cut short";
		list_add(&hello->extensions, type);
		if (type == EXTENSION_SNI && !sni_parse(data, hello))
			return "a broken server_name extension";
		if (type == EXTENSION_ALPN && !alpn_parse(data, hello))
			return "a broken ALPN extension";
		if (type == EXTENSION_SIGNATURES && !numbers_parse(data, 2, &hello->signatures))
			return "a broken signature_algorithms extension";
		if (type == EXTENSION_VERSIONS && !numbers_parse(data, 1, &hello->versions))
			return "a broken supported_versions extension";
	}
	return NULL;
}

/* The message's body. Returns what is wrong, or NULL. */
static const char *body_parse(struct vector in, struct tls_hello *hello)
{
	struct vector vector;

	if (in.len < 2 || in.p[0] != VERSION_MAJOR)
		return "an unknown version";
	hello->legacy_version = (uint16_t)be16(in.p);
	if (!skip(&in, 2) || !skip(&in, RANDOM_SIZE))
		return "cut short in the random bytes";
	if (!take_vector(&in, 1, &vector) || vector.len > SESSION_ID_MAX)
		return "a broken session id";
	if (!take_vector(&in, 2, &vector) || vector.len < 2 || vector.len % 2)
		return "a broken list of cipher suites";
	for (; vector.len; skip(&vector, 2))
		list_add(&hello->suites, be16(vector.p));
	if (!take_vector(&in, 1, &vector) || !vector.len)
		return "a broken list of compression methods";
	if (!in.len)
		return NULL; /* TLS 1.0 to 1.2 without extensions */
	if (!take_vector(&in, 2, &vector) || in.len)
		return "a broken list of extensions";
	return extensions_parse(vector, hello);
}

bool tls_looks_like_hello(const uint8_t *bytes, size_t len)
{
	return (len < 1 || bytes[0] == RECORD_HANDSHAKE) &&
	       (len < 2 || bytes[1] == VERSION_MAJOR) && (len < 3 || bytes[2] <= 4);
}

/* Checks a record's header; *ret_len is the length of its payload. */
static const char *record_header(const uint8_t *bytes, size_t len, size_t *ret_len)
{
	if (!tls_looks_like_hello(bytes, len))
		return "a record that is no TLS handshake";
	*ret_len = len < RECORD_HEADER ? 0 : be16(bytes + 3);
	if (len >= RECORD_HEADER && (*ret_len == 0 || *ret_len > RECORD_MAX))
		return "a record of a forbidden length";
	return NULL;
}

/* Takes in a record's payload; the message's length is known once its header is there. */
static const char *payload_count(struct tls_progress *progress, const uint8_t *payload, size_t len)
{
	for (size_t i = 0; i < len && progress->gathered + i < MESSAGE_HEADER; i++)
		progress->header[progress->gathered + i] = payload[i];
	progress->gathered += len;
	if (progress->header[0] != CLIENT_HELLO)
		return "a handshake that does not begin with a ClientHello";
	if (progress->gathered < MESSAGE_HEADER)
		return NULL;
	progress->whole =
		MESSAGE_HEADER + ((size_t)progress->header[1] << 16 | be16(progress->header + 2));
	if (progress->whole > TLS_HELLO_MAX)
		return "a ClientHello longer than any can be";
	return progress->gathered > progress->whole ? "bytes are left over behind the ClientHello"
						    : NULL;
}

/* Whether the message is whole: 0, -EAGAIN, -EBADMSG. What is kept of a message and has not
 * come to its end is bounded, since no record is empty. */
static int records_count(struct tls_progress *progress, const uint8_t *bytes, size_t len,
			 const char **ret_why)
{
	while (!progress->whole || progress->gathered < progress->whole) {
		const uint8_t *record = bytes + progress->pos;
		size_t left = len - progress->pos, payload;

		*ret_why = record_header(record, left, &payload);
		if (*ret_why)
			return -EBADMSG;
		if (left < RECORD_HEADER || left - RECORD_HEADER < payload)
			return -EAGAIN;
		*ret_why = payload_count(progress, record + RECORD_HEADER, payload);
		if (*ret_why)
			return -EBADMSG;
		progress->pos += RECORD_HEADER + payload;
	}
	return 0;
}

/* The payloads of the first @len bytes, one after the other. */
static void payloads_join(const uint8_t *bytes, size_t len, uint8_t *message)
{
	for (size_t at = 0; at < len;) {
		size_t payload = be16(bytes + at + 3);

		memcpy(message, bytes + at + RECORD_HEADER, payload);
		message += payload;
		at += RECORD_HEADER + payload;
	}
}

ssize_t tls_hello_parse(struct tls_progress *progress, const uint8_t *bytes, size_t len,
			struct tls_hello *ret_hello, const char **ret_why)
{
	_cleanup_free_ uint8_t *message = NULL;
	const char *why = NULL;
	int r = records_count(progress, bytes, len, &why);

	if (r == 0) {
		message = malloc(progress->whole);
		if (!message)
			return -ENOMEM;
		payloads_join(bytes, progress->pos, message);
		memset(ret_hello, 0, sizeof(*ret_hello));
		why = body_parse(
			(struct vector){message + MESSAGE_HEADER, progress->whole - MESSAGE_HEADER},
			ret_hello);
	}
	if (why)
		*ret_why = why;
	return why ? -EBADMSG : r < 0 ? r : (ssize_t)progress->pos;
}
