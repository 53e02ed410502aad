/* SPDX-License-Identifier: Apache-2.0 */
/* What TLS calls the reasons for which it breaks off. */
#ifndef QP_SINKHOLE_TLS_ALERT_H
#define QP_SINKHOLE_TLS_ALERT_H

/* The name of an alert (RFC 8446 section 6, in TLS 1.2 RFC 5246 section 7.2); "unknown" for
 * a number that has none. */
const char *tls_alert_name(int number);

#endif
