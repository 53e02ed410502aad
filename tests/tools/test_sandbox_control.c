// SPDX-License-Identifier: Apache-2.0
/* qp's end of the protocol with PID 1: what is sent, and what is believed of what comes. */
#include "base/cleanup.h"
#include "tools/sandbox/control.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

struct pair {
	int ours, theirs;
	struct control_message message;
};

static struct pair *pair_open(void)
{
	struct pair *pair = malloc(sizeof(*pair));

	cr_assert_not_null(pair);
	cr_assert_eq(control_pair(&pair->ours, &pair->theirs), 0);
	return pair;
}

static void pair_close(struct pair *pair)
{
	close(pair->ours);
	close(pair->theirs);
	free(pair);
}

static void expect_sent(struct pair *pair, const char *bytes, size_t len)
{
	char got[256];
	ssize_t n = recv(pair->theirs, got, sizeof(got), MSG_DONTWAIT);

	cr_assert_eq(n, (ssize_t)len, "%zd bytes, not %zu", n, len);
	cr_expect_eq(memcmp(got, bytes, len), 0);
}

#define EXPECT_SENT(pair, text) expect_sent(pair, text, sizeof(text) - 1)

Test(sandbox_control, sends_what_the_protocol_document_says)
{
	const char *argv[] = {"sh", "", "-c", NULL};
	struct pair *pair = pair_open();

	cr_expect_eq(control_send_nonce(pair->ours, "0123456789abcdef01234567"), 0);
	EXPECT_SENT(pair, "nonce\0"
			  "0123456789abcdef01234567");
	cr_expect_eq(control_send_phase(pair->ours, "copy", NULL, NULL), 0);
	EXPECT_SENT(pair, "phase\0copy");
	cr_expect_eq(control_send_phase(pair->ours, "run", "/work", argv), 0);
	EXPECT_SENT(pair, "phase\0run\0/work\0sh\0\0-c");
	cr_expect_eq(control_send_finish(pair->ours, 2), 0);
	EXPECT_SENT(pair, "finish\0"
			  "2");
	pair_close(pair);
}

static int receive(struct pair *pair, const char *bytes, size_t len)
{
	cr_assert_eq(send(pair->theirs, bytes, len, 0), (ssize_t)len);
	return control_receive(pair->ours, &pair->message);
}

#define RECEIVE(pair, text) receive(pair, text, sizeof(text) - 1)

Test(sandbox_control, understands_every_message_of_pid_1)
{
	struct pair *pair = pair_open();
	const struct control_message *message = &pair->message;

	cr_expect_eq(control_receive(pair->ours, &pair->message), -EAGAIN);
	cr_expect_eq(RECEIVE(pair, "ready"), 1);
	cr_expect_eq(message->kind, CONTROL_READY);
	cr_expect_eq(RECEIVE(pair, "begin\0copy"), 1);
	cr_expect_eq(message->kind, CONTROL_BEGIN);
	cr_expect_str_eq(message->phase, "copy");
	cr_expect_eq(RECEIVE(pair, "pid\0rebuild\0"
				   "17"),
		     1);
	cr_expect_eq(message->kind, CONTROL_PID);
	cr_expect_str_eq(message->phase, "rebuild");
	cr_expect_eq(message->number, 17);
	cr_expect_eq(RECEIVE(pair, "data\0scan\0a\0b"), 1);
	cr_expect_eq(message->kind, CONTROL_DATA);
	cr_expect_eq(message->data_len, 3);
	cr_expect_eq(memcmp(message->data, "a\0b", 4), 0);
	cr_expect_eq(RECEIVE(pair, "end\0harness\0"
				   "139"),
		     1);
	cr_expect_eq(message->kind, CONTROL_END);
	cr_expect_eq(message->number, 139);
	cr_expect_eq(RECEIVE(pair, "stragglers\0"
				   "0"),
		     1);
	cr_expect_eq(message->kind, CONTROL_STRAGGLERS);
	cr_expect_eq(message->number, 0);
	close(pair->theirs);
	cr_expect_eq(control_receive(pair->ours, &pair->message), 0);
	pair->theirs = -1;
	pair_close(pair);
}

Test(sandbox_control, refuses_whatever_else_comes)
{
	struct pair *pair = pair_open();
	char *long_data = calloc(1, CONTROL_MESSAGE_BYTES_MAX + 1);

	cr_expect_eq(RECEIVE(pair, "\0"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "hello"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "ready\0"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "ready\0x"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "begin"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "begin\0"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "begin\0Copy"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "begin\0a\nb"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "begin\0abcdefghijklmnop"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "end\0run"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "end\0run\0"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "end\0run\0-1"), -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "end\0run\0"
				   "0x1"),
		     -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "end\0run\0"
				   "4294967296"),
		     -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "end\0run\0"
				   "1\0x"),
		     -EBADMSG);
	cr_expect_eq(RECEIVE(pair, "data\0run"), -EBADMSG);
	memcpy(long_data, "data\0run\0", 9);
	cr_expect_eq(receive(pair, long_data, 9 + CONTROL_DATA_BYTES_MAX), 1);
	cr_expect_eq(receive(pair, long_data, 9 + CONTROL_DATA_BYTES_MAX + 1), -EBADMSG);
	cr_expect_eq(receive(pair, long_data, CONTROL_MESSAGE_BYTES_MAX + 1), -EBADMSG);
	/* And goes on after each of them. */
	cr_expect_eq(RECEIVE(pair, "ready"), 1);
	free(long_data);
	pair_close(pair);
}

Test(sandbox_control, bounds_what_it_sends)
{
	struct pair *pair = pair_open();
	const char **argv = calloc(CONTROL_ARGS_MAX + 2, sizeof(*argv));
	char *text = malloc(CONTROL_MESSAGE_BYTES_MAX + 1);

	for (size_t i = 0; i <= CONTROL_ARGS_MAX; i++)
		argv[i] = "a";
	cr_expect_eq(control_send_phase(pair->ours, "run", "/", argv), -E2BIG);
	argv[CONTROL_ARGS_MAX] = NULL;
	cr_expect_eq(control_send_phase(pair->ours, "run", "/", argv), 0);
	memset(text, 'x', CONTROL_MESSAGE_BYTES_MAX);
	text[CONTROL_MESSAGE_BYTES_MAX] = '\0';
	cr_expect_eq(control_send_phase(pair->ours, text, NULL, NULL), -E2BIG);
	/* "phase", a NUL and this are the largest message. */
	text[CONTROL_MESSAGE_BYTES_MAX - 6] = '\0';
	cr_expect_eq(control_send_phase(pair->ours, text, NULL, NULL), 0);
	free(text);
	free(argv);
	pair_close(pair);
}

Test(sandbox_control, says_when_pid_1_is_gone)
{
	struct pair *pair = pair_open();

	close(pair->theirs);
	cr_expect_eq(control_send_finish(pair->ours, 1), -EPIPE);
	pair->theirs = -1;
	pair_close(pair);
}

Test(sandbox_control, gives_up_when_pid_1_reads_nothing)
{
	struct pair *pair = pair_open();
	int r, cnt = 0;

	while (!(r = control_send_finish(pair->ours, 1)))
		cr_assert_lt(++cnt, 1000000);
	cr_expect_eq(r, -ETIMEDOUT);
	pair_close(pair);
}
