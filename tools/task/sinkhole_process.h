/* SPDX-License-Identifier: Apache-2.0 */
/* The qp-sinkhole of one task: started on the sandbox's network, its records read from a
 * pipe, ended when the sandbox is. */
#ifndef QP_TOOLS_TASK_SINKHOLE_PROCESS_H
#define QP_TOOLS_TASK_SINKHOLE_PROCESS_H

#include "base/authority.h"
#include "base/error.h"
#include "collector/log.h"
#include "tools/sandbox/sandbox.h"

struct sinkhole;

struct sinkhole_config {
	const char *program; /* NULL: the one beside qp */
	int netns_fd;
	const struct persona *persona;
	const json_t *decoys;		   /* {"label": "value"} to look for, or NULL */
	const struct authority *authority; /* to intercept TLS with, or NULL */
};

/*
 * Starts it and waits until its listeners are up. Decoys and the authority's key go through
 * pipes, so that no command line and no file has them.
 */
int sinkhole_start(const struct sinkhole_config *config, struct sinkhole **ret_sinkhole,
		   struct qp_error *err);

/* To poll for reading. */
int sinkhole_fd(const struct sinkhole *sinkhole);
pid_t sinkhole_pid(const struct sinkhole *sinkhole);

/*
 * Appends the records that wait to @log. 0; 1 once the stream has ended; the log's error;
 * -EBADMSG for a line that is no record.
 */
int sinkhole_drain(struct sinkhole *sinkhole, struct log_writer *log);

/* Asks it to flush and end, drains to the end, at most five seconds. Errors as
 * sinkhole_drain; -ETIMEDOUT. */
int sinkhole_stop(struct sinkhole *sinkhole, struct log_writer *log);

/* The log's `sinkhole-end` record; the caller's. */
json_t *sinkhole_end(const struct sinkhole *sinkhole);

/* Kills it if it still runs. NULL is fine. */
void sinkhole_free(struct sinkhole *sinkhole);

#endif
