// SPDX-License-Identifier: Apache-2.0
/* bpf/syscalls.def as a table of userspace. */
#include "collector/decode_call.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define UNMOUNT_NOFOLLOW 0x8 /* umount2(2) */
#define I386_SOCKETCALL	 102 /* a number for many calls, of which the event names one */
#define X32_OWN_FIRST	 512 /* where the numbers begin that x32 has for itself */

static const struct call_info calls[QP_CALL_ID_CNT] = {
#define QP_CALL(id, call_kind, nr_x86_64, nr_aarch64, nr_i386, a, b, c, d, e, f)                   \
	[QP_CALL_ID_##id] = {                                                                      \
		.name = #id,                                                                       \
		.kind = QP_KIND_##call_kind,                                                       \
		.by_path = QP_ROW_BY_PATH(QP_KIND_##call_kind, QP_ARG_##a, QP_ARG_##b, QP_ARG_##c, \
					  QP_ARG_##d, QP_ARG_##e, QP_ARG_##f),                     \
		.roles = {QP_ARG_##a, QP_ARG_##b, QP_ARG_##c, QP_ARG_##d, QP_ARG_##e, QP_ARG_##f}, \
		.x86_64 = (nr_x86_64),                                                             \
		.aarch64 = (nr_aarch64),                                                           \
		.i386 = (nr_i386),                                                                 \
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

uint64_t call_open_flags(const struct qp_call *call, const void *how, size_t how_len)
{
	uint64_t flags = O_RDWR | O_CREAT;

	switch (call->call) {
	case QP_CALL_ID_creat:
		return O_WRONLY | O_CREAT | O_TRUNC;
	case QP_CALL_ID_open:
		return call->args[1];
	case QP_CALL_ID_openat2:
		if (how && how_len >= sizeof(flags))
			memcpy(&flags, how, sizeof(flags));
		return flags;
	default:
		return call->args[2];
	}
}

/* What is left to a flag, and calls that are not like the others of their kind. */
static const struct {
	uint16_t call;
	uint8_t arg;  /* of the flags */
	uint16_t bit; /* 0: the answer is the same always */
	bool if_set, if_clear;
} last_links[] = {
	{QP_CALL_ID_lchown, 0, 0, false, false},
	{QP_CALL_ID_lchown32, 0, 0, false, false},
	{QP_CALL_ID_lsetxattr, 0, 0, false, false},
	{QP_CALL_ID_lremovexattr, 0, 0, false, false},
	{QP_CALL_ID_fchmodat2, 3, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_fchownat, 4, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_utimensat, 3, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_utimensat_time64, 3, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_setxattrat, 2, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_removexattrat, 2, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_file_setattr, 4, AT_SYMLINK_NOFOLLOW, false, true},
	{QP_CALL_ID_umount2, 1, UNMOUNT_NOFOLLOW, false, true},
	{QP_CALL_ID_linkat, 4, AT_SYMLINK_FOLLOW, true, false},
};

bool call_follows_last(const struct qp_call *call)
{
	const struct call_info *info = call_info_get(call->call);

	for (size_t i = 0; i < sizeof(last_links) / sizeof(last_links[0]); i++)
		if (last_links[i].call == call->call)
			return call->args[last_links[i].arg] & last_links[i].bit
				       ? last_links[i].if_set
				       : last_links[i].if_clear;
	return info && (info->kind == QP_KIND_META || info->kind == QP_KIND_TRUNCATE ||
			info->kind == QP_KIND_TAMPER || info->kind == QP_KIND_CHDIR);
}

bool call_number_fits(const struct qp_call *call)
{
	const struct call_info *info = call_info_get(call->call);
	int64_t nr = call->nr;

	if (!info)
		return false;
	switch ((enum qp_abi)call->abi) {
	case QP_ABI_NATIVE:
		return nr == info->x86_64 || nr == info->aarch64;
	case QP_ABI_I386:
		return nr == info->i386 || nr == I386_SOCKETCALL;
	case QP_ABI_X32:
		return nr == info->x86_64 || nr >= X32_OWN_FIRST;
	case QP_ABI_ARM:
		break; /* only counted */
	}
	return false;
}

bool call_exchanges(const struct qp_call *call)
{
	return call->call == QP_CALL_ID_renameat2 && call->args[4] & RENAME_EXCHANGE;
}

const char *errno_name(int number)
{
	return strerrorname_np(number);
}
