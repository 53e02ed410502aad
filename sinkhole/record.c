// SPDX-License-Identifier: Apache-2.0
/* Building and writing records. */
#include "sinkhole/record.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <poll.h>
#include <string.h>

#define TIME_SIZE sizeof("2026-11-04T15:50:26.867019Z")

struct timespec record_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

static void time_print(const struct timespec *t, char buf[static TIME_SIZE])
{
	struct tm parts;
	char seconds[TIME_SIZE];

	gmtime_r(&t->tv_sec, &parts);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(buf, TIME_SIZE, "%.19s.%06uZ", seconds, (unsigned)(t->tv_nsec / 1000) % 1000000);
}

struct record record_begin(const char *type, const struct timespec *t)
{
	struct record record = {.object = json_object()};
	char text[TIME_SIZE];

	time_print(t, text);
	record.failed = !record.object;
	record_text(&record, "type", type);
	record_text(&record, "t", text);
	return record;
}

void record_set(struct record *record, const char *key, json_t *value)
{
	if (!value || !record->object) {
		json_decref(value);
		record->failed = true;
		return;
	}
	if (json_object_set_new(record->object, key, value) < 0)
		record->failed = true;
}

void record_number(struct record *record, const char *key, uint64_t value)
{
	record_set(record, key, json_integer((json_int_t)value));
}

void record_text(struct record *record, const char *key, const char *text)
{
	record_set(record, key, text ? json_string(text) : json_null());
}

json_t *record_escaped(const void *bytes, size_t len)
{
	_cleanup_free_ char *text = escape_bytes(bytes, len);

	return text ? json_string(text) : NULL;
}

void record_bytes(struct record *record, const char *key, const void *bytes, size_t len)
{
	record_set(record, key, bytes ? record_escaped(bytes, len) : json_null());
}

void record_flow(struct record *record, const struct endpoint *src, const struct endpoint *dst)
{
	char text[ENDPOINT_ADDRESS_SIZE];

	record_text(record, "srcIp", endpoint_address(src, text));
	record_number(record, "srcPort", src->port);
	record_text(record, "dstIp", endpoint_address(dst, text));
	record_number(record, "dstPort", dst->port);
}

void record_hash(struct record *record, const char *key, EVP_MD_CTX *hash)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	char text[2 * EVP_MAX_MD_SIZE + 1];
	unsigned len = 0;

	if (!hash || EVP_DigestFinal_ex(hash, digest, &len) != 1)
		return;
	for (unsigned i = 0; i < len; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", digest[i]);
	record_text(record, key, text);
}

void record_decoys(struct record *record, const struct decoys *decoys,
		   const struct decoy_hits *hits, bool unsearched)
{
	if (hits->labels) {
		record_set(record, "decoys", decoys_labels(decoys, hits));
		record_set(record, "decoyEncodings", decoys_ways(hits));
	}
	if (unsearched)
		record_set(record, "unsearched", json_true());
}

/* A pipe that we inherit may be non-blocking; a reader that is slow is waited for. */
static int line_write(int fd, const char *line, size_t len)
{
	while (len) {
		ssize_t n = write(fd, line, len);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd writable = {.fd = fd, .events = POLLOUT};

			poll(&writable, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		line += n;
		len -= (size_t)n;
	}
	return 0;
}

static int record_put(struct record_log *log, const struct record *record)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (record->failed)
		return -ENOMEM;
	text = json_dumps(record->object, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
	if (!text)
		return -ENOMEM;
	len = strlen(text);
	text[len] = '\n'; /* in place of the NUL */
	r = line_write(log->fd, text, len + 1);
	if (r == 0)
		log->written++;
	return r;
}

int record_write(struct record_log *log, struct record *record)
{
	if (log->error == 0 && log->written >= RECORDS_MAX)
		log->dropped++;
	else if (log->error == 0)
		log->error = record_put(log, record);
	json_decref(record->object);
	record->object = NULL;
	return log->error;
}

int record_end(struct record_log *log, bool flushed, uint64_t lost)
{
	struct timespec now = record_now();
	struct record record = record_begin("end", &now);

	record_number(&record, "records", log->written);
	record_set(&record, "flushed", json_boolean(flushed && !log->dropped && !lost));
	record_number(&record, "dropped", log->dropped);
	record_number(&record, "lost", lost);
	if (log->error == 0)
		log->error = record_put(log, &record);
	json_decref(record.object);
	return log->error;
}
