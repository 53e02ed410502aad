/* SPDX-License-Identifier: Apache-2.0 */
/* Records: one JSON object per line, as docs/sinkhole-records.md has them. */
#ifndef QP_SINKHOLE_RECORD_H
#define QP_SINKHOLE_RECORD_H

#include "base/decoy_scan.h"
#include "sinkhole/endpoint.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <time.h>

/* Beyond so many the rest is only counted, so that a flood cannot fill the disk. */
#define RECORDS_MAX 1000000

/* Names of header fields that are told of one request. */
#define RECORD_HEADERS_MAX 128

/* The bytes of a connection or datagram that are shown. */
#define RECORD_FIRST_BYTES 256

struct record_log {
	int fd;		  /* borrowed */
	uint64_t written; /* whole lines */
	uint64_t dropped; /* records beyond RECORDS_MAX */
	int error;	  /* the first failure, a negative errno; nothing is written after it */
};

/*
 * A record under construction. A member that cannot be added makes the whole record fail
 * when it is written, so that callers need not check each one.
 */
struct record {
	json_t *object;
	bool failed;
};

/* Time for a record: the wall clock. */
struct timespec record_now(void);

struct record record_begin(const char *type, const struct timespec *t);

/* srcIp, srcPort, dstIp, dstPort. */
void record_flow(struct record *record, const struct endpoint *src, const struct endpoint *dst);

/* @value is taken, and may be NULL only for want of memory. */
void record_set(struct record *record, const char *key, json_t *value);

void record_number(struct record *record, const char *key, uint64_t value);

/* A NUL-terminated text that is escaped already; NULL gives null. */
void record_text(struct record *record, const char *key, const char *text);

/* Raw bytes, which are escaped; NULL gives null. */
void record_bytes(struct record *record, const char *key, const void *bytes, size_t len);

/* The new JSON string that record_bytes would set, NULL for want of memory. */
json_t *record_escaped(const void *bytes, size_t len);

/* The digest of @hash in hexadecimal; nothing for NULL. It cannot go on after it. */
void record_hash(struct record *record, const char *key, EVP_MD_CTX *hash);

/* `decoys` and `decoyEncodings`, when there are hits; `unsearched` when not all of it could be
 * looked through. */
void record_decoys(struct record *record, const struct decoys *decoys,
		   const struct decoy_hits *hits, bool unsearched);

/* Writes the record as one line and frees it. 0, or log->error. */
int record_write(struct record_log *log, struct record *record);

/* The last line: "end" with the counts; always written. @lost: what the kernel had to drop
 * before we saw it. */
int record_end(struct record_log *log, bool flushed, uint64_t lost);

#endif
