/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocols other than DNS, HTTP and TLS: told by how they begin, and answered as far as a
 * client needs it to go on and send what it came to send. No sockets: what is to be sent is
 * handed to a function.
 */
#ifndef QP_SINKHOLE_TALK_H
#define QP_SINKHOLE_TALK_H

#include "sinkhole/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A protocol is told, or given up on, within so many bytes. */
#define TALK_TELL_MAX 1024

/* A server that speaks first waits so long for a client that does: for TLS, for HTTP. */
#define TALK_GREET_MS 150

enum talk_told {
	TALK_NO,    /* none that is known */
	TALK_MAYBE, /* too little yet */
	TALK_YES,
};

enum talk_end {
	TALK_ON,
	TALK_OVER, /* nothing more is said; the connection is ended */
	TALK_NEXT, /* what follows is a connection of its own, as behind a proxy */
};

struct talk_protocol;
struct talk;

struct talk_setup {
	void (*send)(void *context, const void *bytes, size_t len);
	void *context;
	const char *host; /* what the server calls itself; copied */
	EVP_MD *sha256;	  /* borrowed */
	struct endpoint dst;
};

/* The protocol whose server greets at @port, or NULL. *ret_late: behind TLS. */
const struct talk_protocol *talk_greeter(uint16_t port, bool *ret_late);

/* Which protocol a client's first @len bytes to @port begin, with TALK_YES in *ret_protocol.
 * With @whole no more will come. */
enum talk_told talk_tell(const uint8_t *bytes, size_t len, uint16_t port, bool whole,
			 const struct talk_protocol **ret_protocol);

/* The same, of those protocols only whose first message might also begin one of DNS. */
enum talk_told talk_tell_early(const uint8_t *bytes, size_t len,
			       const struct talk_protocol **ret_protocol);

/* The protocol of a single datagram, or NULL. */
const char *talk_tell_datagram(const uint8_t *bytes, size_t len, uint16_t port);

/* NULL when out of memory. */
struct talk *talk_new(const struct talk_protocol *protocol, const struct talk_setup *setup);
void talk_free(struct talk *talk);

const struct talk_protocol *talk_protocol_of(const struct talk *talk);
const char *talk_name(const struct talk *talk);
/* Of the talk and all that it holds; 0 for NULL. */
size_t talk_memory(const struct talk *talk);

/* Says what the server says first, once; nothing where the client begins. */
void talk_greet(struct talk *talk);

/* The next bytes of the client. *ret_used of them were taken: all but for TALK_NEXT. */
enum talk_end talk_feed(struct talk *talk, const char *bytes, size_t len, size_t *ret_used);

/* Adds what was understood to the record. */
void talk_members(const struct talk *talk, struct record *record);

#endif
