// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence logs from anyone, all the way to receipt and statement. The first byte says
 * whether the rest is the file itself or what its gzip member holds after the head.
 */
#include "collector/decode.h"
#include "collector/log_format.h"
#include "rules/canon.h"
#include "rules/receipt.h"
#include "rules/statement.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

/* A whole gzip member of the head and @bytes. */
static unsigned char *framed(const uint8_t *bytes, size_t len, size_t *ret_len)
{
	unsigned char head[LOG_HEAD_BYTES];
	z_stream zlib = {0};
	unsigned char *out;
	size_t room = len + 1024;

	memcpy(head, LOG_MAGIC, LOG_MAGIC_BYTES);
	put_le32(head + LOG_MAGIC_BYTES, LOG_VERSION);
	out = malloc(room);
	require(out && deflateInit2(&zlib, Z_NO_COMPRESSION, Z_DEFLATED, LOG_ZLIB_GZIP_BITS, 8,
				    Z_DEFAULT_STRATEGY) == Z_OK);
	zlib.next_out = out;
	zlib.avail_out = (uInt)room;
	zlib.next_in = head;
	zlib.avail_in = sizeof(head);
	require(deflate(&zlib, Z_NO_FLUSH) == Z_OK);
	zlib.next_in = (unsigned char *)bytes;
	zlib.avail_in = (uInt)len;
	require(deflate(&zlib, Z_FINISH) == Z_STREAM_END);
	*ret_len = room - zlib.avail_out;
	deflateEnd(&zlib);
	return out;
}

/* Whatever the log holds: no install unless everything was seen. */
static void try_facts(const struct run_facts *facts)
{
	static const char zeros[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	const char *default_text = ruleset_default_text();
	struct claim_source source = {.facts = facts, .rules_sha256 = zeros};
	struct ruleset *rules;
	json_t *receipt, *statement, *record;
	bool complete = true;
	char *text;
	size_t len;

	require(ruleset_parse(default_text, strlen(default_text), "default", &rules, NULL) == 0);
	if (receipt_build(facts, rules, &receipt, NULL)) {
		ruleset_free(rules);
		return;
	}
	for (int i = 0; i < MARKER_CNT; i++)
		complete = complete && facts->markers[i].ok;
	require(complete ||
		strcmp(json_string_value(json_object_get(receipt, "verdict")), "install") != 0);
	source.receipt = receipt;
	record = runrecord_build(&source, zeros);
	statement = statement_build(&source, zeros);
	require(record && statement);
	require(complete || json_is_false(json_object_get(json_object_get(statement, "predicate"),
							  "complete")));
	if (canon_dump(statement, &text, &len) == 0)
		free(text);
	json_decref(statement);
	json_decref(record);
	json_decref(receipt);
	ruleset_free(rules);
}

static void try_log(const void *bytes, size_t len)
{
	struct log_reader *reader;
	struct run_facts facts;

	if (log_reader_open_memory(bytes, len, &reader, NULL))
		return;
	require(decode_log(reader, &facts, NULL) == 0);
	require(strlen(facts.log_sha256) == SHA256_HEX_SIZE - 1 && facts.log_bytes == len);
	log_reader_free(reader);
	try_facts(&facts);
	run_facts_clear(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	unsigned char *log;
	size_t log_len;

	if (!len)
		return 0;
	if (bytes[0] % 2) {
		try_log(bytes + 1, len - 1);
		return 0;
	}
	log = framed(bytes + 1, len - 1, &log_len);
	try_log(log, log_len);
	free(log);
	return 0;
}
