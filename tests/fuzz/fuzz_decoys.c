// SPDX-License-Identifier: Apache-2.0
/* A stream searched in one piece and in pieces of any size: the same labels, the same word on
 * whether it was searched to its end. */
#include "base/decoy_scan.h"

#include <string.h>

#define VALUES "{\"a\": \"abcdefgh\", \"b\": \"npm_0123456789\", \"c\": \"k?>k?>~..//++\"}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct decoys *decoys;
	struct decoy_scan whole = {}, cut = {};
	struct decoy_hits name = {};
	size_t piece;

	if (!decoys) {
		json_t *values = json_loads(VALUES, 0, NULL);

		require(decoys_new(values, &decoys, NULL) == 0);
		json_decref(values);
	}
	if (len < 2)
		return 0;
	piece = data[0] + 1u;
	data++;
	len--;
	decoy_scan_feed(&whole, decoys, data, len, true);
	for (size_t at = 0; at < len; at += piece)
		decoy_scan_feed(&cut, decoys, data + at, len - at < piece ? len - at : piece, true);
	require(whole.hits.labels == cut.hits.labels && whole.unsearched == cut.unsearched);
	require(whole.hits.labels < 8 && whole.hits.ways < 1U << DECOY_WAYS_CNT);
	require(decoy_scan_memory(&whole) == decoy_scan_memory(&cut));
	decoy_scan_end(&whole);
	decoy_scan_end(&cut);
	decoys_search_name(decoys, (const char *)data, len, &name);
	require(name.labels < 8);
	return 0;
}
