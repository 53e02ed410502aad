// SPDX-License-Identifier: Apache-2.0
/* Messages to and from PID 1 of the sandbox. */
#include "tools/sandbox/control.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#define SEND_WAIT_MS 5000

int control_pair(int *ret_ours, int *ret_theirs)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	*ret_ours = fds[0];
	*ret_theirs = fds[1];
	return 0;
}

/* Bytes of one message under construction. */
struct buffer {
	char *bytes;
	size_t len;
};

static int buffer_word(struct buffer *buffer, const char *word)
{
	size_t len = strlen(word);

	if (buffer->len + 1 + len > CONTROL_MESSAGE_BYTES_MAX)
		return -E2BIG;
	if (buffer->len)
		buffer->bytes[buffer->len++] = '\0';
	memcpy(buffer->bytes + buffer->len, word, len);
	buffer->len += len;
	return 0;
}

static int buffer_send(const struct buffer *buffer, int fd)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	while (send(fd, buffer->bytes, buffer->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		int ready;

		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		ready = poll(&room, 1, SEND_WAIT_MS);
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (!ready)
			return -ETIMEDOUT;
	}
	return 0;
}

static int words_send(int fd, const char *const *words, const char *const *more)
{
	_cleanup_free_ char *bytes = malloc(CONTROL_MESSAGE_BYTES_MAX);
	struct buffer buffer = {.bytes = bytes};
	size_t cnt = 0;
	int r = 0;

	if (!bytes)
		return -ENOMEM;
	for (; !r && *words; words++)
		r = buffer_word(&buffer, *words);
	for (; !r && more && *more; more++)
		r = cnt++ < CONTROL_ARGS_MAX ? buffer_word(&buffer, *more) : -E2BIG;
	return r ? r : buffer_send(&buffer, fd);
}

int control_send_nonce(int fd, const char *nonce)
{
	const char *words[] = {"nonce", nonce, NULL};

	return words_send(fd, words, NULL);
}

int control_send_phase(int fd, const char *name, const char *cwd, const char *const *argv)
{
	const char *words[] = {"phase", name, cwd, NULL};

	return words_send(fd, words, cwd ? argv : NULL);
}

int control_send_finish(int fd, unsigned int seconds)
{
	char text[16];
	const char *words[] = {"finish", text, NULL};

	snprintf(text, sizeof(text), "%u", seconds);
	return words_send(fd, words, NULL);
}

/* Which words each message has after its keyword. */
static const struct {
	const char *keyword;
	enum control_kind kind;
	bool phase, number, data;
} shapes[] = {
	{"ready", CONTROL_READY, false, false, false},
	{"begin", CONTROL_BEGIN, true, false, false},
	{"pid", CONTROL_PID, true, true, false},
	{"data", CONTROL_DATA, true, false, true},
	{"end", CONTROL_END, true, true, false},
	{"stragglers", CONTROL_STRAGGLERS, false, true, false},
};

#define SHAPES_CNT (sizeof(shapes) / sizeof(*shapes))

/* The word after the current one, or NULL at the end of @len bytes (a NUL follows them). */
static const char *word_next(const char *word, const char *end)
{
	const char *next = word + strlen(word) + 1;

	return next <= end ? next : NULL;
}

static int phase_take(const char *word, struct control_message *message)
{
	size_t len = word ? strlen(word) : 0;

	if (!len || len >= sizeof(message->phase) ||
	    strspn(word, "abcdefghijklmnopqrstuvwxyz") != len)
		return -EBADMSG;
	memcpy(message->phase, word, len + 1);
	return 0;
}

static int message_parse(const char *bytes, size_t len, struct control_message *message)
{
	const char *word = bytes, *end = bytes + len;
	uint64_t number = 0;
	size_t i = 0;

	while (i < SHAPES_CNT && strcmp(shapes[i].keyword, word) != 0)
		i++;
	if (i == SHAPES_CNT)
		return -EBADMSG;
	message->kind = shapes[i].kind;
	message->phase[0] = '\0';
	message->data_len = 0;
	word = word_next(word, end);
	if (shapes[i].phase) {
		if (phase_take(word, message))
			return -EBADMSG;
		word = word_next(word, end);
	}
	if (shapes[i].number) {
		if (!word || number_parse(word, 0, INT32_MAX, &number))
			return -EBADMSG;
		word = word_next(word, end);
	}
	message->number = (uint32_t)number;
	if (shapes[i].data) {
		if (!word || end - word > CONTROL_DATA_BYTES_MAX)
			return -EBADMSG;
		message->data_len = (size_t)(end - word);
		memcpy(message->data, word, message->data_len);
		word = NULL;
	}
	message->data[message->data_len] = '\0';
	return word ? -EBADMSG : 1;
}

int control_receive(int fd, struct control_message *ret_message)
{
	_cleanup_free_ char *bytes = malloc(CONTROL_MESSAGE_BYTES_MAX + 1);
	ssize_t n;

	if (!bytes)
		return -ENOMEM;
	do {
		n = recv(fd, bytes, CONTROL_MESSAGE_BYTES_MAX, MSG_DONTWAIT | MSG_TRUNC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (n > CONTROL_MESSAGE_BYTES_MAX)
		return -EBADMSG;
	if (!n)
		return 0;
	bytes[n] = '\0';
	return message_parse(bytes, (size_t)n, ret_message);
}
