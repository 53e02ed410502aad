// SPDX-License-Identifier: Apache-2.0
/* Messages to and from qp: one SOCK_SEQPACKET datagram each, words between NUL bytes. */
#include "tools/init/init.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SEND_WORDS_MAX 3

int channel_receive(struct message *ret_message)
{
	struct iovec iov = {ret_message->bytes, MESSAGE_BYTES_MAX};
	struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
	char *end, *p = ret_message->bytes;
	ssize_t n;

	do {
		n = recvmsg(CONTROL_FD, &header, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (!n)
		return 0;
	if (header.msg_flags & MSG_TRUNC)
		return -EBADMSG;
	end = p + n;
	*end = '\0';
	ret_message->words_cnt = 0;
	while (p <= end) {
		if (ret_message->words_cnt == MESSAGE_WORDS_MAX)
			return -EBADMSG;
		ret_message->words[ret_message->words_cnt++] = p;
		p += strlen(p) + 1;
	}
	ret_message->words[ret_message->words_cnt] = NULL;
	return 1;
}

int channel_send(const char *const *words, const void *data, size_t len)
{
	struct iovec iov[2 * SEND_WORDS_MAX + 2];
	struct msghdr header = {.msg_iov = iov};
	ssize_t n;

	for (size_t i = 0; words[i]; i++) {
		if (i == SEND_WORDS_MAX)
			return -EINVAL;
		if (i)
			iov[header.msg_iovlen++] = (struct iovec){(void *)"", 1};
		iov[header.msg_iovlen++] = (struct iovec){(void *)words[i], strlen(words[i])};
	}
	if (data) {
		iov[header.msg_iovlen++] = (struct iovec){(void *)"", 1};
		iov[header.msg_iovlen++] = (struct iovec){(void *)data, len};
	}
	do {
		n = sendmsg(CONTROL_FD, &header, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int channel_send_number(const char *keyword, const char *name, uint64_t number)
{
	char text[24];
	const char *words[] = {keyword, name ? name : text, name ? text : NULL, NULL};

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return channel_send(words, NULL, 0);
}
