// SPDX-License-Identifier: Apache-2.0
/* Envelopes and bundles from anyone: what is read is bounded, has one spelling, and is never
 * taken for signed by a key that signed nothing. */
#include "rules/bundle.h"
#include "rules/canon.h"
#include "rules/difference.h"
#include "rules/dsse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

static const struct key *the_key(void)
{
	static struct key *key;

	if (!key)
		require(key_generate(&key, NULL) == 0);
	return key;
}

/* Canonical text is read back as the value it was made of. */
static void try_payload(const struct dsse *dsse)
{
	struct difference difference;
	struct qp_error err = {0};
	json_t *value, *again;
	char *text;
	size_t len;
	int r = dsse_payload_json(dsse, "statement", &value, &err);

	if (r) {
		require(strncmp(err.text, "refused: statement: ", 20) == 0);
		return;
	}
	require(difference_find(value, value, &difference) <= 0);
	if (canon_dump(value, &text, &len) == 0) {
		again = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
		require(again != NULL);
		require(difference_find(value, again, &difference) <= 0);
		json_decref(again);
		free(text);
	}
	json_decref(value);
}

static void try_envelope(const uint8_t *bytes, size_t len)
{
	struct qp_error err = {0};
	struct dsse dsse;
	char *text;

	if (dsse_parse((const char *)bytes, len, DSSE_TYPE_STATEMENT, "envelope", &dsse, &err)) {
		require(strncmp(err.text, "refused: envelope: ", 19) == 0);
		return;
	}
	require(dsse_verify(&dsse, the_key(), "signature", &err) != 0);
	text = base64_encode(dsse.payload, dsse.payload_len);
	require(strlen(text) == (dsse.payload_len + 2) / 3 * 4);
	free(text);
	try_payload(&dsse);
	dsse_clear(&dsse);
}

/* A bundle whose first line holds anything is never whole. */
static void try_bundle(const uint8_t *bytes, size_t len)
{
	struct bundle_found found;
	struct qp_error err = {0};
	char path[32];
	int fd = memfd_create("bundle", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	require(bundle_verify(path, the_key(), "", 1, &found, &err) != 0 || len == 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	try_envelope(bytes, len);
	try_bundle(bytes, len);
	return 0;
}
