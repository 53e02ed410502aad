// SPDX-License-Identifier: Apache-2.0
/* HTTP/1.1 and HTTP/2 requests over connections that are kept. */
#include "tools/bench/load.h"

#include "base/cleanup.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define CONNS	 32
#define STREAMS	 32 /* under way on each connection of HTTP/2 */
#define RESPONSE 4096

static const char request[] = "GET /load HTTP/1.1\r\nHost: load.example\r\n\r\n";

/* One connection; of HTTP/1.1 with one request under way. */
struct client {
	int fd;
	struct load *load;
	nghttp2_session *session; /* of HTTP/2 */
	size_t got, want;	  /* of the response at hand; want 0: not known yet */
	char response[RESPONSE];
};

static void clients_end(struct client *clients)
{
	for (size_t i = 0; i < CONNS; i++) {
		nghttp2_session_del(clients[i].session);
		if (clients[i].fd >= 0)
			close(clients[i].fd);
	}
	free(clients);
}

DEFINE_CLEANUP(clients, struct client *, clients_end);

static struct client *clients_begin(struct load *load, struct qp_error *err)
{
	_cleanup_(clients) struct client *clients = calloc(CONNS, sizeof(*clients));
	bool failed = false;

	for (size_t i = 0; clients && i < CONNS; i++) {
		clients[i].fd = load_connect(LOAD_ADDRESS, 80, true);
		clients[i].load = load;
		failed |= clients[i].fd < 0;
	}
	if (clients && !failed)
		return steal_ptr(clients);
	qp_error_set(err, -EIO, "connect: %s", strerror(errno));
	return NULL;
}

/* The length of a response by its head; 0 while that is not whole. */
static size_t response_size(const char *text, size_t len)
{
	static const char field[] = "Content-Length: ";
	const char *end = memmem(text, len, "\r\n\r\n", 4);
	const char *length = memmem(text, len, field, sizeof(field) - 1);

	if (!end || !length)
		return 0;
	return (size_t)(end - text) + 4 + strtoul(length + sizeof(field) - 1, NULL, 10);
}

static int http1_send(struct client *client)
{
	if (client->load->attempts == client->load->cnt)
		return 0;
	client->load->attempts++;
	client->got = client->want = 0;
	return send(client->fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int http1_receive(struct client *client)
{
	ssize_t n = recv(client->fd, client->response + client->got, RESPONSE - client->got, 0);

	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	client->got += (size_t)n;
	if (!client->want)
		client->want = response_size(client->response, client->got);
	if (!client->want || client->got < client->want)
		return 0;
	client->load->answered++;
	return http1_send(client);
}

/* Lets all clients go on with what they receive until everything is answered. */
static int clients_run(struct client *clients, int (*receive)(struct client *),
		       struct qp_error *err)
{
	struct load *load = clients->load;
	struct pollfd fds[CONNS];
	int r = 0;

	for (size_t i = 0; i < CONNS; i++)
		fds[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
	while (!r && load->answered < load->cnt) {
		if (poll(fds, CONNS, LOAD_PATIENCE_MS) <= 0)
			return qp_error_set(err, -ETIMEDOUT, "a request got no answer");
		for (size_t i = 0; !r && i < CONNS; i++)
			r = fds[i].revents ? receive(&clients[i]) : 0;
	}
	return r ? qp_error_set(err, r, "a request: %s", strerror(-r)) : 0;
}

int load_http1(struct load *load, struct qp_error *err)
{
	_cleanup_(clients) struct client *clients = clients_begin(load, err);
	uint64_t begun_ns = bench_now_ns();
	int r = 0;

	if (!clients)
		return -EIO;
	for (size_t i = 0; !r && i < CONNS; i++)
		r = http1_send(&clients[i]);
	r = r ? r : clients_run(clients, http1_receive, err);
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return r;
}

static int http2_submit(struct client *client)
{
	static const char *const texts[][2] = {{":method", "GET"},
					       {":scheme", "http"},
					       {":authority", "load.example"},
					       {":path", "/load"}};
	nghttp2_nv fields[4];

	if (client->load->attempts == client->load->cnt)
		return 0;
	for (size_t i = 0; i < 4; i++)
		fields[i] = (nghttp2_nv){(uint8_t *)texts[i][0], (uint8_t *)texts[i][1],
					 strlen(texts[i][0]), strlen(texts[i][1]), 0};
	client->load->attempts++;
	return nghttp2_submit_request(client->session, NULL, fields, 4, NULL, NULL) < 0 ? -EIO : 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
	struct client *client = context;

	(void)session;
	(void)id;
	client->load->answered += code == NGHTTP2_NO_ERROR;
	return http2_submit(client) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int http2_flush(struct client *client)
{
	const uint8_t *bytes;
	ssize_t n;

	while ((n = nghttp2_session_mem_send(client->session, &bytes)) > 0)
		if (send(client->fd, bytes, (size_t)n, MSG_NOSIGNAL) != n)
			return -errno;
	return n < 0 ? -EIO : 0;
}

static int http2_receive(struct client *client)
{
	ssize_t n = recv(client->fd, client->response, RESPONSE, 0);

	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	if (nghttp2_session_mem_recv(client->session, (uint8_t *)client->response, (size_t)n) < 0)
		return -EIO;
	return http2_flush(client);
}

static int http2_begin(struct client *client)
{
	nghttp2_session_callbacks *callbacks;
	int r = nghttp2_session_callbacks_new(&callbacks);

	if (r)
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	r = nghttp2_session_client_new(&client->session, callbacks, client);
	nghttp2_session_callbacks_del(callbacks);
	if (r || nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, NULL, 0))
		return -ENOMEM;
	/* Each connection has a request, or would have a record that is of none. */
	for (uint64_t i = 0; !r && i < STREAMS && i < client->load->cnt / CONNS; i++)
		r = http2_submit(client);
	return r ? r : http2_flush(client);
}

int load_http2(struct load *load, struct qp_error *err)
{
	_cleanup_(clients) struct client *clients = clients_begin(load, err);
	uint64_t begun_ns = bench_now_ns();
	int r = 0;

	if (!clients)
		return -EIO;
	for (size_t i = 0; !r && i < CONNS; i++)
		r = http2_begin(&clients[i]);
	r = r ? qp_error_set(err, r, "HTTP/2: %s", strerror(-r))
	      : clients_run(clients, http2_receive, err);
	load->seconds = (double)(bench_now_ns() - begun_ns) / 1e9;
	return r;
}
