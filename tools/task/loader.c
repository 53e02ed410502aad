// SPDX-License-Identifier: Apache-2.0
/* The thread that opens the collector. */
#include "tools/task/loader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct loader {
	pthread_t thread;
	struct collector_options options;
	struct collector *collector;
	struct qp_error err;
	int result;
};

static void *load(void *context)
{
	struct loader *loader = context;

	loader->result = collector_open(&loader->options, &loader->collector, &loader->err);
	return NULL;
}

int loader_start(const char *tier, struct loader **ret_loader, struct qp_error *err)
{
	struct loader *loader = calloc(1, sizeof(*loader));
	sigset_t all, before;
	int r;

	if (!loader)
		return -ENOMEM;
	loader->options.tier = tier;
	loader->options.without_uring = true; /* the sandbox's seccomp profile denies it */
	/* The thread inherits the mask: a signal must not find one that would die of it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&loader->thread, NULL, load, loader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) {
		free(loader);
		return qp_error_set(err, -r, "cannot start a thread: %s", strerror(r));
	}
	*ret_loader = loader;
	return 0;
}

int loader_finish_take(struct loader *loader, struct collector **ret_collector,
		       struct qp_error *err)
{
	int r;

	pthread_join(loader->thread, NULL);
	r = loader->result;
	if (r)
		qp_error_set(err, r, "%s", loader->err.text[0] ? loader->err.text : strerror(-r));
	else
		*ret_collector = loader->collector;
	free(loader);
	return r;
}

void loader_free(struct loader *loader)
{
	struct collector *collector = NULL;

	if (loader && !loader_finish_take(loader, &collector, NULL))
		collector_free(collector);
}
