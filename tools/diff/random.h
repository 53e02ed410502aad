/* SPDX-License-Identifier: Apache-2.0 */
/* Telling made-up parts of names (times, pids, random suffixes) from chosen ones. */
#ifndef QP_TOOLS_DIFF_RANDOM_H
#define QP_TOOLS_DIFF_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes at @text that spell a time of day, "2026-11-30T19:26:52.348Z", also with '_' for
 * what a file name cannot hold; 0 if none does. */
size_t random_time_len(const char *text);

/* 36 for a UUID at @text, otherwise 0. */
size_t random_uuid_len(const char *text);

/* Whether the @len letters and digits at @part are a random part of a temporary name; with
 * @loose, whether they could be. */
bool random_is_part(const char *part, size_t len, bool loose);

/* Whether a DNS label of @len bytes holds data rather than words. */
bool random_is_label(const char *label, size_t len);

#endif
