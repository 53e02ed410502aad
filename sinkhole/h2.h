/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/2 (RFC 9113) on one connection: each request answered and recorded as one of HTTP/1
 * is. The framing and its compression are nghttp2's. */
#ifndef QP_SINKHOLE_H2_H
#define QP_SINKHOLE_H2_H

#include "sinkhole/conn_internal.h"

/* The connection preface of RFC 9113 section 3.4. */
#define H2_PREFACE_LEN 24

struct h2;

/* Whether @bytes are the preface, or what there is of it. */
bool h2_looks_like(const char *bytes, size_t len);

/* 0 and conn->h2, or -ENOMEM. */
int h2_begin(struct conn *conn);

/* What the client sent next, the preface first. */
void h2_feed(struct conn *conn, const char *bytes, size_t len);

/* Records the requests that are not over, and what no request explains. */
void h2_end(struct conn *conn, bool early);

void h2_free(struct h2 *h2);

/* Bytes that it holds, roughly. */
size_t h2_memory(const struct h2 *h2);

#endif
