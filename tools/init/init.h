/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PID 1 of the sandbox: runs the phases that qp names over descriptor 3, one at a time
 * (docs/init-protocol.md). Single-threaded, one poll loop, no file but what the copy
 * phase touches.
 */
#ifndef QP_TOOLS_INIT_INIT_H
#define QP_TOOLS_INIT_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_FD	   3
#define DATA_FD		   3 /* of a phase's process */
#define MESSAGE_BYTES_MAX  (64 * 1024)
#define MESSAGE_WORDS_MAX  1024
#define DATA_BYTES_MAX	   (32 * 1024)
#define PHASE_NAME_SIZE	   16
#define FINISH_SECONDS_MAX 3600

/* One datagram, split at its NUL bytes. The words point into the bytes. */
struct message {
	char bytes[MESSAGE_BYTES_MAX + 1];
	char *words[MESSAGE_WORDS_MAX + 1]; /* ends with NULL */
	size_t words_cnt;
};

/* The phase that runs; pid 0 while none does. */
struct phase {
	char name[PHASE_NAME_SIZE];
	unsigned int number;
	pid_t pid;
	int data_fd; /* our end of its descriptor 3; -1 once closed */
};

struct init {
	int signal_fd;
	bool has_nonce, finishing;
	uint64_t nonce_high, nonce_low; /* 48 bits each */
	struct phase phase;
	int64_t finish_ms; /* CLOCK_MONOTONIC deadline, once finishing */
	struct message message;
};

/* ---- channel.c ---------------------------------------------------------------------- */

/* Receives one message. 1 with it, 0 at the end of the channel, -EBADMSG for one that is
 * empty, cut or has too many words, or another -errno. */
int channel_receive(struct message *ret_message);

/* Sends @words, NULL-terminated, and after them @len bytes at @data as the last word if
 * @data is not NULL. 0 or -errno (EPIPE: qp is gone). */
int channel_send(const char *const *words, const void *data, size_t len);

/* Sends "KEYWORD NAME NUMBER"; @name may be NULL. */
int channel_send_number(const char *keyword, const char *name, uint64_t number);

/* ---- phases.c ----------------------------------------------------------------------- */

/* Begins the phase that @message names. 0, -EBADMSG for a name or shape the protocol does
 * not have, or the channel's error. */
int phase_begin(struct init *init, const struct message *message);

/* Relays what the phase's process wrote to its descriptor 3. 0 or the channel's error. */
int phase_relay(struct init *init);

/* Ends the phase: relays what is left, gives the second heartbeat, sends @rc. */
int phase_end(struct init *init, int rc);

/* ---- copy.c ------------------------------------------------------------------------- */

/*
 * Copies what is beneath the folder @from into the folder @to: files and folders with
 * their permission bits, symlinks as they are; none is followed. Other kinds of file are
 * left out. 0, also when @from is not there, or 1 when something could not be copied,
 * which is then said on stderr.
 */
int copy_tree(const char *from, const char *to);

/* ---- stragglers.c ------------------------------------------------------------------- */

/* Reaps every child that ended. *ret_phase_status is set to the status of @phase_tgid as
 * wait(2) gives it, and true returned, when that was among them. */
bool children_reap(pid_t phase_tgid, int *ret_phase_status);

/* Whether any other process is left in this pid namespace. */
bool children_left(void);

/* Kills every other process and waits until they are gone; returns how many there were. */
size_t stragglers_kill(void);

#endif
