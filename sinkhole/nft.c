// SPDX-License-Identifier: Apache-2.0
/* nf_tables without nft: a table of rules, and their spelling in netlink attributes. */
#include "sinkhole/nft.h"

#include "sinkhole/nl.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <string.h>

#define TABLE	   "sinkhole"
#define CHAIN	   "prerouting"
#define BATCH_SIZE 16384
#define TCP_FLAGS  13 /* offset in the TCP header */
#define TCP_SYN	   0x02
#define TCP_ACK	   0x10
#define IPV4_DST   16 /* offsets in the IP headers */
#define IPV6_DST   24

/* One rule: matches on family, protocol and one byte of a header, then what to do. */
struct rule {
	uint8_t nfproto, l4proto; /* 0: any */
	bool has_byte;
	uint8_t base; /* enum nft_payload_bases */
	uint8_t offset, mask, low, high;
	bool log;
	uint16_t tproxy; /* a port; 0: no */
	int verdict;	 /* NF_ACCEPT, NF_DROP, NFT_CONTINUE */
};

struct batch {
	uint8_t bytes[BATCH_SIZE];
	size_t used;
	uint32_t seq;
	bool overflow;
};

static void batch_add(struct batch *batch, struct nl_msg *msg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	size_t size = NLMSG_ALIGN(header->nlmsg_len);

	header->nlmsg_seq = batch->seq++;
	if (size > sizeof(batch->bytes) - batch->used) {
		batch->overflow = true;
		return;
	}
	memset(batch->bytes + batch->used, 0, size);
	memcpy(batch->bytes + batch->used, header, header->nlmsg_len);
	batch->used += size;
}

static struct nl_msg *message(int type, int flags, uint8_t family, uint16_t resource)
{
	struct nfgenmsg generic = {.nfgen_family = family, .version = NFNETLINK_V0};
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	generic.res_id = htons(resource);
	if (msg && nlmsg_append(msg, &generic, sizeof(generic), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static struct nl_msg *table_message(int command, int flags)
{
	return message(NFNL_SUBSYS_NFTABLES << 8 | command, NLM_F_ACK | flags, NFPROTO_INET, 0);
}

static int batch_edge(struct batch *batch, int type)
{
	_cleanup_nl_msg_ struct nl_msg *msg = message(type, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);

	if (!msg)
		return -NLE_NOMEM;
	batch_add(batch, msg);
	return 0;
}

static int put_be32(struct nl_msg *msg, int attribute, uint32_t value)
{
	return nla_put_u32(msg, attribute, htonl(value));
}

static int table_add(struct batch *batch)
{
	_cleanup_nl_msg_ struct nl_msg *msg = table_message(NFT_MSG_NEWTABLE, NLM_F_CREATE);

	if (!msg || nla_put_string(msg, NFTA_TABLE_NAME, TABLE) < 0)
		return -NLE_NOMEM;
	batch_add(batch, msg);
	return 0;
}

static int chain_add(struct batch *batch)
{
	_cleanup_nl_msg_ struct nl_msg *msg = table_message(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	struct nlattr *hook;
	int r;

	if (!msg)
		return -NLE_NOMEM;
	r = nla_put_string(msg, NFTA_CHAIN_TABLE, TABLE);
	r = r < 0 ? r : nla_put_string(msg, NFTA_CHAIN_NAME, CHAIN);
	r = r < 0 ? r : nla_put_string(msg, NFTA_CHAIN_TYPE, "filter");
	r = r < 0 ? r : put_be32(msg, NFTA_CHAIN_POLICY, NF_ACCEPT);
	hook = r < 0 ? NULL : nla_nest_start(msg, NFTA_CHAIN_HOOK);
	if (!hook || put_be32(msg, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING) < 0 ||
	    put_be32(msg, NFTA_HOOK_PRIORITY, (uint32_t)NF_IP_PRI_MANGLE) < 0)
		return -NLE_NOMEM;
	nla_nest_end(msg, hook);
	batch_add(batch, msg);
	return 0;
}

/* An expression's frame; the caller fills *ret_data and ends both nests with expr_end. */
struct expr {
	struct nlattr *element, *data;
};

static bool expr_begin(struct nl_msg *msg, const char *name, struct expr *ret_expr)
{
	ret_expr->element = nla_nest_start(msg, NFTA_LIST_ELEM);
	if (!ret_expr->element || nla_put_string(msg, NFTA_EXPR_NAME, name) < 0)
		return false;
	ret_expr->data = nla_nest_start(msg, NFTA_EXPR_DATA);
	return ret_expr->data != NULL;
}

static bool expr_end(struct nl_msg *msg, const struct expr *expr)
{
	nla_nest_end(msg, expr->data);
	nla_nest_end(msg, expr->element);
	return true;
}

/* The value of a comparison, a mask or a constant. */
static bool put_value(struct nl_msg *msg, int attribute, const void *value, int len)
{
	struct nlattr *nest = nla_nest_start(msg, attribute);

	if (!nest || nla_put(msg, NFTA_DATA_VALUE, len, value) < 0)
		return false;
	nla_nest_end(msg, nest);
	return true;
}

static bool compare_add(struct nl_msg *msg, enum nft_cmp_ops op, uint8_t value)
{
	struct expr expr;

	return expr_begin(msg, "cmp", &expr) && put_be32(msg, NFTA_CMP_SREG, NFT_REG_1) == 0 &&
	       put_be32(msg, NFTA_CMP_OP, op) == 0 && put_value(msg, NFTA_CMP_DATA, &value, 1) &&
	       expr_end(msg, &expr);
}

static bool meta_match_add(struct nl_msg *msg, enum nft_meta_keys key, uint8_t value)
{
	struct expr expr;

	return expr_begin(msg, "meta", &expr) && put_be32(msg, NFTA_META_KEY, key) == 0 &&
	       put_be32(msg, NFTA_META_DREG, NFT_REG_1) == 0 && expr_end(msg, &expr) &&
	       compare_add(msg, NFT_CMP_EQ, value);
}

static bool mask_add(struct nl_msg *msg, uint8_t mask)
{
	const uint8_t zero = 0;
	struct expr expr;

	return expr_begin(msg, "bitwise", &expr) &&
	       put_be32(msg, NFTA_BITWISE_SREG, NFT_REG_1) == 0 &&
	       put_be32(msg, NFTA_BITWISE_DREG, NFT_REG_1) == 0 &&
	       put_be32(msg, NFTA_BITWISE_LEN, 1) == 0 &&
	       put_value(msg, NFTA_BITWISE_MASK, &mask, 1) &&
	       put_value(msg, NFTA_BITWISE_XOR, &zero, 1) && expr_end(msg, &expr);
}

static bool byte_match_add(struct nl_msg *msg, const struct rule *rule)
{
	struct expr expr;

	return expr_begin(msg, "payload", &expr) &&
	       put_be32(msg, NFTA_PAYLOAD_DREG, NFT_REG_1) == 0 &&
	       put_be32(msg, NFTA_PAYLOAD_BASE, rule->base) == 0 &&
	       put_be32(msg, NFTA_PAYLOAD_OFFSET, rule->offset) == 0 &&
	       put_be32(msg, NFTA_PAYLOAD_LEN, 1) == 0 && expr_end(msg, &expr) &&
	       mask_add(msg, rule->mask) && compare_add(msg, NFT_CMP_GTE, rule->low) &&
	       compare_add(msg, NFT_CMP_LTE, rule->high);
}

static bool log_add(struct nl_msg *msg, uint16_t group)
{
	struct expr expr;

	/* A threshold of 1: a packet's copy is queued before its connection can be accepted. */
	return expr_begin(msg, "log", &expr) &&
	       nla_put_u16(msg, NFTA_LOG_GROUP, htons(group)) == 0 &&
	       put_be32(msg, NFTA_LOG_SNAPLEN, NFT_LOG_BYTES) == 0 &&
	       nla_put_u16(msg, NFTA_LOG_QTHRESHOLD, htons(1)) == 0 && expr_end(msg, &expr);
}

static bool tproxy_add(struct nl_msg *msg, uint16_t port)
{
	uint16_t number = htons(port);
	struct expr expr;

	return expr_begin(msg, "immediate", &expr) &&
	       put_be32(msg, NFTA_IMMEDIATE_DREG, NFT_REG_1) == 0 &&
	       put_value(msg, NFTA_IMMEDIATE_DATA, &number, sizeof(number)) &&
	       expr_end(msg, &expr) && expr_begin(msg, "tproxy", &expr) &&
	       put_be32(msg, NFTA_TPROXY_FAMILY, NFPROTO_UNSPEC) == 0 &&
	       put_be32(msg, NFTA_TPROXY_REG_PORT, NFT_REG_1) == 0 && expr_end(msg, &expr);
}

static bool verdict_add(struct nl_msg *msg, int verdict)
{
	struct nlattr *data, *code;
	struct expr expr;

	if (!expr_begin(msg, "immediate", &expr) ||
	    put_be32(msg, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT) < 0)
		return false;
	data = nla_nest_start(msg, NFTA_IMMEDIATE_DATA);
	code = data ? nla_nest_start(msg, NFTA_DATA_VERDICT) : NULL;
	if (!code || put_be32(msg, NFTA_VERDICT_CODE, (uint32_t)verdict) < 0)
		return false;
	nla_nest_end(msg, code);
	nla_nest_end(msg, data);
	return expr_end(msg, &expr);
}

static int rule_add(struct batch *batch, const struct rule *rule, uint16_t group)
{
	_cleanup_nl_msg_ struct nl_msg *msg =
		table_message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	struct nlattr *list;

	if (!msg || nla_put_string(msg, NFTA_RULE_TABLE, TABLE) < 0 ||
	    nla_put_string(msg, NFTA_RULE_CHAIN, CHAIN) < 0)
		return -NLE_NOMEM;
	list = nla_nest_start(msg, NFTA_RULE_EXPRESSIONS);
	if (!list || (rule->nfproto && !meta_match_add(msg, NFT_META_NFPROTO, rule->nfproto)) ||
	    (rule->l4proto && !meta_match_add(msg, NFT_META_L4PROTO, rule->l4proto)) ||
	    (rule->has_byte && !byte_match_add(msg, rule)) || (rule->log && !log_add(msg, group)) ||
	    (rule->tproxy && !tproxy_add(msg, rule->tproxy)) ||
	    (rule->verdict != NFT_CONTINUE && !verdict_add(msg, rule->verdict)))
		return -NLE_NOMEM;
	nla_nest_end(msg, list);
	batch_add(batch, msg);
	return 0;
}

/* clang-format off */
#define ICMP4(from, to) {.nfproto = NFPROTO_IPV4, .l4proto = IPPROTO_ICMP, .has_byte = true, \
	.base = NFT_PAYLOAD_TRANSPORT_HEADER, .mask = 0xff, .low = from, .high = to, \
	.verdict = NF_ACCEPT}
#define ICMP6(from, to) {.nfproto = NFPROTO_IPV6, .l4proto = IPPROTO_ICMPV6, .has_byte = true, \
	.base = NFT_PAYLOAD_TRANSPORT_HEADER, .mask = 0xff, .low = from, .high = to, \
	.verdict = NF_ACCEPT}
#define GROUP_UDP(family, at, bits, value) {.nfproto = family, .l4proto = IPPROTO_UDP, \
	.has_byte = true, .base = NFT_PAYLOAD_NETWORK_HEADER, .offset = at, .mask = bits, \
	.low = value, .high = value, .log = true, .verdict = NF_DROP}
/* clang-format on */

static int rules_add(struct batch *batch, uint16_t group, uint16_t tcp_port, uint16_t udp_port)
{
	const struct rule rules[] = {
		ICMP4(3, 5),	 /* unreachable, quench, redirect */
		ICMP4(11, 12),	 /* time exceeded, parameter problem */
		ICMP6(1, 4),	 /* errors */
		ICMP6(130, 137), /* multicast listeners, neighbour discovery */
		ICMP6(143, 143), /* multicast listeners, version 2 */
		{.l4proto = IPPROTO_TCP,
		 .has_byte = true,
		 .base = NFT_PAYLOAD_TRANSPORT_HEADER,
		 .offset = TCP_FLAGS,
		 .mask = TCP_SYN | TCP_ACK,
		 .low = TCP_SYN,
		 .high = TCP_SYN,
		 .log = true,
		 .verdict = NFT_CONTINUE},
		{.l4proto = IPPROTO_TCP, .tproxy = tcp_port, .verdict = NF_ACCEPT},
		GROUP_UDP(NFPROTO_IPV4, IPV4_DST, 0xf0, 0xe0),
		GROUP_UDP(NFPROTO_IPV6, IPV6_DST, 0xff, 0xff),
		{.l4proto = IPPROTO_UDP, .tproxy = udp_port, .verdict = NF_ACCEPT},
		{.log = true, .verdict = NF_ACCEPT},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int r = rule_add(batch, &rules[i], group);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Reads the kernel's answers up to that to message @last. Returns a negative errno, or 0
 * when every message was accepted. */
static int answers_read(struct nl_sock *sock, uint32_t last)
{
	char buf[16384] __attribute__((aligned(NLMSG_ALIGNTO)));

	for (;;) {
		ssize_t n = recv(nl_socket_get_fd(sock), buf, sizeof(buf), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		int left = (int)n;

		for (struct nlmsghdr *h = (void *)buf; nlmsg_ok(h, left);
		     h = nlmsg_next(h, &left)) {
			const struct nlmsgerr *answer = nlmsg_data(h);

			if (h->nlmsg_type != NLMSG_ERROR || nlmsg_datalen(h) < (int)sizeof(*answer))
				continue;
			if (answer->error)
				return answer->error;
			if (h->nlmsg_seq == last)
				return 0;
		}
	}
}

/* A libnl code. */
static int batch_build(struct batch *batch, uint16_t group, uint16_t tcp_port, uint16_t udp_port)
{
	int r;

	batch->seq = 1;
	r = batch_edge(batch, NFNL_MSG_BATCH_BEGIN);
	r = r < 0 ? r : table_add(batch);
	r = r < 0 ? r : chain_add(batch);
	r = r < 0 ? r : rules_add(batch, group, tcp_port, udp_port);
	r = r < 0 ? r : batch_edge(batch, NFNL_MSG_BATCH_END);
	return r < 0 || !batch->overflow ? r : -NLE_NOMEM;
}

int nft_install(uint16_t group, uint16_t tcp_port, uint16_t udp_port, struct qp_error *err)
{
	_cleanup_nl_sock_ struct nl_sock *sock = NULL;
	struct batch batch = {.used = 0};
	int r = nl_open(NETLINK_NETFILTER, &sock, err);

	if (r < 0)
		return r;
	r = batch_build(&batch, group, tcp_port, udp_port);
	if (r < 0)
		return qp_error_set(err, -ENOMEM, "out of memory for the ruleset");
	r = nl_sendto(sock, batch.bytes, batch.used);
	if (r < 0)
		return nl_error_set(err, r, "cannot send the nftables ruleset");
	/* The last rule's message; the batch's end gets no answer of its own. */
	r = answers_read(sock, batch.seq - 2);
	if (r < 0)
		return qp_error_set(err, r,
				    "the kernel refuses the nftables ruleset: %s; it needs the "
				    "modules nf_tables, nft_tproxy and nfnetlink_log",
				    strerror(-r));
	return 0;
}
