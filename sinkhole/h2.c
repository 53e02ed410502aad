// SPDX-License-Identifier: Apache-2.0
/* A server session of nghttp2 over a connection's bytes. */
#include "sinkhole/h2_internal.h"

#include <string.h>
#include <strings.h>

#define STREAMS_AT_ONCE	      100
#define SESSION_BYTES	      32768 /* nghttp2's tables and buffers, roughly */
#define STREAM_BYTES	      2048
#define FRAME_EXTENSION_FIRST 10
#define FRAME_EXTENSION_LAST  255
#define GOAWAY_FIXED	      8
#define PING_BYTES	      8

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool h2_looks_like(const char *bytes, size_t len)
{
	return memcmp(bytes, preface, len < H2_PREFACE_LEN ? len : H2_PREFACE_LEN) == 0;
}

static size_t stream_bytes(const struct h2_stream *stream)
{
	return STREAM_BYTES + 2 * stream->header_bytes + decoy_scan_memory(&stream->scan) +
	       decoy_scan_memory(&stream->body_scan) + rpc_body_memory(&stream->rpc);
}

size_t h2_memory(const struct h2 *h2)
{
	const struct h2_stream *stream;
	size_t sum = SESSION_BYTES;

	if (!h2)
		return 0;
	TAILQ_FOREACH(stream, &h2->streams, entry)
	sum += stream_bytes(stream);
	return sum;
}

static void stream_free(struct h2_stream *stream)
{
	TAILQ_REMOVE(&stream->h2->streams, stream, entry);
	decoy_scan_end(&stream->scan);
	decoy_scan_end(&stream->body_scan);
	EVP_MD_CTX_free(stream->hash);
	rpc_body_free(&stream->rpc);
	json_decref(stream->names);
	free(stream->method);
	free(stream->host);
	free(stream->path);
	free(stream);
}

void h2_free(struct h2 *h2)
{
	if (!h2)
		return;
	nghttp2_session_del(h2->session);
	while (!TAILQ_EMPTY(&h2->streams))
		stream_free(TAILQ_FIRST(&h2->streams));
	free(h2);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct h2 *h2 = context;
	struct h2_stream *stream;

	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	stream->h2 = h2;
	stream->t = record_now();
	stream->names = json_array();
	TAILQ_INSERT_TAIL(&h2->streams, stream, entry);
	return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
}

/* Keeps a pseudo-header's value; it comes once, which nghttp2 sees to. */
static void value_keep(char **text, size_t *ret_len, const uint8_t *value, size_t len)
{
	free(*text);
	*text = strndup((const char *)value, len);
	*ret_len = *text ? strlen(*text) : 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *context)
{
	struct h2_stream *stream =
		nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	const struct decoys *decoys = ((struct h2 *)context)->conn->conns->resolver->decoys;

	(void)flags;
	if (!stream)
		return 0;
	stream->header_bytes += name_len + value_len;
	if (stream->header_bytes > HTTP_HEAD_MAX)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	/* Compressed on the wire, so that only here they can be searched. */
	decoy_scan_feed(&stream->scan, decoys, name, name_len, false);
	decoy_scan_feed(&stream->scan, decoys, ": ", 2, false);
	decoy_scan_feed(&stream->scan, decoys, value, value_len, false);
	decoy_scan_feed(&stream->scan, decoys, "\0", 1, false);
	if (stream->headers_over)
		stream->payload += name_len + value_len;
	else if (!strcmp((const char *)name, ":method"))
		value_keep(&stream->method, &stream->method_len, value, value_len);
	else if (!strcmp((const char *)name, ":path"))
		value_keep(&stream->path, &stream->path_len, value, value_len);
	else if (!strcmp((const char *)name, ":authority"))
		value_keep(&stream->host, &stream->host_len, value, value_len);
	if (name[0] != ':' && json_array_size(stream->names) < RECORD_HEADERS_MAX)
		json_array_append_new(stream->names, record_escaped(name, name_len));
	stream->expects |= !strcmp((const char *)name, "expect") &&
			   !strcasecmp((const char *)value, "100-continue");
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t len, void *context)
{
	struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
	struct conn *conn = ((struct h2 *)context)->conn;

	(void)flags;
	if (!stream)
		return 0;
	stream->payload += len;
	if (!stream->hash) {
		stream->hash = EVP_MD_CTX_new();
		if (stream->hash)
			EVP_DigestInit_ex2(stream->hash, conn->conns->sha256, NULL);
	}
	if (stream->hash)
		EVP_DigestUpdate(stream->hash, bytes, len);
	rpc_body_feed(&stream->rpc, (const char *)bytes, len);
	decoy_scan_feed(&stream->body_scan, conn->conns->resolver->decoys, bytes, len, true);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct h2_stream *stream =
		nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct h2 *h2 = context;

	if (frame->hd.type == NGHTTP2_PING)
		h2->odd += PING_BYTES;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		h2->odd += frame->hd.length - GOAWAY_FIXED;
	h2->client_ends |= frame->hd.type == NGHTTP2_GOAWAY;
	if (!stream || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
		return 0;
	if (frame->hd.type == NGHTTP2_DATA)
		stream->payload += frame->data.padlen;
	stream->headers_over = true;
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		h2_choose(h2, stream);
		if (!stream->recorded)
			h2_stream_record(stream, false);
		h2_answer(h2, frame->hd.stream_id, stream);
	} else if (frame->hd.type == NGHTTP2_HEADERS && stream->expects) {
		h2_go_on(h2, frame->hd.stream_id);
	}
	return 0;
}

/* Frames that a server must pass over carry bytes all the same, as do those it refuses. */
static int on_extension(nghttp2_session *session, const nghttp2_frame_hd *head,
			const uint8_t *bytes, size_t len, void *context)
{
	(void)session;
	(void)head;
	(void)bytes;
	((struct h2 *)context)->odd += len;
	return 0;
}

static int extension_pass_over(nghttp2_session *session, void **payload,
			       const nghttp2_frame_hd *head, void *context)
{
	(void)session;
	(void)payload;
	(void)head;
	(void)context;
	return NGHTTP2_ERR_CANCEL;
}

static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int code,
			    void *context)
{
	(void)session;
	(void)code;
	((struct h2 *)context)->odd += frame->hd.length;
	return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
	struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)code;
	(void)context;
	if (!stream)
		return 0;
	if (!stream->recorded)
		h2_stream_record(stream, false);
	stream_free(stream);
	return 0;
}

static void callbacks_set(nghttp2_session_callbacks *callbacks)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_extension_chunk_recv_callback(callbacks, on_extension);
	nghttp2_session_callbacks_set_unpack_extension_callback(callbacks, extension_pass_over);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
}

static int session_begin(struct h2 *h2)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_AT_ONCE},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX},
	};
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	int r = nghttp2_session_callbacks_new(&callbacks);

	if (r == 0)
		r = nghttp2_option_new(&option);
	if (r == 0) {
		callbacks_set(callbacks);
		for (unsigned type = FRAME_EXTENSION_FIRST; type <= FRAME_EXTENSION_LAST; type++)
			nghttp2_option_set_user_recv_extension_type(option, (uint8_t)type);
		r = nghttp2_session_server_new2(&h2->session, callbacks, h2, option);
	}
	if (r == 0)
		r = nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, 2);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_option_del(option);
	return r == 0 ? 0 : -ENOMEM;
}

int h2_begin(struct conn *conn)
{
	struct h2 *h2 = calloc(1, sizeof(*h2));

	if (!h2)
		return -ENOMEM;
	h2->conn = conn;
	TAILQ_INIT(&h2->streams);
	if (session_begin(h2) < 0) {
		h2_free(h2);
		return -ENOMEM;
	}
	conn->h2 = h2;
	return 0;
}

void h2_feed(struct conn *conn, const char *bytes, size_t len)
{
	struct h2 *h2 = conn->h2;
	const char *why = NULL;
	const uint8_t *out;
	ssize_t n;

	if (h2->broken) {
		h2->odd += len;
		return;
	}
	n = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes, len);
	if (n < 0)
		why = nghttp2_strerror((int)n);
	while ((n = nghttp2_session_mem_send(h2->session, &out)) > 0)
		conn_send(conn, out, (size_t)n);
	/* Once our GOAWAY is sent nothing more is read: we ended it, for what it sent. */
	if (!why && !h2->client_ends && !nghttp2_session_want_read(h2->session))
		why = "a connection error of HTTP/2";
	if (why) {
		/* Nobody knows which of these bytes were frames. */
		conn_malformed(conn, "http", why);
		h2->broken = true;
		h2->odd += len;
	}
	if (why || !nghttp2_session_want_read(h2->session))
		conn_linger(conn);
	conn_account(conn);
}

void h2_end(struct conn *conn, bool early)
{
	struct h2_stream *stream;

	TAILQ_FOREACH(stream, &conn->h2->streams, entry)
	if (!stream->recorded)
		h2_stream_record(stream, early);
	if (conn->h2->odd || !conn->recorded)
		h2_odd_record(conn->h2, early);
	conn->bytes = 0;
}
