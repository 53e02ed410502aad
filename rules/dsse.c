// SPDX-License-Identifier: Apache-2.0
/* Envelopes: what is signed, how it is spelt, and how it is read without trusting it. */
#include "rules/dsse.h"

#include "base/cleanup.h"
#include "rules/base64.h"
#include "rules/canon.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int refuse(struct qp_error *err, const char *check, const char *fmt, ...)
{
	char text[QP_ERROR_TEXT_SIZE - 64];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return qp_error_set(err, -EBADMSG, "refused: %s: %s", check, text);
}

unsigned char *dsse_pae(const char *type, const void *payload, size_t len, size_t *ret_len)
{
	size_t room = strlen(type) + len + 64;
	unsigned char *pae = malloc(room);
	int head;

	if (!pae)
		return NULL;
	head = snprintf((char *)pae, room, "DSSEv1 %zu %s %zu ", strlen(type), type, len);
	memcpy(pae + head, payload, len);
	*ret_len = (size_t)head + len;
	return pae;
}

int dsse_sign(const struct key *key, const char *type, const void *payload, size_t len,
	      char **ret_text, size_t *ret_len, struct qp_error *err)
{
	_cleanup_free_ char *body = base64_encode(payload, len), *signature_text = NULL;
	_cleanup_free_ unsigned char *pae = NULL;
	json_auto_t *envelope = NULL;
	unsigned char signature[SIGNATURE_BYTES];
	size_t pae_len;

	pae = dsse_pae(type, payload, len, &pae_len);
	if (!body || !pae)
		return qp_error_set(err, -ENOMEM, "out of memory for the signed receipt");
	if (key_sign(key, pae, pae_len, signature))
		return qp_error_set(err, -EIO, "OpenSSL could not sign");
	signature_text = base64_encode(signature, sizeof(signature));
	if (signature_text)
		envelope =
			json_pack("{s:s, s:s, s:[{s:s, s:s}]}", "payload", body, "payloadType",
				  type, "signatures", "keyid", key_id(key), "sig", signature_text);
	if (!envelope || canon_dump(envelope, ret_text, ret_len))
		return qp_error_set(err, -ENOMEM, "out of memory for the signed receipt");
	return 0;
}

void dsse_clear(struct dsse *dsse)
{
	free(dsse->payload);
	free(dsse->signature);
	*dsse = (struct dsse){0};
}

/* Refuses a member beyond @known, and one that lacks. */
static int members_check(const json_t *object, const char *const *known, const char *at,
			 const char *check, struct qp_error *err)
{
	const char *key;
	json_t *value;

	for (const char *const *name = known; *name; name++)
		if (!json_object_get(object, *name))
			return refuse(err, check, "%s/%s: this member is missing", at, *name);
	json_object_foreach ((json_t *)object, key, value) {
		const char *const *name = known;

		while (*name && strcmp(*name, key) != 0)
			name++;
		if (!*name)
			return refuse(err, check, "%s/%.64s: nobody signed this member", at, key);
	}
	return 0;
}

static int base64_member(const json_t *value, const char *at, const char *check,
			 unsigned char **ret_bytes, size_t *ret_len, struct qp_error *err)
{
	int r = json_is_string(value) ? base64_decode(json_string_value(value),
						      json_string_length(value), ret_bytes, ret_len)
				      : -EINVAL;

	return r == -EINVAL ? refuse(err, check, "%s: this is no base64", at) : r;
}

static int signature_take(const json_t *list, const char *check, struct dsse *dsse,
			  struct qp_error *err)
{
	static const char *const members[] = {"keyid", "sig", NULL};
	const json_t *signature = json_array_get(list, 0);
	int r;

	if (!json_is_array(list) || !json_array_size(list))
		return refuse(err, check, "/signatures: there is no signature");
	if (json_array_size(list) > 1)
		return refuse(err, check, "/signatures/1: there is a second signature");
	if (!json_is_object(signature))
		return refuse(err, check, "/signatures/0: this is no object");
	r = members_check(signature, members, "/signatures/0", check, err);
	if (r)
		return r;
	/* A hint and no more: which key signed is decided by the signature. */
	if (!json_is_string(json_object_get(signature, "keyid")))
		return refuse(err, check, "/signatures/0/keyid: this is no text");
	return base64_member(json_object_get(signature, "sig"), "/signatures/0/sig", check,
			     &dsse->signature, &dsse->signature_len, err);
}

int dsse_parse(const char *text, size_t len, const char *type, const char *check,
	       struct dsse *ret_dsse, struct qp_error *err)
{
	static const char *const members[] = {"payload", "payloadType", "signatures", NULL};
	__attribute__((cleanup(dsse_clear))) struct dsse dsse = {.type = type};
	json_auto_t *envelope = NULL;
	json_error_t error;
	const char *said;
	int r;

	envelope = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!envelope)
		return refuse(err, check, "line %d, column %d: %s", error.line, error.column,
			      error.text);
	if (!json_is_object(envelope) || !json_object_get(envelope, "payload"))
		return refuse(err, check, "/payload: this file is not signed");
	r = members_check(envelope, members, "", check, err);
	if (r)
		return r;
	said = json_string_value(json_object_get(envelope, "payloadType"));
	if (!said || strcmp(said, type) != 0)
		return refuse(err, check, "/payloadType: it says %.100s, not %s",
			      said ? said : "nothing", type);
	r = signature_take(json_object_get(envelope, "signatures"), check, &dsse, err);
	if (!r)
		r = base64_member(json_object_get(envelope, "payload"), "/payload", check,
				  &dsse.payload, &dsse.payload_len, err);
	if (r)
		return r;
	*ret_dsse = dsse;
	dsse = (struct dsse){0};
	return 0;
}

int dsse_verify(const struct dsse *dsse, const struct key *key, const char *check,
		struct qp_error *err)
{
	_cleanup_free_ unsigned char *pae = NULL;
	size_t len;

	pae = dsse_pae(dsse->type, dsse->payload, dsse->payload_len, &len);
	if (!pae)
		return -ENOMEM;
	if (!key_verify(key, pae, len, dsse->signature, dsse->signature_len))
		return refuse(err, check,
			      "/signatures/0/sig: this is not a signature of key %s over these "
			      "bytes",
			      key_id(key));
	return 0;
}

int dsse_payload_json(const struct dsse *dsse, const char *check, json_t **ret_value,
		      struct qp_error *err)
{
	json_error_t error;
	json_t *value = json_loadb((const char *)dsse->payload, dsse->payload_len,
				   JSON_REJECT_DUPLICATES, &error);

	if (!value)
		return refuse(err, check, "payload, line %d, column %d: %s", error.line,
			      error.column, error.text);
	if (!json_is_object(value)) {
		json_decref(value);
		return refuse(err, check, "payload: this is no object");
	}
	*ret_value = value;
	return 0;
}
