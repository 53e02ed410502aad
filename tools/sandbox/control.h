/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp's side of the protocol with PID 1 of the sandbox (docs/init-protocol.md). What comes
 * from there is checked and bounded: the other end lives among hostile code.
 */
#ifndef QP_TOOLS_SANDBOX_CONTROL_H
#define QP_TOOLS_SANDBOX_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#define CONTROL_MESSAGE_BYTES_MAX (64 * 1024)
#define CONTROL_DATA_BYTES_MAX	  (32 * 1024)
#define CONTROL_ARGS_MAX	  1000
#define CONTROL_PHASE_SIZE	  16

enum control_kind {
	CONTROL_READY,
	CONTROL_BEGIN,	    /* phase */
	CONTROL_PID,	    /* phase, number */
	CONTROL_DATA,	    /* phase, data */
	CONTROL_END,	    /* phase, number: the exit status, or 128 + signal */
	CONTROL_STRAGGLERS, /* number */
};

struct control_message {
	enum control_kind kind;
	char phase[CONTROL_PHASE_SIZE];
	uint32_t number;
	size_t data_len;
	char data[CONTROL_DATA_BYTES_MAX + 1]; /* with a NUL after data_len bytes */
};

/* A connected pair, both close-on-exec. @ret_theirs goes into struct sandbox_config, and is
 * closed by the caller once the container is created. 0 or -errno. */
int control_pair(int *ret_ours, int *ret_theirs);

/*
 * Sending. A socket queues few messages (net.unix.max_dgram_qlen, often 10) and PID 1 reads
 * none while a phase runs: what finds no room within five seconds is -ETIMEDOUT. -E2BIG for
 * a message beyond the bounds, -EPIPE when PID 1 is gone, or another -errno.
 */
int control_send_nonce(int fd, const char *nonce); /* 24 lowercase hex digits */
/* @cwd and @argv are NULL for the phases that PID 1 does itself. */
int control_send_phase(int fd, const char *name, const char *cwd, const char *const *argv);
int control_send_finish(int fd, unsigned int seconds);

/*
 * Takes one message without waiting. 1 with it; 0 when PID 1 closed its end; -EAGAIN when
 * there is none now; -EBADMSG for one that the protocol does not have; or another -errno.
 */
int control_receive(int fd, struct control_message *ret_message);

#endif
