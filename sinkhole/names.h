/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sinkhole's name service: each name gets an address of its own, in the order in which
 * the names are first asked for, and keeps it as long as the table lives.
 */
#ifndef QP_SINKHOLE_NAMES_H
#define QP_SINKHOLE_NAMES_H

#include "base/cleanup.h"
#include "sinkhole/endpoint.h"

/* 198.18.0.1 to 198.19.255.254 (RFC 2544), and the same under fd00::/96. */
#define NAMES_MAX 131070

struct names;

/* NULL when out of memory. */
struct names *names_new(void);
void names_free(struct names *names);

DEFINE_CLEANUP(names, struct names *, names_free);
#define _cleanup_names_ _cleanup_(names)

/*
 * The address of @name, which is given one when it has none. Upper and lower case are the
 * same (RFC 4343). @family is AF_INET or AF_INET6; the port of *ret_address is 0.
 * -ENOSPC when NAMES_MAX names have one, -ENOMEM.
 */
int names_address(struct names *names, const char *name, uint8_t family,
		  struct endpoint *ret_address);

/* The name, as it was first spelt, that has @address, or NULL. The port does not count.
 * It lives as long as the table. */
const char *names_find(const struct names *names, const struct endpoint *address);

#endif
