/* SPDX-License-Identifier: Apache-2.0 */
/* What qp cannot show, as every receipt says it. */
#ifndef QP_RULES_LIMITATIONS_H
#define QP_RULES_LIMITATIONS_H

#include <jansson.h>

#include <stdbool.h>

/* The receipt's knownLimitations: those of every run, and those of this run's tier, of its
 * mode of TLS and, @env, of reads of the environment being watched or not. A new array, NULL
 * when out of memory. */
json_t *limitations_json(const char *tier, const char *tls, bool env);

#endif
