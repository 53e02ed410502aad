/* SPDX-License-Identifier: Apache-2.0 */
/* The running sinkhole: one loop over listeners, packets, connections and signals. */
#ifndef QP_SINKHOLE_SERVICE_H
#define QP_SINKHOLE_SERVICE_H

#include "base/cleanup.h"
#include "sinkhole/listen.h"
#include "sinkhole/nflog.h"
#include "sinkhole/record.h"

/* The NFLOG group, in the sinkhole's own namespace. */
#define SERVICE_NFLOG_GROUP 1

struct service;
struct respond;
struct tls_server;

/*
 * Takes over the descriptors of @listeners and @signal_fd, also on failure; @log and @decoys,
 * which may be NULL, are borrowed. Opens what else is needed in the caller's network namespace. The
 * ruleset comes after it, so that no packet is logged unheard.
 */
int service_new(const struct listeners *listeners, int signal_fd, struct record_log *log,
		const struct decoys *decoys, size_t conns_max, struct service **ret_service,
		struct qp_error *err);
void service_free(struct service *service);

DEFINE_CLEANUP(service, struct service *, service_free);
#define _cleanup_service_ _cleanup_(service)

/* What HTTP requests are answered with; borrowed. */
void service_set_respond(struct service *service, const struct respond *respond);

/* Who answers TLS, NULL: it is refused; borrowed. */
void service_set_tls(struct service *service, struct tls_server *server);

/*
 * Serves until a signal arrives, then takes in what has arrived, records every open
 * connection and writes `end`. 0, or a negative errno with @err when records could not be
 * written or the loop broke.
 */
int service_run(struct service *service, struct qp_error *err);

#endif
