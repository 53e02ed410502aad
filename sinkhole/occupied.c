// SPDX-License-Identifier: Apache-2.0
/* Dumps of routes and links, read. */
#include "sinkhole/occupied.h"

#include "sinkhole/record.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/cache.h>
#include <netlink/route/link.h>
#include <netlink/route/route.h>
#include <string.h>

#define LOOPBACK_INDEX 1
#define ADDRESS_SIZE   64

DEFINE_CLEANUP(nl_cache, struct nl_cache *, nl_cache_free);

/* Of the tables that every packet's way is looked up in. */
static bool route_counts(struct rtnl_route *route, int family)
{
	uint32_t table = rtnl_route_get_table(route);

	return rtnl_route_get_family(route) == family &&
	       (table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL);
}

static int overlap_error(struct nl_addr *own, struct nl_addr *dst, struct qp_error *err)
{
	bool ipv4 = nl_addr_get_family(own) == AF_INET;
	char ours[ADDRESS_SIZE], theirs[ADDRESS_SIZE];

	return qp_error_set(err, -EADDRINUSE,
			    "the sandbox has a route to %s already, which shares addresses with "
			    "%s; choose others with %s and %s",
			    nl_addr2str(dst, theirs, sizeof(theirs)),
			    nl_addr2str(own, ours, sizeof(ours)), ipv4 ? "--address" : "--address6",
			    ipv4 ? "--gateway" : "--gateway6");
}

int occupied_routes(struct nl_sock *sock, int family, struct nl_addr *own, bool *ret_default,
		    struct qp_error *err)
{
	_cleanup_(nl_cache) struct nl_cache *cache = NULL;
	int r = rtnl_route_alloc_cache(sock, family, 0, &cache);
	bool found = false;

	if (r < 0)
		return nl_error_set(err, r, "cannot read the sandbox's routes");
	for (struct nl_object *at = nl_cache_get_first(cache); at; at = nl_cache_get_next(at)) {
		struct rtnl_route *route = (struct rtnl_route *)at;
		struct nl_addr *dst = rtnl_route_get_dst(route);

		if (!route_counts(route, family))
			continue;
		if (!dst || !nl_addr_get_prefixlen(dst))
			found = true;
		else if (nl_addr_cmp_prefix(dst, own) == 0)
			return overlap_error(own, dst, err);
	}
	*ret_default = found;
	return 0;
}

int occupied_links(struct nl_sock *sock, json_t **ret_names, struct qp_error *err)
{
	_cleanup_(nl_cache) struct nl_cache *cache = NULL;
	json_auto_t *names = json_array();
	int r = rtnl_link_alloc_cache(sock, AF_UNSPEC, &cache);

	if (r < 0)
		return nl_error_set(err, r, "cannot read the sandbox's links");
	for (struct nl_object *at = nl_cache_get_first(cache); at; at = nl_cache_get_next(at)) {
		struct rtnl_link *link = (struct rtnl_link *)at;
		const char *name = rtnl_link_get_name(link);

		if (rtnl_link_get_ifindex(link) == LOOPBACK_INDEX || !name ||
		    !(rtnl_link_get_flags(link) & IFF_UP))
			continue;
		if (json_array_append_new(names, record_escaped(name, strlen(name))) < 0)
			return qp_error_set(err, -ENOMEM, "out of memory");
	}
	if (!names)
		return qp_error_set(err, -ENOMEM, "out of memory");
	*ret_names = json_incref(names);
	return 0;
}
