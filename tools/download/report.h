/* SPDX-License-Identifier: Apache-2.0 */
/* The report that the download's container leaves: read bounded, checked, spelt safely. */
#ifndef QP_TOOLS_DOWNLOAD_REPORT_H
#define QP_TOOLS_DOWNLOAD_REPORT_H

#include "base/error.h"

#include <jansson.h>
#include <stdint.h>

struct fetch_report {
	char name[256], version[256], integrity[256]; /* "" where not known */
	json_t *versions;			      /* {"node", "npm"} */
	json_t *precheck; /* the receipt's objects, NULL where it did not come to that */
	json_t *lockcheck;
	json_t *inventory;			   /* unpackedBytes is the caller's to add */
	json_t *packages;			   /* as the `packages` record */
	char error_code[128], error_message[1024]; /* "" when nothing failed */
};

/*
 * Reads the report @name of the folder @dirfd. Members that are not known are dropped, text
 * is escaped; anything of the wrong kind, too long, too many, or a path that could leave the
 * project is -EBADMSG. -ENOENT when there is none.
 */
int fetch_report_read(int dirfd, const char *name, uint64_t max_packages,
		      struct fetch_report *ret_report, struct qp_error *err);

void fetch_report_clear(struct fetch_report *report);

#endif
