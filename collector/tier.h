/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel-object tier: whether this kernel allows it, and its programs' attachment. What
 * it lacks is found before anything is loaded, so that the base tier pays nothing for it.
 */
#ifndef QP_COLLECTOR_TIER_H
#define QP_COLLECTOR_TIER_H

#include "base/error.h"

#include <stdbool.h>

struct btf;
struct collector;

/* -EINVAL unless @asked is NULL or one of COLLECTOR_TIERS. */
int tier_check(const char *asked, struct qp_error *err);

/*
 * Chooses the tier for the opened programs of @collector, by what was @asked for and what the
 * kernel of @btf allows, and has the tier's programs loaded with the others. -ENOTSUP when
 * the tier that was asked for cannot be had; why the better one is not chosen is in
 * collector_tier_why().
 */
int tier_choose(struct collector *collector, const struct btf *btf, const char *asked,
		struct qp_error *err);

/* Goes back to the base tier, unless @asked is not content with it: -ENOTSUP then. @what
 * failed with @rc; none of the tier's programs is attached. */
int tier_give_up(struct collector *collector, const char *asked, const char *what, int rc,
		 struct qp_error *err);

/* Attaches the tier's programs, or goes back to the base tier. */
int tier_attach(struct collector *collector, const char *asked, struct qp_error *err);

/* Detaches them; the kernel may be at it for some seconds after the call. */
void tier_detach(struct collector *collector);

#endif
