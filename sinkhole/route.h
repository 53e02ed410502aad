/* SPDX-License-Identifier: Apache-2.0 */
/* Routes and rules of one network namespace, over one socket of it. */
#ifndef QP_SINKHOLE_ROUTE_H
#define QP_SINKHOLE_ROUTE_H

#include "sinkhole/nl.h"

#include <stdint.h>

/*
 * Adds a default route of @family by the interface @ifindex; @gateway may be NULL, and
 * need not be on a network of the interface. -EEXIST, without @err, when there is one
 * already.
 */
int route_add_default(struct nl_sock *sock, int family, int ifindex, struct nl_addr *gateway,
		      struct qp_error *err);

/*
 * Makes every address of @family local to this namespace for what comes in by @interface
 * (@ifindex), while what goes out leaves by it too. The kernel then accepts any
 * destination, answers ARP and echo requests for it, and lets sockets send from it.
 */
int route_all_local(struct nl_sock *sock, int family, const char *interface, int ifindex,
		    struct qp_error *err);

#endif
