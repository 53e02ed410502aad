/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox's network namespace has already: links and routes that somebody else made
 * there. They are looked at and left as they are.
 */
#ifndef QP_SINKHOLE_OCCUPIED_H
#define QP_SINKHOLE_OCCUPIED_H

#include "sinkhole/nl.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * Looks through the routes of @family for a default route (*ret_default), and for one that
 * shares addresses with the network of @own: there one of the two would lose what is sent to
 * it, so that is -EADDRINUSE, with @err. @sock is of the sandbox's namespace.
 */
int occupied_routes(struct nl_sock *sock, int family, struct nl_addr *own, bool *ret_default,
		    struct qp_error *err);

/* The names, escaped, of the links that are up, but for the loopback: a new array. */
int occupied_links(struct nl_sock *sock, json_t **ret_names, struct qp_error *err);

#endif
