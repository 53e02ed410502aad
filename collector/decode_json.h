/* SPDX-License-Identifier: Apache-2.0 */
/* Raw bytes and fields of kernel events as JSON. */
#ifndef QP_COLLECTOR_DECODE_JSON_H
#define QP_COLLECTOR_DECODE_JSON_H

#include "base/json.h"
#include "collector/decode_event.h"

#include <jansson.h>

/* The escaped spelling as a JSON string; NULL when out of memory. */
json_t *json_escaped(const void *bytes, size_t len);

/* The same for a C string; null for NULL. */
json_t *json_escaped_text(const char *text);

/* Arguments, each with its NUL (the last one's may be cut off), as an array. */
json_t *json_argv(const void *bytes, size_t len);

/* The text of a member, or NULL when it is no string. Borrowed. */
const char *json_member_text(const json_t *object, const char *key);

/* The member's number, or @otherwise when it is no integer. */
json_int_t json_member_int(const json_t *object, const char *key, json_int_t otherwise);

/* The member's escaped text as raw bytes: a new string, or NULL when it is none, is not so
 * spelt, or has a NUL inside. */
char *json_member_raw(const json_t *object, const char *key);

#endif
