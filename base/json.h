/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of jansson values: a local that lets go of its reference. */
#ifndef QP_BASE_JSON_H
#define QP_BASE_JSON_H

#include "base/cleanup.h"

#include <jansson.h>

DEFINE_CLEANUP(json, json_t *, json_decref);

#define _cleanup_json_ _cleanup_(json)

#endif
