/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first message of a TLS connection, the ClientHello (RFC 8446 section 4.1.2), in any
 * cut into records. No state, no sockets.
 */
#ifndef QP_SINKHOLE_TLS_H
#define QP_SINKHOLE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of the longest message that its vectors allow (RFC 8446 sections 4 and 4.1.2): header,
 * version, random, session id, suites, compression methods, extensions. */
#define TLS_HELLO_MAX	   (4 + 2 + 32 + 1 + 32 + 2 + 65534 + 1 + 255 + 2 + 65535)
#define TLS_SNI_MAX	   255
#define TLS_ALPN_MAX	   16
#define TLS_ALPN_BYTES_MAX 512
#define TLS_ALERT_SIZE	   7
#define TLS_LIST_MAX	   256

/* Numbers in the order in which they were sent, without those that only keep servers tolerant
 * (RFC 8701); beyond TLS_LIST_MAX they are left out. */
struct tls_list {
	uint16_t items[TLS_LIST_MAX];
	size_t cnt;
};

struct tls_hello {
	uint8_t sni[TLS_SNI_MAX];
	size_t sni_len; /* 0: none was sent */
	/* The offered protocols, one after the other in @alpn; what has no room is left out. */
	uint8_t alpn[TLS_ALPN_BYTES_MAX];
	uint8_t alpn_len[TLS_ALPN_MAX];
	size_t alpn_cnt;
	uint16_t legacy_version;
	struct tls_list suites, extensions, versions, signatures;
};

/* Whether @len bytes begin as a TLS handshake does; true for less than the three bytes that
 * tell, as long as they agree. */
bool tls_looks_like_hello(const uint8_t *bytes, size_t len);

/* How far the records that arrived have been read, all zeros before the first; so that each of
 * them is read once, in however many pieces they come. */
struct tls_progress {
	size_t pos;	 /* bytes of whole records */
	size_t gathered; /* of the message in them */
	size_t whole;	 /* the message's length, 0 before its header is there */
	uint8_t header[4];
};

/*
 * Parses the records at the start of @bytes, which began with the same bytes at each earlier call
 * with @progress. Returns how many bytes the records with the ClientHello take; -EAGAIN when
 * they are not whole yet; -EBADMSG, with *ret_why a literal, when they cannot become a
 * ClientHello; -ENOMEM.
 */
ssize_t tls_hello_parse(struct tls_progress *progress, const uint8_t *bytes, size_t len,
			struct tls_hello *ret_hello, const char **ret_why);

/* The fatal handshake_failure alert, as a server sends that shares no parameters. */
extern const uint8_t tls_handshake_failure[TLS_ALERT_SIZE];

#endif
