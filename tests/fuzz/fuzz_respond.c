// SPDX-License-Identifier: Apache-2.0
/* Tables of answers: refused with a reason, or such that no request gets a broken response. */
#include "sinkhole/respond.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

static void try_answer(const struct respond *respond, const char *method, const char *host,
		       const char *path)
{
	const struct response *response = respond_find(respond, method, host, path, NULL);

	require(response->status >= 200 && response->status <= 599 && *response->reason);
	require(response->headers_cnt <= RESPOND_HEADERS_MAX);
	require(response->body_len <= RESPOND_BODY_MAX && (response->body || !response->body_len));
	for (size_t i = 0; i < response->headers_cnt; i++)
		require(!strpbrk(response->headers[i].name, "\r\n :") &&
			!strpbrk(response->headers[i].value, "\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct respond *respond = NULL;
	struct qp_error err = {0};
	char path[32];
	int fd = memfd_create("table", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (respond_load(path, &respond, &err) < 0) {
		require(*err.text);
	} else {
		try_answer(respond, "GET", "downloads.example", "/a/b?c");
		try_answer(respond, NULL, NULL, NULL);
		try_answer(respond, "", "", "");
	}
	respond_free(respond);
	close(fd);
	return 0;
}
