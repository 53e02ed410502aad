// SPDX-License-Identifier: Apache-2.0
/* The veth pair and both of its ends. */
#include "sinkhole/link.h"

#include "sinkhole/netns.h"
#include "sinkhole/occupied.h"
#include "sinkhole/route.h"

#include <linux/if_addr.h>
#include <net/if.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <string.h>

#define LOOPBACK_INDEX 1
/* Answers come from addresses that nobody was given. To ask for the sandbox's neighbour entry
 * a kernel then uses a link-local address, and does not ask at all without one (ndisc_send_ns
 * in net/ipv6/ndisc.c). */
#define LINK_LOCAL	 "fe80::1/64"
#define SYSCTL_PATH_SIZE (IFNAMSIZ + 64)

DEFINE_CLEANUP(rtnl_link, struct rtnl_link *, rtnl_link_put);
DEFINE_CLEANUP(rtnl_addr, struct rtnl_addr *, rtnl_addr_put);

static int pair_make(struct nl_sock *sock, const char *interface, int sandbox_fd,
		     struct qp_error *err)
{
	_cleanup_(rtnl_link) struct rtnl_link *link = rtnl_link_veth_alloc();
	_cleanup_(rtnl_link) struct rtnl_link *peer = link ? rtnl_link_veth_get_peer(link) : NULL;
	int r;

	if (!link || !peer)
		return qp_error_set(err, -ENOMEM, "out of memory");
	rtnl_link_set_name(link, LINK_SINKHOLE_NAME);
	rtnl_link_set_name(peer, interface);
	rtnl_link_set_ns_fd(peer, sandbox_fd);
	r = rtnl_link_add(sock, link, NLM_F_CREATE | NLM_F_EXCL);
	if (r == -NLE_EXIST)
		return qp_error_set(err, -EEXIST,
				    "the sandbox has an interface %s already; remove it or choose "
				    "another name with --interface (or wait a moment, if a "
				    "sinkhole there has just ended)",
				    interface);
	return r < 0 ? nl_error_set(err, r,
				    "cannot make a veth pair; the kernel needs the module veth")
		     : 0;
}

static int link_up(struct nl_sock *sock, int ifindex, struct qp_error *err)
{
	_cleanup_(rtnl_link) struct rtnl_link *link = rtnl_link_alloc();
	_cleanup_(rtnl_link) struct rtnl_link *changes = rtnl_link_alloc();
	int r;

	if (!link || !changes)
		return qp_error_set(err, -ENOMEM, "out of memory");
	rtnl_link_set_ifindex(link, ifindex);
	rtnl_link_set_flags(changes, IFF_UP);
	r = rtnl_link_change(sock, link, changes, 0);
	return r < 0 ? nl_error_set(err, r, "cannot bring an interface up") : 0;
}

static int address_parse(const char *text, int family, struct nl_addr **ret_addr,
			 struct qp_error *err)
{
	int r = nl_addr_parse(text, family, ret_addr);

	if (r < 0)
		return qp_error_set(err, -EINVAL, "'%s' is no %s address", text,
				    family == AF_INET ? "IPv4" : "IPv6");
	return 0;
}

/* The highest address of an IPv4 network, as a DHCP client would set it. */
static struct nl_addr *broadcast_of(struct nl_addr *address)
{
	unsigned prefix = nl_addr_get_prefixlen(address);
	struct nl_addr *broadcast = nl_addr_clone(address);
	uint8_t *bytes = broadcast ? nl_addr_get_binary_addr(broadcast) : NULL;

	for (unsigned bit = prefix; bytes && bit < 32; bit++)
		bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	if (broadcast)
		nl_addr_set_prefixlen(broadcast, 32);
	return broadcast;
}

/*
 * IPv6 addresses work at once, without duplicate address detection, and bring no route to
 * their network: no neighbour would answer there, so the gateway must be asked.
 */
static int address_add(struct nl_sock *sock, int family, int ifindex, struct nl_addr *address,
		       struct qp_error *err)
{
	_cleanup_(rtnl_addr) struct rtnl_addr *object = rtnl_addr_alloc();
	_cleanup_nl_addr_ struct nl_addr *broadcast = NULL;
	int r;

	if (!object)
		return qp_error_set(err, -ENOMEM, "out of memory");
	rtnl_addr_set_ifindex(object, ifindex);
	r = rtnl_addr_set_local(object, address);
	if (r == 0 && family == AF_INET && nl_addr_get_prefixlen(address) < 31) {
		broadcast = broadcast_of(address);
		r = broadcast ? rtnl_addr_set_broadcast(object, broadcast) : -NLE_NOMEM;
	}
	if (family == AF_INET6)
		rtnl_addr_set_flags(object, IFA_F_NODAD | IFA_F_NOPREFIXROUTE);
	if (r == 0)
		r = rtnl_addr_add(sock, object, 0);
	return r < 0 ? nl_error_set(err, r, "cannot give the interface its address") : 0;
}

static void interface_sysctl(const char *family, const char *interface, const char *name,
			     const char *value)
{
	char path[SYSCTL_PATH_SIZE];

	/* What a kernel lacks here costs at most noise; addresses and routes are checked. */
	snprintf(path, sizeof(path), "%s/conf/%s/%s", family, interface, name);
	netns_sysctl(path, value);
}

/* Before the interface comes up: no link-local address and no router solicitation, which
 * would be noise in the record of a package. */
static void interface_quiet(const char *interface)
{
	interface_sysctl("ipv6", interface, "disable_ipv6", "0");
	interface_sysctl("ipv6", interface, "accept_dad", "0");
	interface_sysctl("ipv6", interface, "accept_ra", "0");
	interface_sysctl("ipv6", interface, "addr_gen_mode", "1");
}

/* One family of the sandbox's interface: an address, and the way out unless it has one. */
static int family_add(struct nl_sock *sock, int family, int ifindex, const char *address,
		      const char *gateway, bool *default_route, struct qp_error *err)
{
	_cleanup_nl_addr_ struct nl_addr *own = NULL, *hop = NULL;
	bool present = false;
	int r = address_parse(address, family, &own, err);

	if (r == 0)
		r = address_parse(gateway, family, &hop, err);
	if (r == 0)
		r = occupied_routes(sock, family, own, &present, err);
	if (r == 0)
		r = address_add(sock, family, ifindex, own, err);
	if (r == 0 && !present)
		r = route_add_default(sock, family, ifindex, hop, err);
	*default_route |= present || r == -EEXIST;
	return r == -EEXIST ? 0 : r;
}

/* In the sandbox's namespace. */
static int sandbox_side(const struct link_config *config, struct link_found *found,
			struct qp_error *err)
{
	_cleanup_nl_sock_ struct nl_sock *sock = NULL;
	int r = nl_open(NETLINK_ROUTE, &sock, err), ifindex;

	if (r < 0)
		return r;
	ifindex = (int)if_nametoindex(config->interface);
	if (!ifindex)
		return qp_error_set(err, -errno, "%s: %s", config->interface, strerror(errno));
	r = occupied_links(sock, &found->others, err);
	if (r < 0)
		return r;
	netns_sysctl("ipv6/conf/lo/disable_ipv6", "0");
	interface_quiet(config->interface);
	r = link_up(sock, LOOPBACK_INDEX, err);
	if (r == 0)
		r = link_up(sock, ifindex, err);
	if (r == 0 && config->address4)
		r = family_add(sock, AF_INET, ifindex, config->address4, config->gateway4,
			       &found->default_route, err);
	if (r == 0 && config->address6)
		r = family_add(sock, AF_INET6, ifindex, config->address6, config->gateway6,
			       &found->default_route, err);
	return r;
}

static int own_address(struct nl_sock *sock, int family, int ifindex, const char *text,
		       struct qp_error *err)
{
	_cleanup_nl_addr_ struct nl_addr *address = NULL;
	int r = address_parse(text, family, &address, err);

	return r < 0 ? r : address_add(sock, family, ifindex, address, err);
}

/* In the sinkhole's own namespace. */
static int own_side(struct nl_sock *sock, const struct link_config *config, struct qp_error *err)
{
	int ifindex = (int)if_nametoindex(LINK_SINKHOLE_NAME), r;

	if (!ifindex)
		return qp_error_set(err, -errno, "%s: %s", LINK_SINKHOLE_NAME, strerror(errno));
	interface_quiet(LINK_SINKHOLE_NAME);
	/* A new namespace inherits the host's ideas about ARP and reverse paths. */
	netns_sysctl("ipv4/conf/all/rp_filter", "0");
	netns_sysctl("ipv4/conf/all/arp_ignore", "0");
	interface_sysctl("ipv4", LINK_SINKHOLE_NAME, "rp_filter", "0");
	interface_sysctl("ipv4", LINK_SINKHOLE_NAME, "arp_ignore", "0");
	interface_sysctl("ipv4", LINK_SINKHOLE_NAME, "forwarding", "0");
	r = link_up(sock, LOOPBACK_INDEX, err);
	if (r == 0)
		r = link_up(sock, ifindex, err);
	if (r == 0 && config->gateway4)
		r = own_address(sock, AF_INET, ifindex, config->gateway4, err);
	if (r == 0 && config->gateway4)
		r = route_all_local(sock, AF_INET, LINK_SINKHOLE_NAME, ifindex, err);
	if (r < 0 || !config->gateway6)
		return r;
	r = own_address(sock, AF_INET6, ifindex, config->gateway6, err);
	if (r == 0)
		r = own_address(sock, AF_INET6, ifindex, LINK_LOCAL, err);
	if (r == 0)
		r = route_all_local(sock, AF_INET6, LINK_SINKHOLE_NAME, ifindex, err);
	return r;
}

int link_setup(const struct link_config *config, int own_fd, int sandbox_fd,
	       struct link_found *ret_found, struct qp_error *err)
{
	_cleanup_nl_sock_ struct nl_sock *sock = NULL;
	struct link_found found = {};
	int r = nl_open(NETLINK_ROUTE, &sock, err), back;

	if (r == 0)
		r = pair_make(sock, config->interface, sandbox_fd, err);
	/* Our end first, so that the sandbox never sees a gateway that does not answer. */
	if (r == 0)
		r = own_side(sock, config, err);
	if (r == 0)
		r = netns_enter(sandbox_fd, err);
	if (r < 0)
		return r;
	r = sandbox_side(config, &found, err);
	back = netns_enter(own_fd, err);
	if (r == 0)
		r = back;
	if (r == 0)
		*ret_found = found;
	else
		json_decref(found.others);
	return r;
}
