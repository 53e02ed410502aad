/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the collector in a thread, since the kernel takes a quarter of a second to verify
 * its programs, in which a sandbox can be made or a package be fetched.
 */
#ifndef QP_TOOLS_TASK_LOADER_H
#define QP_TOOLS_TASK_LOADER_H

#include "base/error.h"
#include "collector/collector.h"

struct loader;

/* Starts the thread; @tier as in struct collector_options. It takes no signal; until it is
 * waited for, the caller must not change namespaces. */
int loader_start(const char *tier, struct loader **ret_loader, struct qp_error *err);

/* Waits for the thread and frees the loader. What collector_open gave, which is the
 * caller's. */
int loader_finish_take(struct loader *loader, struct collector **ret_collector,
		       struct qp_error *err);

/* Waits, and closes the collector that nobody wants. NULL is fine. */
void loader_free(struct loader *loader);

#endif
