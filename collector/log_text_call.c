// SPDX-License-Identifier: Apache-2.0
/* A system call's arguments by their roles in bpf/syscalls.def, and its result. */
#include "collector/log_text_call.h"

#include "collector/decode_call.h"
#include "collector/log_text_value.h"
#include "collector/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define ERRNO_MAX 4095
/* Numbers up to here are counts, modes, signals; beyond, bits and addresses. */
#define DECIMAL_MAX 0xffff

struct open_how_wire {
	uint64_t flags, mode, resolve;
};

static bool makes_files(uint64_t open_flags)
{
	return open_flags & (O_CREAT | OPEN_TMPFILE_BIT);
}

static void number_print(FILE *out, uint64_t value)
{
	int32_t narrow = (int32_t)value;

	if (value <= DECIMAL_MAX)
		fprintf(out, "%" PRIu64, value);
	else if (narrow < 0 && narrow >= -ERRNO_MAX &&
		 (value >> 32 == 0 || value >> 32 == UINT32_MAX))
		fprintf(out, "%" PRId32, narrow);
	else
		fprintf(out, "%#" PRIx64, value);
}

static void pointer_print(FILE *out, uint64_t value)
{
	if (value)
		fprintf(out, "%#" PRIx64, value);
	else
		fputs("NULL", out);
}

/* A descriptor and what it is open on, where that was recorded. */
static int fd_print(FILE *out, const struct kernel_event *event, unsigned int arg, bool is_dirfd)
{
	int32_t fd = (int32_t)event->call.args[arg];
	bool cwd = is_dirfd && fd == AT_FDCWD;
	const struct event_field *path =
		event_field_find(event, QP_FIELD_PATH, cwd ? QP_ROLE_CWD : arg);
	const struct event_field *sock = event_field_find(event, QP_FIELD_SOCK, arg);

	if (cwd)
		fputs("AT_FDCWD", out);
	else
		fprintf(out, "%" PRId32, fd);
	if (sock)
		text_sock(out, sock);
	return path ? text_path(out, path) : 0;
}

/* Text that the task passed; its address where it could not be read, or was not kept
 * because the kernel's own answer says more. */
static int string_print(FILE *out, const struct kernel_event *event, unsigned int arg)
{
	const struct event_field *text = event_field_find(event, QP_FIELD_STRING, arg);
	const struct event_field *path = event_field_find(event, QP_FIELD_PATH, arg);

	if (text && !(text->flags & QP_FIELD_FAULT))
		text_quote(out, text->data, text->len, text->flags & QP_FIELD_TRUNCATED);
	else
		pointer_print(out, event->call.args[arg]);
	return path ? text_path(out, path) : 0;
}

static void buffer_print(FILE *out, const struct kernel_event *event, unsigned int arg)
{
	const struct event_field *data = event_field_find(event, QP_FIELD_PAYLOAD, arg);
	uint64_t len = arg + 1 < CALL_ARGS_CNT ? event->call.args[arg + 1] : 0;

	if (data)
		text_quote(out, data->data, data->len, data->len < len);
	else
		pointer_print(out, event->call.args[arg]);
}

/* The first bytes are all that is kept of what several buffers hold. */
static void vector_print(FILE *out, const struct kernel_event *event, unsigned int arg,
			 bool is_message)
{
	const struct event_field *name = event_field_find(event, QP_FIELD_SOCKADDR, arg);
	const struct event_field *data = event_field_find(event, QP_FIELD_PAYLOAD, arg);

	if (!name && !data) {
		pointer_print(out, event->call.args[arg]);
		return;
	}
	if (is_message)
		fputs("{msg_name=", out);
	if (is_message && name)
		text_sockaddr(out, name);
	else if (is_message)
		fputs("NULL", out);
	fputs(is_message ? ", msg_iov=[{iov_base=" : "[{iov_base=", out);
	text_quote(out, data ? data->data : (const unsigned char *)"", data ? data->len : 0, true);
	fputs(is_message ? "}, ...]}" : "}, ...]", out);
}

static void sockaddr_print(FILE *out, const struct kernel_event *event, unsigned int arg)
{
	const struct event_field *address = event_field_find(event, QP_FIELD_SOCKADDR, arg);

	if (address)
		text_sockaddr(out, address);
	else
		pointer_print(out, event->call.args[arg]);
}

static void how_print(FILE *out, const struct kernel_event *event, unsigned int arg,
		      enum text_machine machine)
{
	const struct event_field *field = event_field_find(event, QP_FIELD_PAYLOAD, arg);
	struct open_how_wire how;

	if (!field || field->len < sizeof(how)) {
		pointer_print(out, event->call.args[arg]);
		return;
	}
	memcpy(&how, field->data, sizeof(how));
	fputs("{flags=", out);
	text_open_flags(out, how.flags, machine);
	if (makes_files(how.flags))
		fprintf(out, ", mode=%#03" PRIo64, how.mode);
	fprintf(out, ", resolve=%#" PRIx64 "}", how.resolve);
}

static void flags_print(FILE *out, const struct kernel_event *event, unsigned int arg,
			enum text_machine machine)
{
	uint64_t value = event->call.args[arg];

	if (call_info_get(event->call.call)->kind == QP_KIND_OPEN)
		text_open_flags(out, (uint32_t)value, machine);
	else
		fprintf(out, value ? "%#" PRIx64 : "%" PRIx64, value);
}

static void argv_print(FILE *out, const struct kernel_event *event, unsigned int arg)
{
	const struct event_field *argv = event_field_find(event, QP_FIELD_ARGV, arg);

	if (argv)
		text_argv(out, argv);
	else
		pointer_print(out, event->call.args[arg]);
}

static int arg_print(FILE *out, const struct kernel_event *event, unsigned int arg,
		     enum text_machine machine)
{
	uint64_t value = event->call.args[arg];

	switch ((enum qp_arg_role)call_info_get(event->call.call)->roles[arg]) {
	case QP_ARG_FD:
	case QP_ARG_DIRFD:
		return fd_print(out, event, arg,
				call_info_get(event->call.call)->roles[arg] == QP_ARG_DIRFD);
	case QP_ARG_PATH:
	case QP_ARG_STRING:
		return string_print(out, event, arg);
	case QP_ARG_FLAGS:
		flags_print(out, event, arg, machine);
		return 0;
	case QP_ARG_MODE:
		fprintf(out, "%#03" PRIo64, value);
		return 0;
	case QP_ARG_LEN:
		fprintf(out, "%" PRIu64, value);
		return 0;
	case QP_ARG_BUF:
		buffer_print(out, event, arg);
		return 0;
	case QP_ARG_IOVEC:
	case QP_ARG_MSGHDR:
	case QP_ARG_MMSGHDR:
		vector_print(out, event, arg,
			     call_info_get(event->call.call)->roles[arg] != QP_ARG_IOVEC);
		return 0;
	case QP_ARG_SOCKADDR:
		sockaddr_print(out, event, arg);
		return 0;
	case QP_ARG_ARGV:
		argv_print(out, event, arg);
		return 0;
	case QP_ARG_HOW:
		how_print(out, event, arg, machine);
		return 0;
	case QP_ARG_PTR:
	case QP_ARG_ENVP:
		pointer_print(out, value);
		return 0;
	case QP_ARG_NUM:
	case QP_ARG_PID:
	case QP_ARG_PIDFD:
	case QP_ARG_NONE:
		break;
	}
	number_print(out, value);
	return 0;
}

/* open's mode means nothing unless a file may be made. */
static bool is_mode_unused(const struct kernel_event *event, unsigned int arg)
{
	const struct call_info *info = call_info_get(event->call.call);

	return info->kind == QP_KIND_OPEN && arg && info->roles[arg] == QP_ARG_MODE &&
	       info->roles[arg - 1] == QP_ARG_FLAGS && !makes_files(event->call.args[arg - 1]);
}

int text_call(FILE *out, const struct kernel_event *event, enum text_machine machine)
{
	const struct call_info *info = call_info_get(event->call.call);

	fprintf(out, "%s(", info->name);
	for (unsigned int arg = 0; arg < CALL_ARGS_CNT && info->roles[arg] != QP_ARG_NONE; arg++) {
		int r;

		if (is_mode_unused(event, arg))
			continue;
		if (arg)
			fputs(", ", out);
		r = arg_print(out, event, arg, machine);
		if (r)
			return r;
	}
	return 0;
}

/* Numbers that a call ends with inside the kernel when a signal comes. */
static const char *restart_text(int number)
{
	switch (number) {
	case 512:
		return "ERESTARTSYS (To be restarted if SA_RESTART is set)";
	case 513:
		return "ERESTARTNOINTR (To be restarted)";
	case 514:
		return "ERESTARTNOHAND (To be restarted if no handler)";
	case 516:
		return "ERESTART_RESTARTBLOCK (Interrupted by signal)";
	default:
		return NULL;
	}
}

static void error_print(FILE *out, int number)
{
	const char *name = errno_name(number), *words = strerrordesc_np(number);
	const char *restart = restart_text(number);

	if (restart)
		fprintf(out, "= ? %s", restart);
	else if (name)
		fprintf(out, "= -1 %s (%s)", name, words ? words : "no description");
	else
		fprintf(out, "= -1 ERRNO_%d (Unknown error %d)", number, number);
}

void text_request(FILE *out, const struct kernel_event *event)
{
	const struct qp_call *call = &event->call;
	const char *name = uring_op_name(call->nr);

	if (!(call->flags & QP_CALL_IO_URING))
		return;
	fprintf(out, " /* io_uring %s, request %" PRIu32 "%s */", name ? name : "?", call->request,
		call->flags & QP_CALL_SILENT ? ", silent" : "");
}

int text_result(FILE *out, const struct kernel_event *event)
{
	const struct event_field *path = event_field_find(event, QP_FIELD_PATH, QP_ROLE_RET);
	const struct qp_call *call = &event->call;
	int r = 0;

	if (call->flags & QP_CALL_KILLED)
		fputs("= ?", out);
	else if (call->ret < 0 && call->ret >= -ERRNO_MAX)
		error_print(out, (int)-call->ret);
	else if (call_info_get(call->call)->kind == QP_KIND_MMAP && call->ret)
		fprintf(out, "= %#" PRIx64, (uint64_t)call->ret);
	else
		fprintf(out, "= %" PRId64, call->ret);
	if (path)
		r = text_path(out, path);
	if (call->flags & QP_CALL_BLOCKED)
		fputs(" (denied by seccomp)", out);
	if (call->abi != QP_ABI_NATIVE)
		fprintf(out, " /* %s */",
			call->abi == QP_ABI_I386  ? "i386"
			: call->abi == QP_ABI_X32 ? "x32"
						  : "arm");
	text_request(out, event);
	return r;
}
