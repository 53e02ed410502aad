/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire between sandbox and sinkhole: a veth pair, its addresses, the routes on both
 * sides. What leaves the sandbox arrives at the sinkhole, whatever its destination, and can
 * go nowhere else.
 */
#ifndef QP_SINKHOLE_LINK_H
#define QP_SINKHOLE_LINK_H

#include "sinkhole/nl.h"

#include <jansson.h>
#include <stdbool.h>

/* The sinkhole's end of the pair, in its own namespace. */
#define LINK_SINKHOLE_NAME "eth0"

/* The sandbox's interface and the machine it seems to be plugged into. */
struct link_config {
	const char *interface; /* the sandbox's end */
	/* With a prefix length; NULL together with the gateway: none of that family. */
	const char *address4, *gateway4;
	const char *address6, *gateway6;
};

/* What the sandbox had before, and has still. */
struct link_found {
	bool default_route; /* of a family that it was to get one of */
	json_t *others;	    /* owned: the names of its links that are up */
};

/*
 * Makes the pair, brings both ends and both loopbacks up, gives the sandbox its addresses
 * and, where it has none, default routes. The caller is in the namespace of @own_fd, which
 * must be new, and is there again afterwards, also on failure as far as the kernel lets it.
 * -EADDRINUSE when the sandbox has routes that would get in each other's way with these.
 */
int link_setup(const struct link_config *config, int own_fd, int sandbox_fd,
	       struct link_found *ret_found, struct qp_error *err);

#endif
