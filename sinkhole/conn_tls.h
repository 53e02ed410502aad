/* SPDX-License-Identifier: Apache-2.0 */
/* TLS that is answered: what a connection carries under it is read like any other. */
#ifndef QP_SINKHOLE_CONN_TLS_H
#define QP_SINKHOLE_CONN_TLS_H

#include "sinkhole/conn_internal.h"

/* Answers the ClientHello, conn->hello, that is in the buffer with what followed it. False
 * when there is no memory for it; nothing has changed then. */
bool conn_tls_begin(struct conn *conn);

/* The next bytes of the wire. */
void conn_tls_feed(struct conn *conn, const char *bytes, size_t len);

/* Sends under TLS. */
void conn_tls_send(struct conn *conn, const void *bytes, size_t len);

/* Says goodbye under TLS. */
void conn_tls_close(struct conn *conn);

/* Writes down what came of a record that is not whole, once the handshake is over. */
void conn_tls_finish(struct conn *conn, bool early);

/* The members that a record of TLS which was answered has beyond those of the ClientHello. */
void conn_tls_members(struct record *record, const struct conn *conn);

#endif
