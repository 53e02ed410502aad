// SPDX-License-Identifier: Apache-2.0
#include "tools/download/failure.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static int failure(const char *code, struct qp_error *err)
{
	static const struct spec spec = {.requested = "left-pad@9"};
	static const struct limits limits = {.download_max_bytes = 1000,
					     .download_max_packages = 7};

	*err = (struct qp_error){0};
	return fetch_failure(&spec, &limits, code, "words of npm", err);
}

Test(failure, gives_each_code_its_errno_cause_and_mend)
{
	static const struct {
		const char *code;
		int error;
		const char *says;
	} rows[] = {
		{"E404", -ENOENT, "no such package"},
		{"ETARGET", -ENOENT, "no version"},
		{"E401", -EACCES, "npm login"},
		{"E503", -EHOSTUNREACH, "try again"},
		{"ENOTFOUND", -EHOSTUNREACH, "check the network"},
		{"EAI_AGAIN", -EHOSTUNREACH, "check the network"},
		{"ECONNREFUSED", -EHOSTUNREACH, "proxy"},
		{"ENETUNREACH", -EHOSTUNREACH, "check the network"},
		{"SELF_SIGNED_CERT_IN_CHAIN", -EHOSTUNREACH, "cafile"},
		{"DEPTH_ZERO_SELF_SIGNED_CERT", -EHOSTUNREACH, "cafile"},
		{"EINTEGRITY", -EBADMSG, "corrupt"},
		{"TAR_BAD_ARCHIVE", -EBADMSG, "corrupt"},
		{"Z_DATA_ERROR", -EBADMSG, "corrupt"},
		{"ENOMANIFEST", -EBADMSG, "package.json"},
		{"EFBIG", -EFBIG, "--download-bytes"},
		{"EPACKAGES", -EFBIG, "--download-packages"},
		{"ENOSPC", -ENOSPC, "space"},
		{"EACCES", -EACCES, "chmod"},
		{"ESOMETHING", -EIO, "could not fetch"},
		{"E4", -EIO, "could not fetch"},
		{"", -EIO, "could not fetch"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct qp_error err;

		cr_expect_eq(failure(rows[i].code, &err), rows[i].error, "%s", rows[i].code);
		cr_expect(strstr(err.text, rows[i].says), "%s: %s", rows[i].code, err.text);
		cr_expect(strstr(err.text, "words of npm"), "%s: %s", rows[i].code, err.text);
	}
}
