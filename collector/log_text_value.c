// SPDX-License-Identifier: Apache-2.0
/* Values as strace(1) spells them. */
#include "collector/log_text_value.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define OPEN_MODE_MASK 3

/* C's escapes, then octal with as many digits as the next character leaves room for. */
static void char_print(FILE *out, unsigned char c, unsigned char next, const char *special)
{
	static const char escapes[] = "\tt\nn\vv\ff\rr";
	const char *escape = c ? strchr(escapes, c) : NULL;

	if (c == '\\' || c == '"')
		fprintf(out, "\\%c", c);
	else if (escape && (escape - escapes) % 2 == 0)
		fprintf(out, "\\%c", escape[1]);
	else if (c < 0x20 || c > 0x7e || strchr(special, c))
		fprintf(out, isdigit(next) ? "\\%03o" : "\\%o", c);
	else
		fputc(c, out);
}

static void chars_print(FILE *out, const unsigned char *bytes, size_t len, const char *special)
{
	for (size_t i = 0; i < len; i++)
		char_print(out, bytes[i], i + 1 < len ? bytes[i + 1] : 0, special);
}

void text_quote(FILE *out, const void *bytes, size_t len, bool cut)
{
	fputc('"', out);
	chars_print(out, bytes, len, "");
	fputs(cut ? "\"..." : "\"", out);
}

int text_path(FILE *out, const struct event_field *field)
{
	_cleanup_free_ char *text = event_path_text(field);
	struct qp_path path = event_path(field);

	if (!text)
		return -ENOMEM;
	/* What does not fit is missing at the root's end. */
	fputs(path.flags & QP_PATH_TRUNCATED ? "<..." : "<", out);
	chars_print(out, (const unsigned char *)text, strlen(text), "<>");
	fputc('>', out);
	if (path.flags & QP_PATH_DELETED)
		fputs("(deleted)", out);
	if (path.flags & (QP_PATH_DETACHED | QP_PATH_OTHER_NS))
		fputs("(elsewhere)", out);
	return 0;
}

void text_endpoint(FILE *out, int family, const void *addr, unsigned int port)
{
	char host[INET6_ADDRSTRLEN];

	if ((family == AF_INET || family == AF_INET6) &&
	    inet_ntop(family, addr, host, sizeof(host)))
		fprintf(out, family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, port);
}

void text_sock(FILE *out, const struct event_field *field)
{
	struct qp_sock sock = event_sock(field);
	const char *v6 = sock.family == AF_INET6 ? "v6" : "";

	if (sock.family == AF_UNIX) {
		fputs("<UNIX>", out);
		return;
	}
	if (sock.family != AF_INET && sock.family != AF_INET6) {
		fprintf(out, "<socket of family %u>", sock.family);
		return;
	}
	if (sock.protocol == IPPROTO_TCP || sock.protocol == IPPROTO_UDP)
		fprintf(out, "<%s%s:[", sock.protocol == IPPROTO_TCP ? "TCP" : "UDP", v6);
	else
		fprintf(out, "<IP%s protocol %u:[", v6, sock.protocol);
	text_endpoint(out, sock.family, sock.saddr, sock.sport);
	if (sock.dport) {
		fputs("->", out);
		text_endpoint(out, sock.family, sock.daddr, sock.dport);
	}
	fputs("]>", out);
}

static void unix_print(FILE *out, const unsigned char *path, size_t len, bool cut)
{
	/* An abstract name begins with a NUL and is as long as the address says. */
	bool abstract = len && !path[0];

	if (!len) {
		fputs("{sa_family=AF_UNIX}", out);
		return;
	}
	fputs(abstract ? "{sa_family=AF_UNIX, sun_path=@" : "{sa_family=AF_UNIX, sun_path=", out);
	text_quote(out, path + abstract, abstract ? len - 1 : strnlen((const char *)path, len),
		   cut);
	fputc('}', out);
}

void text_sockaddr(FILE *out, const struct event_field *field)
{
	struct sockaddr_in6 in6 = {0};
	struct sockaddr_in in = {0};
	char host[INET6_ADDRSTRLEN];
	bool cut = field->flags & QP_FIELD_TRUNCATED;
	sa_family_t family;

	if (field->len < sizeof(family)) {
		text_quote(out, field->data, field->len, cut);
		return;
	}
	memcpy(&family, field->data, sizeof(family));
	if (family == AF_UNIX) {
		unix_print(out, field->data + sizeof(family), field->len - sizeof(family), cut);
	} else if (family == AF_INET && field->len >= sizeof(in)) {
		memcpy(&in, field->data, sizeof(in));
		inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		fprintf(out, "{sa_family=AF_INET, sin_port=htons(%u), sin_addr=inet_addr(\"%s\")}",
			ntohs(in.sin_port), host);
	} else if (family == AF_INET6 &&
		   field->len >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		memcpy(&in6, field->data, field->len < sizeof(in6) ? field->len : sizeof(in6));
		inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		fprintf(out,
			"{sa_family=AF_INET6, sin6_port=htons(%u), sin6_flowinfo=htonl(%u), "
			"inet_pton(AF_INET6, \"%s\", &sin6_addr), sin6_scope_id=%u}",
			ntohs(in6.sin6_port), ntohl(in6.sin6_flowinfo), host, in6.sin6_scope_id);
	} else {
		fprintf(out, "{sa_family=%#x, sa_data=", family);
		text_quote(out, field->data + sizeof(family), field->len - sizeof(family), cut);
		fputc('}', out);
	}
}

void text_argv(FILE *out, const struct event_field *field)
{
	const unsigned char *at = field->data, *end = at + field->len;
	bool cut = field->flags & QP_FIELD_TRUNCATED;

	fputc('[', out);
	while (at < end) {
		size_t len = strnlen((const char *)at, (size_t)(end - at));

		if (at != field->data)
			fputs(", ", out);
		text_quote(out, at, len, cut && at + len == end);
		at += len + 1;
	}
	fputs(cut ? ", ...]" : "]", out);
}

enum text_machine text_machine_of(const char *name)
{
	if (name && !strcmp(name, "x86_64"))
		return TEXT_MACHINE_X86_64;
	return name && !strcmp(name, "aarch64") ? TEXT_MACHINE_AARCH64 : TEXT_MACHINE_UNKNOWN;
}

void text_open_flags(FILE *out, uint64_t flags, enum text_machine machine)
{
	/* asm-generic/fcntl.h, arch/arm64/include/uapi/asm/fcntl.h; in octal, since the headers
	 * here are the reader's. Those that hold others' bits come first. */
	static const struct {
		const char *name;
		uint32_t x86_64, aarch64;
	} names[] = {
		{"O_CREAT", 0100, 0100},	   {"O_EXCL", 0200, 0200},
		{"O_NOCTTY", 0400, 0400},	   {"O_TRUNC", 01000, 01000},
		{"O_APPEND", 02000, 02000},	   {"O_NONBLOCK", 04000, 04000},
		{"O_SYNC", 04010000, 04010000},	   {"O_DSYNC", 010000, 010000},
		{"O_ASYNC", 020000, 020000},	   {"O_DIRECT", 040000, 0200000},
		{"O_LARGEFILE", 0100000, 0400000}, {"O_TMPFILE", 020200000, 020040000},
		{"O_DIRECTORY", 0200000, 040000},  {"O_NOFOLLOW", 0400000, 0100000},
		{"O_NOATIME", 01000000, 01000000}, {"O_CLOEXEC", 02000000, 02000000},
		{"O_PATH", 010000000, 010000000},
	};
	static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
	uint64_t left = flags & ~(uint64_t)OPEN_MODE_MASK;

	fputs(modes[flags & OPEN_MODE_MASK], out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool alike = names[i].x86_64 == names[i].aarch64;
		uint64_t flag =
			machine == TEXT_MACHINE_AARCH64 ? names[i].aarch64 : names[i].x86_64;

		if ((left & flag) != flag || (!alike && machine == TEXT_MACHINE_UNKNOWN))
			continue;
		fprintf(out, "|%s", names[i].name);
		left &= ~flag;
	}
	if (left)
		fprintf(out, "|%#" PRIx64, left);
}
