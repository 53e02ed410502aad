/* SPDX-License-Identifier: Apache-2.0 */
/* Name look-ups inside other protocols, and the protocols that hide them. */
#ifndef QP_SINKHOLE_HIDDEN_DNS_H
#define QP_SINKHOLE_HIDDEN_DNS_H

#include "sinkhole/endpoint.h"
#include "sinkhole/http.h"
#include "sinkhole/tls.h"

/* "dot" (RFC 7858), "doh" (RFC 8484, by the names and addresses of public resolvers), or
 * NULL. */
const char *hidden_dns_tls(const struct endpoint *dst, const struct tls_hello *hello);

/* "doh" for that path, NULL for any other. */
const char *hidden_dns_path(const char *path, size_t len);

/* "doh" for a request to the path that RFC 8484 gives as its example, or NULL. */
const char *hidden_dns_http(const struct http_head *head, const char *bytes);

/* Whether a datagram begins a QUIC connection: a long header (RFC 8999 section 5.1) of a
 * version that is in use. */
bool quic_looks_like(const uint8_t *bytes, size_t len, uint32_t *ret_version);

/* "doq" (RFC 9250) for QUIC to its port, or NULL. */
const char *hidden_dns_quic(const struct endpoint *dst);

#endif
