// SPDX-License-Identifier: Apache-2.0
/*
 * The writer of the evidence log: frames records, compresses, hashes and appends. What is
 * in a record is its caller's business. The reader is log_reader.c.
 */
#include "collector/log.h"
#include "collector/log_format.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define WRITER_BUFFER_BYTES (64U << 10)
#define FLUSH_INTERVAL_NS   1000000000ULL
/* The fastest level: the drain of a full ring must not wait for the compressor. */
#define WRITER_ZLIB_LEVEL Z_BEST_SPEED
/* zlib's memory: 1 << (window bits + 2), and 1 << (level + 9); 32 KiB where it is 384. */
#define WRITER_SMALL_GZIP_BITS	  (12 + 16)
#define WRITER_SMALL_MEMORY_LEVEL 5

struct log_writer {
	int fd;
	int error; /* the first failure, which sticks; 0: none */
	z_stream zlib;
	bool zlib_ready;
	EVP_MD_CTX *sha256;
	uint64_t bytes; /* of the file */
	uint64_t flushed_ns;
	unsigned char buffer[WRITER_BUFFER_BYTES];
};

const char *log_record_name(enum log_record_type type)
{
	switch (type) {
	case LOG_RECORD_PREAMBLE:
		return "preamble";
	case LOG_RECORD_EVENT:
		return "event";
	case LOG_RECORD_SINKHOLE:
		return "sinkhole";
	case LOG_RECORD_RESOLVED:
		return "resolved";
	case LOG_RECORD_PHASE:
		return "phase";
	case LOG_RECORD_DOWNLOAD:
		return "download";
	case LOG_RECORD_SANDBOX:
		return "sandbox";
	case LOG_RECORD_SCAN:
		return "scan";
	case LOG_RECORD_LOAD:
		return "load";
	case LOG_RECORD_OUTPUT:
		return "output";
	case LOG_RECORD_END:
		return "end";
	case LOG_RECORD_TEARDOWN:
		return "teardown";
	case LOG_RECORD_RULES:
		return "rules";
	case LOG_RECORD_PACKAGES:
		return "packages";
	case LOG_RECORD_ERROR:
		return "error";
	case LOG_RECORD_SINKHOLE_END:
		return "sinkhole-end";
	case LOG_RECORD_DECOYS:
		return "decoys";
	case LOG_RECORD_DECOY_USE:
		return "decoy-use";
	case LOG_RECORD_JOINED:
		return "joined";
	case LOG_RECORD_WRITTEN:
		return "written";
	case LOG_RECORD_TRAILER:
		return "trailer";
	}
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void writer_free(struct log_writer *writer)
{
	if (!writer)
		return;
	if (writer->zlib_ready)
		deflateEnd(&writer->zlib);
	EVP_MD_CTX_free(writer->sha256);
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer);
}

DEFINE_CLEANUP(writer, struct log_writer *, writer_free);

/* Writes and hashes what the compressor has put out so far. */
static int writer_write_out(struct log_writer *writer)
{
	size_t len = WRITER_BUFFER_BYTES - writer->zlib.avail_out;
	int r;

	if (!len)
		return 0;
	r = write_all(writer->fd, writer->buffer, len);
	if (r < 0)
		return r;
	if (EVP_DigestUpdate(writer->sha256, writer->buffer, len) != 1)
		return -ENOMEM;
	writer->bytes += len;
	writer->zlib.next_out = writer->buffer;
	writer->zlib.avail_out = WRITER_BUFFER_BYTES;
	return 0;
}

/* Compresses @bytes. With a flush other than Z_NO_FLUSH all output reaches the file. */
static int writer_deflate(struct log_writer *writer, const void *bytes, size_t len, int flush)
{
	int r;

	writer->zlib.next_in = (unsigned char *)bytes;
	writer->zlib.avail_in = (uInt)len;
	for (;;) {
		int z = deflate(&writer->zlib, flush);

		if (z == Z_STREAM_ERROR)
			return -EIO;
		if (flush == Z_FINISH ? z == Z_STREAM_END : writer->zlib.avail_out != 0)
			break;
		r = writer_write_out(writer);
		if (r < 0)
			return r;
	}
	return flush == Z_NO_FLUSH ? 0 : writer_write_out(writer);
}

static int writer_flush(struct log_writer *writer)
{
	writer->flushed_ns = now_ns();
	return writer_deflate(writer, NULL, 0, Z_SYNC_FLUSH);
}

static int writer_start(struct log_writer *writer, int window_bits, int memory_level)
{
	unsigned char head[LOG_HEAD_BYTES] = LOG_MAGIC;
	int r;

	writer->sha256 = EVP_MD_CTX_new();
	if (!writer->sha256 || EVP_DigestInit_ex(writer->sha256, EVP_sha256(), NULL) != 1)
		return -ENOMEM;
	if (deflateInit2(&writer->zlib, WRITER_ZLIB_LEVEL, Z_DEFLATED, window_bits, memory_level,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	writer->zlib_ready = true;
	writer->zlib.next_out = writer->buffer;
	writer->zlib.avail_out = WRITER_BUFFER_BYTES;
	put_le32(head + LOG_MAGIC_BYTES, LOG_VERSION);
	r = writer_deflate(writer, head, sizeof(head), Z_NO_FLUSH);
	return r < 0 ? r : writer_flush(writer);
}

static int writer_create(const char *path, int window_bits, int memory_level,
			 struct log_writer **ret_writer, struct qp_error *err)
{
	_cleanup_(writer) struct log_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return qp_error_set(err, -ENOMEM, "out of memory");
	writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (writer->fd < 0) {
		r = -errno;
		/* cppcheck-suppress memleak ; the attribute frees it */
		return qp_error_set(err, r, "cannot create the evidence log %s: %s", path,
				    strerror(-r));
	}
	r = writer_start(writer, window_bits, memory_level);
	if (r < 0) {
		unlink(path);
		return qp_error_set(err, r, "cannot write the evidence log %s: %s", path,
				    strerror(-r));
	}
	*ret_writer = steal_ptr(writer);
	return 0;
}

int log_writer_open(const char *path, struct log_writer **ret_writer, struct qp_error *err)
{
	return writer_create(path, LOG_ZLIB_GZIP_BITS, MAX_MEM_LEVEL, ret_writer, err);
}

int log_writer_open_small(const char *path, struct log_writer **ret_writer, struct qp_error *err)
{
	return writer_create(path, WRITER_SMALL_GZIP_BITS, WRITER_SMALL_MEMORY_LEVEL, ret_writer,
			     err);
}

/*
 * Kernel events and the answers to them come by the thousand: they are flushed once a
 * second. Every other record is rare, and must outlive a crash that follows it.
 */
static bool must_flush(const struct log_writer *writer, enum log_record_type type)
{
	if (type != LOG_RECORD_EVENT && type != LOG_RECORD_RESOLVED)
		return true;
	return now_ns() - writer->flushed_ns >= FLUSH_INTERVAL_NS;
}

int log_writer_append(struct log_writer *writer, enum log_record_type type, const void *payload,
		      size_t len)
{
	unsigned char head[LOG_RECORD_HEAD_BYTES] = {0};
	int r;

	if (writer->error)
		return writer->error;
	if (len > LOG_RECORD_BYTES_MAX)
		return -EMSGSIZE;
	put_le32(head, (uint32_t)len);
	put_le16(head + 4, (uint16_t)type);
	r = writer_deflate(writer, head, sizeof(head), Z_NO_FLUSH);
	if (r == 0 && len)
		r = writer_deflate(writer, payload, len, Z_NO_FLUSH);
	if (r == 0 && must_flush(writer, type))
		r = writer_flush(writer);
	if (r < 0)
		writer->error = r;
	return r;
}

int log_writer_append_json(struct log_writer *writer, enum log_record_type type,
			   const json_t *object)
{
	_cleanup_free_ char *text = json_dumps(object, JSON_COMPACT);

	if (!text)
		return -ENOMEM;
	return log_writer_append(writer, type, text, strlen(text));
}

int log_writer_flush(struct log_writer *writer)
{
	if (!writer->error)
		writer->error = writer_flush(writer);
	return writer->error;
}

int log_writer_close_take(struct log_writer *writer, char ret_sha256[static SHA256_HEX_SIZE],
			  uint64_t *ret_bytes)
{
	_cleanup_(writer) struct log_writer *owned = writer;
	char hex[SHA256_HEX_SIZE];
	int r = owned->error;

	if (r == 0)
		r = writer_deflate(owned, NULL, 0, Z_FINISH);
	if (r == 0 && fsync(owned->fd) < 0)
		r = -errno;
	if (r == 0)
		r = sha256_finish_hex(owned->sha256, hex);
	if (r == 0 && close(steal_fd(&owned->fd)) < 0)
		r = -errno;
	if (r < 0)
		return r;
	memcpy(ret_sha256, hex, sizeof(hex));
	*ret_bytes = owned->bytes;
	return 0;
}

void log_writer_abandon(struct log_writer *writer)
{
	writer_free(writer);
}
