// SPDX-License-Identifier: Apache-2.0
/* qp doctor: what this host can do. */
#include "tools/command.h"

#include "base/log.h"
#include "tools/doctor.h"
#include "tools/sandbox/sandbox.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command_help help = {
	.usage = "qp doctor",
	.summary = "Tries everything that qp run needs of this host, says what was found and, for "
		   "what\nlacks, how to mend it. Leaves nothing behind.",
	.details = "Exit codes: 0 when qp run can work here, 3 when it cannot.",
	.example = "  qp doctor",
};

int cmd_doctor(int argc, char **argv)
{
	const struct option rows[] = {{0}};
	size_t failed = 0;
	int cnt, r;

	r = command_begin(&help, rows, argc, argv, false, 0, 0, &cnt);
	if (r != COMMAND_GO_ON)
		return r;
	if (!geteuid()) {
		struct qp_error err = {0};

		if (sandbox_isolate_mounts(&err))
			log_qp_error(&err);
	}
	for (size_t i = 0; i < doctor_checks_cnt; i++) {
		char found[FINDING_SIZE] = "", text[QP_ERROR_TEXT_SIZE + 512];
		struct qp_error err = {0};

		r = doctor_checks[i].check(found, &err);
		failed += r != 0;
		if (r && !err.text[0])
			qp_error_set(&err, r, "%s", strerror(-r));
		printf("%-4s %-10s %s\n", r ? "FAIL" : "ok", doctor_checks[i].name,
		       r ? qp_error_format(&err, text, sizeof(text)) : found);
	}
	if (failed)
		printf("\n%zu of %zu checks failed: qp run cannot work here until they are "
		       "mended\n",
		       failed, doctor_checks_cnt);
	else
		puts("\nqp run can work here");
	return failed ? EXIT_HOST : 0;
}
