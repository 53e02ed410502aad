// SPDX-License-Identifier: Apache-2.0
/* bpf/syscalls.def as a table of userspace. */
#include "collector/decode_call.h"

#include <stddef.h>
#include <string.h>

static const struct call_info calls[QP_CALL_ID_CNT] = {
#define QP_CALL(id, call_kind, x86_64, aarch64, i386, a, b, c, d, e, f)                            \
	[QP_CALL_ID_##id] = {                                                                      \
		.name = #id,                                                                       \
		.kind = QP_KIND_##call_kind,                                                       \
		.roles = {QP_ARG_##a, QP_ARG_##b, QP_ARG_##c, QP_ARG_##d, QP_ARG_##e, QP_ARG_##f}, \
	},
#include "bpf/syscalls.def"
#undef QP_CALL
};

const struct call_info *call_info_get(uint32_t call)
{
	if (call == QP_CALL_NONE || call >= QP_CALL_ID_CNT)
		return NULL;
	return &calls[call];
}

const char *errno_name(int number)
{
	return strerrorname_np(number);
}
