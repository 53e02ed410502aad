// SPDX-License-Identifier: Apache-2.0
/*
 * "Any address is mine". The table `local` gets a default route, which answers both the
 * question where a packet from the sandbox goes and whether a socket may send from an
 * address. It must then not be asked about packets on their way out, or they would never
 * leave: the rule that asks it first is replaced by one for what comes in.
 */
#include "sinkhole/route.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <netlink/route/route.h>
#include <netlink/route/rule.h>
#include <string.h>
#include <sys/socket.h>

#define RULE_PRIORITY  10
#define LOOPBACK_INDEX 1

DEFINE_CLEANUP(rtnl_route, struct rtnl_route *, rtnl_route_put);
DEFINE_CLEANUP(rtnl_rule, struct rtnl_rule *, rtnl_rule_put);
DEFINE_CLEANUP(rtnl_nexthop, struct rtnl_nexthop *, rtnl_route_nh_free);

/* 0.0.0.0/0 or ::/0 */
static struct nl_addr *address_any(int family)
{
	static const uint8_t zeros[16];
	struct nl_addr *any = nl_addr_build(family, zeros, family == AF_INET ? 4 : 16);

	if (any)
		nl_addr_set_prefixlen(any, 0);
	return any;
}

struct wanted_route {
	int family;
	int ifindex;
	uint32_t table;
	uint8_t type, scope;
	struct nl_addr *dst;	 /* borrowed; NULL: every address */
	struct nl_addr *gateway; /* borrowed, may be NULL */
};

/* A libnl code. */
static int wanted_route_add(struct nl_sock *sock, const struct wanted_route *wanted)
{
	_cleanup_(rtnl_route) struct rtnl_route *route = rtnl_route_alloc();
	_cleanup_(rtnl_nexthop) struct rtnl_nexthop *hop = rtnl_route_nh_alloc();
	_cleanup_nl_addr_ struct nl_addr *any = address_any(wanted->family);
	int r;

	if (!route || !hop || !any)
		return -NLE_NOMEM;
	rtnl_route_nh_set_ifindex(hop, wanted->ifindex);
	if (wanted->gateway) {
		rtnl_route_nh_set_gateway(hop, wanted->gateway);
		rtnl_route_nh_set_flags(hop, RTNH_F_ONLINK);
	}
	r = rtnl_route_set_family(route, (uint8_t)wanted->family);
	if (r == 0)
		r = rtnl_route_set_dst(route, wanted->dst ? wanted->dst : any);
	if (r == 0)
		r = rtnl_route_set_type(route, wanted->type);
	if (r < 0)
		return r;
	rtnl_route_set_table(route, wanted->table);
	rtnl_route_set_scope(route, wanted->scope);
	rtnl_route_set_protocol(route, RTPROT_BOOT);
	rtnl_route_add_nexthop(route, steal_ptr(hop));
	return rtnl_route_add(sock, route, NLM_F_EXCL);
}

int route_add_default(struct nl_sock *sock, int family, int ifindex, struct nl_addr *gateway,
		      struct qp_error *err)
{
	struct wanted_route wanted = {
		.family = family,
		.ifindex = ifindex,
		.table = RT_TABLE_MAIN,
		.type = RTN_UNICAST,
		.scope = gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.gateway = gateway,
	};
	int r = wanted_route_add(sock, &wanted);

	if (r == -NLE_EXIST)
		return -EEXIST;
	return r < 0 ? nl_error_set(err, r, "cannot add a default route") : 0;
}

/* A rule for the table `local`. @interface NULL: the one that a new namespace has. */
static struct rtnl_rule *local_rule(int family, const char *interface)
{
	_cleanup_(rtnl_rule) struct rtnl_rule *rule = rtnl_rule_alloc();

	if (!rule)
		return NULL;
	rtnl_rule_set_family(rule, family);
	rtnl_rule_set_table(rule, RT_TABLE_LOCAL);
	rtnl_rule_set_action(rule, FR_ACT_TO_TBL);
	rtnl_rule_set_prio(rule, interface ? RULE_PRIORITY : 0);
	if (interface && rtnl_rule_set_iif(rule, interface) < 0)
		return NULL;
	return steal_ptr(rule);
}

/* The kernel asks for link-local addresses on the interface that they came in by, where a route
 * by way of the loopback does not count. A libnl code. */
static int link_local_add(struct nl_sock *sock, struct wanted_route local, int ifindex)
{
	_cleanup_nl_addr_ struct nl_addr *link_local = NULL;
	int r = nl_addr_parse("fe80::/10", AF_INET6, &link_local);

	local.ifindex = ifindex;
	local.dst = link_local;
	return r < 0 ? r : wanted_route_add(sock, &local);
}

int route_all_local(struct nl_sock *sock, int family, const char *interface, int ifindex,
		    struct qp_error *err)
{
	struct wanted_route local = {
		.family = family,
		.ifindex = LOOPBACK_INDEX,
		.table = RT_TABLE_LOCAL,
		.type = RTN_LOCAL,
		.scope = RT_SCOPE_HOST,
	};
	_cleanup_(rtnl_rule) struct rtnl_rule *incoming = local_rule(family, interface);
	_cleanup_(rtnl_rule) struct rtnl_rule *first = local_rule(family, NULL);
	int r;

	if (!incoming || !first)
		return qp_error_set(err, -ENOMEM, "out of memory");
	r = wanted_route_add(sock, &local);
	if (r == 0 && family == AF_INET6)
		r = link_local_add(sock, local, ifindex);
	if (r < 0)
		return nl_error_set(err, r, "cannot make every address local");
	r = rtnl_rule_add(sock, incoming, NLM_F_EXCL);
	if (r < 0)
		return nl_error_set(err, r,
				    "cannot add a routing rule; the kernel needs "
				    "CONFIG_IP_MULTIPLE_TABLES and CONFIG_IPV6_MULTIPLE_TABLES");
	r = rtnl_rule_delete(sock, first, 0);
	if (r < 0)
		return nl_error_set(err, r, "cannot remove the first routing rule");
	r = route_add_default(sock, family, ifindex, NULL, err);
	return r == -EEXIST ? 0 : r;
}
