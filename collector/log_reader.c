// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of the evidence log. It trusts nothing: a log may be cut at any byte, or made
 * by someone who wants it to crash. It gives every whole record and says how it ended.
 */
#include "collector/log.h"
#include "collector/log_format.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#define READER_INPUT_BYTES  (64U << 10)
#define READER_WINDOW_BYTES (256U << 10)

struct log_reader {
	int fd; /* -1: the log is in memory */
	const unsigned char *memory;
	size_t memory_left;

	z_stream zlib;
	bool zlib_ready;
	EVP_MD_CTX *sha256;
	char sha256_hex[SHA256_HEX_SIZE];
	uint64_t bytes;

	bool input_ended;  /* no more compressed bytes */
	bool member_ended; /* the gzip member is over, its checksum right */
	bool broken;	   /* bytes that no writer of ours makes */
	bool finished;
	bool whole;
	uint64_t records;

	size_t window_at, window_len; /* decompressed and not yet taken */
	unsigned char *record;
	size_t record_allocated;
	unsigned char input[READER_INPUT_BYTES];
	unsigned char window[READER_WINDOW_BYTES];
};

void log_reader_free(struct log_reader *reader)
{
	if (!reader)
		return;
	if (reader->zlib_ready)
		inflateEnd(&reader->zlib);
	EVP_MD_CTX_free(reader->sha256);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->record);
	free(reader);
}

DEFINE_CLEANUP(reader, struct log_reader *, log_reader_free);

/* The next piece of the file, hashed: its length, 0 at the end or on an error. */
static size_t reader_take_input(struct log_reader *reader, const unsigned char **ret_piece)
{
	size_t len = 0;

	if (reader->input_ended)
		return 0;
	if (reader->fd < 0) {
		len = reader->memory_left < READER_INPUT_BYTES ? reader->memory_left
							       : READER_INPUT_BYTES;
		*ret_piece = reader->memory;
		reader->memory += len;
		reader->memory_left -= len;
	} else {
		ssize_t got;

		do
			got = read(reader->fd, reader->input, sizeof(reader->input));
		while (got < 0 && errno == EINTR);
		if (got < 0)
			reader->broken = true;
		len = got > 0 ? (size_t)got : 0;
		*ret_piece = reader->input;
	}
	if (!len) {
		reader->input_ended = true;
		return 0;
	}
	if (EVP_DigestUpdate(reader->sha256, *ret_piece, len) != 1)
		reader->broken = true;
	reader->bytes += len;
	return len;
}

/* Decompresses until the window holds something. False when nothing more comes. */
static bool reader_fill(struct log_reader *reader)
{
	reader->window_at = 0;
	reader->window_len = 0;
	while (!reader->window_len && !reader->member_ended && !reader->broken) {
		int z;

		if (!reader->zlib.avail_in) {
			const unsigned char *piece;
			size_t len = reader_take_input(reader, &piece);

			if (!len)
				return false;
			reader->zlib.next_in = (unsigned char *)piece;
			reader->zlib.avail_in = (uInt)len;
		}
		reader->zlib.next_out = reader->window;
		reader->zlib.avail_out = READER_WINDOW_BYTES;
		z = inflate(&reader->zlib, Z_NO_FLUSH);
		reader->window_len = READER_WINDOW_BYTES - reader->zlib.avail_out;
		if (z == Z_STREAM_END)
			reader->member_ended = true;
		else if (z != Z_OK && z != Z_BUF_ERROR)
			reader->broken = true;
	}
	return reader->window_len != 0;
}

/* Copies up to @len decompressed bytes; fewer only at the end. */
static size_t reader_take(struct log_reader *reader, void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t here = reader->window_len - reader->window_at;

		if (!here) {
			if (!reader_fill(reader))
				break;
			continue;
		}
		if (here > len - done)
			here = len - done;
		memcpy((unsigned char *)to + done, reader->window + reader->window_at, here);
		reader->window_at += here;
		done += here;
	}
	return done;
}

/* Reads on to the end of the file for the digest, once. @clean: no record was cut. */
static int reader_finish(struct log_reader *reader, bool clean)
{
	bool surplus = reader->zlib.avail_in != 0;
	const unsigned char *piece;

	if (reader->finished)
		return 0;
	reader->finished = true;
	while (reader_take_input(reader, &piece))
		surplus = true;
	reader->whole = clean && reader->member_ended && !reader->broken && !surplus;
	if (sha256_finish_hex(reader->sha256, reader->sha256_hex) < 0)
		reader->whole = false;
	return 0;
}

/* Room for a payload of @len bytes and its NUL. */
static bool reader_reserve(struct log_reader *reader, size_t len)
{
	size_t allocated = reader->record_allocated ? reader->record_allocated : 4096;
	unsigned char *grown;

	if (len < reader->record_allocated)
		return true;
	while (allocated <= len)
		allocated *= 2;
	grown = realloc(reader->record, allocated);
	if (!grown)
		return false;
	reader->record = grown;
	reader->record_allocated = allocated;
	return true;
}

int log_reader_next(struct log_reader *reader, struct log_record *ret_record)
{
	unsigned char head[LOG_RECORD_HEAD_BYTES];
	size_t got, done = 0;
	uint32_t len;

	if (reader->finished)
		return 0;
	got = reader_take(reader, head, sizeof(head));
	if (got < sizeof(head))
		return reader_finish(reader, got == 0);
	len = get_le32(head);
	if (len > LOG_RECORD_BYTES_MAX || get_le16(head + 6) != 0) {
		reader->broken = true;
		return reader_finish(reader, false);
	}
	/* Grown as bytes come, so that a cut log's last length costs no memory. */
	while (done < len) {
		size_t want = len - done < READER_WINDOW_BYTES ? len - done : READER_WINDOW_BYTES;

		if (!reader_reserve(reader, done + want))
			return reader_finish(reader, false);
		got = reader_take(reader, reader->record + done, want);
		done += got;
		if (got < want)
			return reader_finish(reader, false);
	}
	if (!reader_reserve(reader, len))
		return reader_finish(reader, false);
	reader->record[len] = '\0';
	reader->records++;
	*ret_record = (struct log_record){
		.type = get_le16(head + 4), .len = len, .payload = reader->record};
	return 1;
}

static int reader_start(struct log_reader *reader, struct qp_error *err)
{
	unsigned char head[LOG_HEAD_BYTES];

	reader->sha256 = EVP_MD_CTX_new();
	if (!reader->sha256 || EVP_DigestInit_ex(reader->sha256, EVP_sha256(), NULL) != 1 ||
	    inflateInit2(&reader->zlib, LOG_ZLIB_GZIP_BITS) != Z_OK)
		return qp_error_set(err, -ENOMEM, "out of memory");
	reader->zlib_ready = true;
	if (reader_take(reader, head, sizeof(head)) < sizeof(head) ||
	    memcmp(head, LOG_MAGIC, LOG_MAGIC_BYTES) != 0)
		return qp_error_set(err, -EBADMSG, "not an evidence log of qp");
	if (get_le32(head + LOG_MAGIC_BYTES) != LOG_VERSION)
		return qp_error_set(err, -EBADMSG,
				    "an evidence log of version %u; this qp reads version %u",
				    get_le32(head + LOG_MAGIC_BYTES), LOG_VERSION);
	return 0;
}

int log_reader_open(const char *path, struct log_reader **ret_reader, struct qp_error *err)
{
	_cleanup_(reader) struct log_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return qp_error_set(err, -ENOMEM, "out of memory");
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0) {
		r = -errno;
		/* cppcheck-suppress memleak ; the attribute frees it */
		return qp_error_set(err, r, "cannot open %s: %s", path, strerror(-r));
	}
	r = reader_start(reader, err);
	if (r < 0)
		return r;
	*ret_reader = steal_ptr(reader);
	return 0;
}

int log_reader_open_memory(const void *bytes, size_t len, struct log_reader **ret_reader,
			   struct qp_error *err)
{
	_cleanup_(reader) struct log_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return qp_error_set(err, -ENOMEM, "out of memory");
	reader->fd = -1;
	reader->memory = bytes;
	reader->memory_left = len;
	r = reader_start(reader, err);
	if (r < 0)
		return r;
	*ret_reader = steal_ptr(reader);
	return 0;
}

bool log_reader_is_whole(const struct log_reader *reader)
{
	return reader->finished && reader->whole;
}

void log_reader_digest(const struct log_reader *reader, char ret_sha256[static SHA256_HEX_SIZE],
		       uint64_t *ret_bytes, uint64_t *ret_records)
{
	memcpy(ret_sha256, reader->sha256_hex, SHA256_HEX_SIZE);
	*ret_bytes = reader->bytes;
	*ret_records = reader->records;
}
