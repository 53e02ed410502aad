/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble of a log that qp-collect writes. */
#ifndef QP_COLLECTOR_PREAMBLE_H
#define QP_COLLECTOR_PREAMBLE_H

#include <jansson.h>

/* The members that do not depend on the group; NULL when out of memory. */
json_t *preamble_collect(const char *tier);

#endif
