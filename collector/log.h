/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evidence log: a writer that only appends and hashes, and a reader that gives back
 * every whole record of a log that may have been cut. Format: docs/evidence-log.md.
 */
#ifndef QP_COLLECTOR_LOG_H
#define QP_COLLECTOR_LOG_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_RECORD_BYTES_MAX (16U << 20)
#define SHA256_HEX_SIZE	     65 /* with the NUL */

enum log_record_type {
	LOG_RECORD_PREAMBLE = 1,
	LOG_RECORD_EVENT = 2,
	LOG_RECORD_SINKHOLE = 3,
	LOG_RECORD_RESOLVED = 4,
	LOG_RECORD_PHASE = 5,
	LOG_RECORD_DOWNLOAD = 6,
	LOG_RECORD_SANDBOX = 7,
	LOG_RECORD_SCAN = 8,
	LOG_RECORD_LOAD = 9,
	LOG_RECORD_OUTPUT = 10,
	LOG_RECORD_END = 11,
	LOG_RECORD_TEARDOWN = 12,
	LOG_RECORD_RULES = 13,
	LOG_RECORD_PACKAGES = 14,
	LOG_RECORD_ERROR = 15,
	LOG_RECORD_SINKHOLE_END = 16,
	LOG_RECORD_DECOYS = 17,
	LOG_RECORD_DECOY_USE = 18,
	LOG_RECORD_JOINED = 19,
	LOG_RECORD_WRITTEN = 20,
	LOG_RECORD_TRAILER = 255,
};

/* "preamble", "event", ...; NULL for a type without a name. */
const char *log_record_name(enum log_record_type type);

struct log_writer;

/* Creates @path exclusively, mode 0600. -EEXIST when it is there, or the system's error. */
int log_writer_open(const char *path, struct log_writer **ret_writer, struct qp_error *err);

/* The same for one log among hundreds: a larger file for less memory. */
int log_writer_open_small(const char *path, struct log_writer **ret_writer, struct qp_error *err);

/*
 * Appends a record. A failed write (-ENOSPC, ...) sticks: each later call, and the close,
 * returns it. @len at most LOG_RECORD_BYTES_MAX, else -EMSGSIZE.
 */
int log_writer_append(struct log_writer *writer, enum log_record_type type, const void *payload,
		      size_t len);

/* Appends @object as compact JSON; it stays the caller's. */
int log_writer_append_json(struct log_writer *writer, enum log_record_type type,
			   const json_t *object);

/* Pushes what was appended to the file, so that a crash loses none of it. */
int log_writer_flush(struct log_writer *writer);

/* Ends the gzip member, syncs and closes; @writer is freed whatever is returned. The log's
 * digest and size in bytes are handed over on success only. */
int log_writer_close_take(struct log_writer *writer, char ret_sha256[static SHA256_HEX_SIZE],
			  uint64_t *ret_bytes);

/* Closes without an end: what a crash would leave. NULL is fine. */
void log_writer_abandon(struct log_writer *writer);

struct log_record {
	uint16_t type;
	uint32_t len;
	const unsigned char *payload; /* followed by a NUL; valid until the next call */
};

struct log_reader;

/* Opens a log, or -errno; -EBADMSG with the reason when it is no log at all. */
int log_reader_open(const char *path, struct log_reader **ret_reader, struct qp_error *err);

/* The same over memory that outlives the reader. */
int log_reader_open_memory(const void *bytes, size_t len, struct log_reader **ret_reader,
			   struct qp_error *err);

/* 1 and the next record; 0 at the end (log_reader_is_whole then tells how it ended). */
int log_reader_next(struct log_reader *reader, struct log_record *ret_record);

/* After the end: whether the gzip member, its last record and its checksum were whole.
 * A log with bytes after its member is not. */
bool log_reader_is_whole(const struct log_reader *reader);

/* After the end: digest and size of the file as it is, and the number of records. */
void log_reader_digest(const struct log_reader *reader, char ret_sha256[static SHA256_HEX_SIZE],
		       uint64_t *ret_bytes, uint64_t *ret_records);

void log_reader_free(struct log_reader *reader);

#endif
