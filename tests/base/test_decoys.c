// SPDX-License-Identifier: Apache-2.0
/* The spellings were made with python3: base64, gzip, zlib, urllib.parse and json. */
#include "base/decoy_scan.h"

#include <criterion/criterion.h>
#include <string.h>

#define TOKEN "npm_Q7x/K+tZ2mW9rB4sY6uE8aD1cF3gH5jL0pNvQ"
#define ODD   "k?>~?>~>?~?>~?k"

struct spelling {
	const char *text; /* or hexadecimal, when packed */
	bool packed;
	uint64_t labels; /* 1: odd, 2: token */
	uint32_t ways;
};

#define LABEL_ODD   1
#define LABEL_TOKEN 2

static const struct spelling spellings[] = {
	{"x=" TOKEN "&y", false, LABEL_TOKEN, DECOY_PLAIN},
	{"QvNp0Lj5Hg3Fc1Da8Eu6Ys4Br9Wm2Zt+K/x7Q_mpn", false, LABEL_TOKEN, DECOY_REVERSED},
	{"bnBtX1E3eC9LK3RaMm1XOXJCNHNZNnVFOGFEMWNGM2dINWpMMHBOdlEK", false, LABEL_TOKEN,
	 DECOY_BASE64},
	{"YW5wbV9RN3gvSyt0WjJtVzlyQjRzWTZ1RThhRDFjRjNnSDVqTDBwTnZRCg==", false, LABEL_TOKEN,
	 DECOY_BASE64},
	{"YWJucG1fUTd4L0srdFoybVc5ckI0c1k2dUU4YUQxY0YzZ0g1akwwcE52UQo=", false, LABEL_TOKEN,
	 DECOY_BASE64},
	{"az8+fj8+fj4/fj8+fj9r", false, LABEL_ODD, DECOY_BASE64},
	{"az8-fj8-fj4_fj8-fj9r", false, LABEL_ODD, DECOY_BASE64},
	{"NZYG2X2RG54C6SZLORNDE3KXHFZEENDTLE3HKRJYMFCDCY2GGNTUQNLKJQYHATTWKE======", false,
	 LABEL_TOKEN, DECOY_BASE32},
	{"PB4HQ6DOOBWV6UJXPAXUWK3ULIZG2VZZOJBDI42ZGZ2UKODBIQYWGRRTM5EDK2SMGBYE45SR", false,
	 LABEL_TOKEN, DECOY_BASE32},
	{"6e706d5f5137782f4b2b745a326d57397242347359367545386144316346336748356a4c30704e7651",
	 false, LABEL_TOKEN, DECOY_HEX},
	{"6E706D5F5137782F4B2B745A326D57397242347359367545386144316346336748356A4C30704E7651",
	 false, LABEL_TOKEN, DECOY_HEX},
	{"npm_Q7x%2FK%2btZ2mW9rB4sY6uE8aD1cF3gH5jL0pNvQ", false, LABEL_TOKEN,
	 DECOY_PLAIN | DECOY_ESCAPED},
	{"npm_Q7x\\/K\\u002btZ2mW9rB4sY6uE8aD1cF3gH5jL0pNv\\x51", false, LABEL_TOKEN,
	 DECOY_PLAIN | DECOY_ESCAPED},
	/* base64(1) breaks its lines after 76 characters, and a form escapes what it sends. */
	{"bnBtX1E3eC9LK3RaMm1XOXJCNHNZ\nNnVFOGFEMWNGM2dINWpMMHBOdlEK", false, LABEL_TOKEN,
	 DECOY_BASE64 | DECOY_ESCAPED},
	{"{\"a\":\"bnBtX1E3eC9LK3RaMm1XOXJCNHNZ\\r\\nNnVFOGFEMWNGM2dINWpMMHBOdlEK\"}", false,
	 LABEL_TOKEN, DECOY_BASE64 | DECOY_ESCAPED},
	{"az8%2Bfj8%2bfj4%2ffj8%2Bfj9r", false, LABEL_ODD, DECOY_BASE64 | DECOY_ESCAPED},
	/* The line "//npm.example/:_authToken=TOKEN": gzip, zlib, bare deflate. */
	{"1f8b0800000000000203d3d7cf2bc8d54bad48cc2dc849d5b78a4f2c2dc908c9cf4ecdb3058ac7079a57"
	 "e87b6b974419e5865b16399914479a95ba5a24ba1826bb19a77b9866f91814f8950572010096e2e5c94400"
	 "0000",
	 true, LABEL_TOKEN, DECOY_PLAIN | DECOY_COMPRESSED},
	{"78dad3d7cf2bc8d54bad48cc2dc849d5b78a4f2c2dc908c9cf4ecdb3058ac7079a57e87b6b974419e586"
	 "5b16399914479a95ba5a24ba1826bb19a77b9866f91814f8950572010031c316af",
	 true, LABEL_TOKEN, DECOY_PLAIN | DECOY_COMPRESSED},
	{"d3d7cf2bc8d54bad48cc2dc849d5b78a4f2c2dc908c9cf4ecdb3058ac7079a57e87b6b974419e5865b16"
	 "399914479a95ba5a24ba1826bb19a77b9866f91814f89505720100",
	 true, LABEL_TOKEN, DECOY_PLAIN | DECOY_COMPRESSED},
};
#define SPELLINGS_CNT (sizeof(spellings) / sizeof(*spellings))

static struct decoys *decoys_of(const char *text)
{
	json_t *values = json_loads(text, 0, NULL);
	struct decoys *decoys = NULL;
	struct qp_error err = {};

	cr_assert_eq(decoys_new(values, &decoys, &err), 0, "%s", err.text);
	json_decref(values);
	return decoys;
}

static struct decoys *two_decoys(void)
{
	return decoys_of("{\"token\": \"" TOKEN "\", \"odd\": \"" ODD "\"}");
}

/* The bytes of a spelling; their number in *ret_len. */
static unsigned char *bytes_of(const struct spelling *spelling, size_t *ret_len)
{
	size_t len = strlen(spelling->text) / (spelling->packed ? 2 : 1);
	unsigned char *bytes = malloc(len);
	unsigned value;

	for (size_t i = 0; i < len; i++) {
		value = (unsigned char)spelling->text[i];
		if (spelling->packed)
			cr_assert_eq(sscanf(spelling->text + 2 * i, "%2x", &value), 1);
		bytes[i] = (unsigned char)value;
	}
	*ret_len = len;
	return bytes;
}

/* Feeds in pieces of @piece bytes. */
static struct decoy_hits scan_in(const struct decoys *decoys, const unsigned char *bytes,
				 size_t len, size_t piece, bool body)
{
	struct decoy_scan scan = {};

	for (size_t at = 0; at < len; at += piece)
		decoy_scan_feed(&scan, decoys, bytes + at, len - at < piece ? len - at : piece,
				body);
	decoy_scan_end(&scan);
	cr_expect(!scan.unsearched);
	return scan.hits;
}

Test(decoys, finds_every_spelling_however_it_is_cut)
{
	_cleanup_decoys_ struct decoys *decoys = two_decoys();

	for (size_t i = 0; i < SPELLINGS_CNT; i++) {
		_cleanup_free_ unsigned char *bytes = NULL;
		size_t len;

		bytes = bytes_of(&spellings[i], &len);
		for (size_t piece = 1; piece <= len; piece++) {
			struct decoy_hits hits = scan_in(decoys, bytes, len, piece, true);

			cr_assert_eq(hits.labels, spellings[i].labels, "%zu in %zu", i, piece);
			cr_assert_eq(hits.ways, spellings[i].ways, "%zu in %zu: %#x", i, piece,
				     hits.ways);
		}
	}
}

Test(decoys, finds_no_value_with_one_byte_changed)
{
	_cleanup_decoys_ struct decoys *decoys = two_decoys();
	char text[] = TOKEN;

	for (size_t i = 0; i < strlen(TOKEN); i++) {
		struct decoy_hits hits;

		text[i] ^= 1;
		hits = scan_in(decoys, (unsigned char *)text, strlen(text), 7, false);
		cr_expect_eq(hits.labels, 0, "byte %zu", i);
		text[i] ^= 1;
	}
}

Test(decoys, finds_gzip_in_the_middle_of_a_stream)
{
	_cleanup_decoys_ struct decoys *decoys = two_decoys();
	_cleanup_free_ unsigned char *packed = NULL;
	unsigned char text[512] = "--bound\r\nContent-Type: x\r\n\r\n\x1f\x1f\x8b";
	size_t len, head = strlen((char *)text);

	packed = bytes_of(&spellings[SPELLINGS_CNT - 3], &len);
	memcpy(text + head, packed, len);
	memcpy(text + head + len, "\r\n--bound--", 11);
	for (size_t piece = 1; piece < 60; piece++) {
		struct decoy_hits hits = scan_in(decoys, text, head + len + 11, piece, true);

		cr_expect_eq(hits.labels, LABEL_TOKEN, "pieces of %zu", piece);
	}
}

Test(decoys, finds_values_that_names_are_made_of)
{
	_cleanup_decoys_ struct decoys *decoys = two_decoys();
	static const struct {
		const char *name;
		uint32_t ways;
	} names[] = {
		{"6e706d5f5137782f4b2b745a326d57397242347359367545386144316346336.748356a4c30704e76"
		 "51.t.example",
		 DECOY_HEX},
		{"6E706d5f5137782F4B2b745A326D57397242347359367545386144316346336.748356A4c30704E76"
		 "51.t.example",
		 DECOY_HEX},
		{"0.nzyg2x2rg54c6szlornde3kxhfzeendtle3hkrjymfcd.cy2ggntuqnlkjqyhattwke.example",
		 DECOY_BASE32},
		{"npm_q7X/K+tZ2mW9rB4s.Y6uE8aD1cF3gH5jL0pNvQ.example", DECOY_PLAIN},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct decoy_hits hits = {};

		decoys_search_name(decoys, names[i].name, strlen(names[i].name), &hits);
		cr_expect_eq(hits.labels, LABEL_TOKEN, "%s", names[i].name);
		cr_expect_eq(hits.ways, names[i].ways, "%s", names[i].name);
	}
}

Test(decoys, says_that_what_unpacks_without_end_was_not_searched)
{
	_cleanup_decoys_ struct decoys *decoys = two_decoys();
	struct decoy_scan scan = {};
	unsigned char zeros[16384] = {};

	/* A stored block of 65,535 bytes at a time needs no code table: RFC 1951, 3.2.4. */
	decoy_scan_feed(&scan, decoys, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10, false);
	for (int block = 0; block < 257 && !scan.unsearched; block++) {
		decoy_scan_feed(&scan, decoys, "\0\xff\xff\0\0", 5, false);
		for (int i = 0; i < 4; i++)
			decoy_scan_feed(&scan, decoys, zeros, i < 3 ? 16384 : 16383, false);
	}
	cr_expect(scan.unsearched);
	cr_expect_eq(decoy_scan_memory(&scan), 0);
	decoy_scan_end(&scan);
}

Test(decoys, names_labels_in_order_and_ways)
{
	_cleanup_decoys_ struct decoys *decoys = two_decoys();
	struct decoy_hits hits = {LABEL_ODD | LABEL_TOKEN, DECOY_PLAIN | DECOY_COMPRESSED};
	json_t *labels = decoys_labels(decoys, &hits), *ways = decoys_ways(&hits);
	json_t *wanted = json_pack("[[s, s], [s, s]]", "odd", "token", "plain", "compressed");

	cr_expect(json_equal(labels, json_array_get(wanted, 0)));
	cr_expect(json_equal(ways, json_array_get(wanted, 1)));
	json_decref(labels);
	json_decref(ways);
	json_decref(wanted);
}

Test(decoys, refuses_what_is_no_table_of_values)
{
	static const char *const bad[] = {
		"[]",
		"{\"a\": 1}",
		"{\"a\": \"short\"}",
		"{\"\": \"long enough\"}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		json_t *values = json_loads(bad[i], 0, NULL);
		struct decoys *decoys = NULL;
		struct qp_error err = {};

		cr_expect_eq(decoys_new(values, &decoys, &err), -EINVAL, "%s", bad[i]);
		cr_expect_neq(err.text[0], '\0');
		json_decref(values);
	}
}

Test(decoys, searches_nothing_without_decoys)
{
	struct decoy_hits hits = {};

	cr_expect(decoys_search(NULL, TOKEN, strlen(TOKEN), &hits));
	decoys_search_name(NULL, "a.example", 9, &hits);
	cr_expect_eq(hits.labels, 0);
}
