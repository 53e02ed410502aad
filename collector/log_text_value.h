/* SPDX-License-Identifier: Apache-2.0 */
/* Values as strace(1) spells them: strings, paths, sockets, flags. */
#ifndef QP_COLLECTOR_LOG_TEXT_VALUE_H
#define QP_COLLECTOR_LOG_TEXT_VALUE_H

#include "collector/decode_event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* "text" with C's escapes, octal for the rest; "..." follows where it was @cut. */
void text_quote(FILE *out, const void *bytes, size_t len, bool cut);

/* <path>, with what the kernel says of it. 0 or -ENOMEM. */
int text_path(FILE *out, const struct event_field *field);

/* <TCP:[local->remote]> and the like. */
void text_sock(FILE *out, const struct event_field *field);

/* {sa_family=...}, as the task passed it. */
void text_sockaddr(FILE *out, const struct event_field *field);

/* ["a", "b"] */
void text_argv(FILE *out, const struct event_field *field);

/* Where a log was recorded: four flags of open have other bits on the one than on the other. */
enum text_machine {
	TEXT_MACHINE_UNKNOWN = 0,
	TEXT_MACHINE_X86_64 = 1,
	TEXT_MACHINE_AARCH64 = 2,
};

/* Of uname(2)'s name for it, which may be NULL. */
enum text_machine text_machine_of(const char *name);

/* O_RDWR|O_CREAT|0x...; on an unknown machine names only for bits that are alike on all. */
void text_open_flags(FILE *out, uint64_t flags, enum text_machine machine);

/* "address:port" or "[address]:port"; nothing for a family that has no such address. */
void text_endpoint(FILE *out, int family, const void *addr, unsigned int port);

#endif
