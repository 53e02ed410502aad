/* SPDX-License-Identifier: Apache-2.0 */
/* The two clocks of a run. Only the recording side may ask them. */
#ifndef QP_BASE_CLOCK_H
#define QP_BASE_CLOCK_H

#include <stdint.h>

#define RFC3339_SIZE 25 /* "2026-11-04T17:26:45.868Z" and its NUL */

/* CLOCK_BOOTTIME in nanoseconds: the clock of kernel events. */
uint64_t clock_boot_ns(void);

/* The time of day in UTC with milliseconds, as receipts spell it. */
void clock_rfc3339(char ret_text[static RFC3339_SIZE]);

#endif
