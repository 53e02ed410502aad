// SPDX-License-Identifier: Apache-2.0
/* Receipts from anyone: printed, made a page of, compared and scanned, whatever their types. */
#include "rules/canon.h"
#include "rules/secretscan.h"
#include "tools/diff/diff.h"
#include "tools/show/html.h"
#include "tools/show/summary.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

/* Nothing of a receipt's text may act on a terminal. */
static void require_inert(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		require((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
}

static void try_print(const json_t *receipt)
{
	const struct summary_options options = {.all = true, .folder = "f", .signature = "s"};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	require(out != NULL);
	summary_print(out, receipt, &options);
	fclose(out);
	require_inert(text, len);
	free(text);
	out = open_memstream(&text, &len);
	require(out && html_print(out, receipt) == 0);
	fclose(out);
	require(!memmem(text, len, "<script", 7));
	free(text);
}

/* A receipt tells nothing that it does not tell itself. */
static void try_compare(const json_t *receipt)
{
	json_t *diff;

	if (diff_build(receipt, receipt, &diff))
		return;
	require(diff_is_same(diff));
	json_decref(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	json_t *receipt = json_loadb((const char *)bytes, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *scan;
	char *text;
	size_t text_len;

	if (!receipt)
		return 0;
	if (json_is_object(receipt)) {
		try_print(receipt);
		try_compare(receipt);
	}
	if (secretscan_json(receipt, &scan) == 0)
		json_decref(scan);
	if (canon_dump(receipt, &text, &text_len) == 0)
		free(text);
	json_decref(receipt);
	return 0;
}
