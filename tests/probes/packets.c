// SPDX-License-Identifier: Apache-2.0
/*
 * What no node program can send. As root in a network namespace of its own:
 *
 *	packets echo ADDRESS...		one echo request each; prints who answered
 *	packets proto N ADDRESS		four bytes of protocol N
 *	packets giveup ADDRESS A B	connects to ports A to B, closing before each stands
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ECHO_REQUEST	8
#define ECHO_REPLY	0
#define ECHO_REQUEST_V6 128
#define ECHO_REPLY_V6	129

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static socklen_t address_parse(const char *text, uint16_t port, struct sockaddr_storage *address)
{
	struct sockaddr_in *in = (void *)address;
	struct sockaddr_in6 *in6 = (void *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1) {
		fprintf(stderr, "%s: no address\n", text);
		exit(2);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	return sizeof(*in6);
}

static int raw_send(const char *text, int proto, const void *bytes, size_t len)
{
	struct sockaddr_storage to;
	socklen_t to_len = address_parse(text, 0, &to);
	int fd = socket(to.ss_family, SOCK_RAW, proto);

	if (fd < 0 || sendto(fd, bytes, len, 0, (struct sockaddr *)&to, to_len) < 0)
		die(text);
	return fd;
}

/* The kernel fills in the checksum of ICMPv6 only. */
static void echo(const char *text)
{
	struct timeval limit = {.tv_sec = 2};
	int six = strchr(text, ':') != NULL;
	uint8_t request[8] = {six ? ECHO_REQUEST_V6 : ECHO_REQUEST, 0, 0xf7, 0xf7, 0, 7, 0, 1};
	uint8_t reply[1500];
	char from_text[INET6_ADDRSTRLEN];
	int fd = raw_send(text, six ? IPPROTO_ICMPV6 : IPPROTO_ICMP, request, sizeof(request));

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (;;) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, reply, sizeof(reply), 0, (struct sockaddr *)&from, &len);

		if (n < 0)
			die(text);
		/* A raw socket sees neighbour discovery as well. */
		if (n < 21 - 20 * six || reply[20 - 20 * six] != (six ? ECHO_REPLY_V6 : ECHO_REPLY))
			continue;
		if (six)
			inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&from)->sin6_addr, from_text,
				  sizeof(from_text));
		else
			inet_ntop(AF_INET, &((struct sockaddr_in *)&from)->sin_addr, from_text,
				  sizeof(from_text));
		printf("%s\n", from_text);
		close(fd);
		return;
	}
}

static void give_up(const char *text, uint16_t port)
{
	struct sockaddr_storage to;
	socklen_t len = address_parse(text, port, &to);
	int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0 || (connect(fd, (struct sockaddr *)&to, len) < 0 && errno != EINPROGRESS))
		die(text);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "echo")) {
		for (int i = 2; i < argc; i++)
			echo(argv[i]);
	} else if (argc == 4 && !strcmp(argv[1], "proto")) {
		close(raw_send(argv[3], atoi(argv[2]), "qqqq", 4));
	} else if (argc == 5 && !strcmp(argv[1], "giveup")) {
		for (int port = atoi(argv[3]); port <= atoi(argv[4]); port++)
			give_up(argv[2], (uint16_t)port);
	} else {
		fprintf(stderr, "packets echo|proto|giveup ...\n");
		return 2;
	}
	return 0;
}
