// SPDX-License-Identifier: Apache-2.0
/* What requests of HTTP/2 are told. */
#include "sinkhole/h2_internal.h"

#include <string.h>

#define RESPONSE_FIELDS (5 + RESPOND_HEADERS_MAX)

static ssize_t body_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t len,
			 uint32_t *flags, nghttp2_data_source *source, void *context)
{
	struct h2_stream *stream = source->ptr;
	size_t left = stream->response->body_len - stream->sent;

	(void)session;
	(void)id;
	(void)context;
	if (len > left)
		len = left;
	memcpy(buf, stream->response->body + stream->sent, len);
	stream->sent += len;
	if (stream->sent == stream->response->body_len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)len;
}

static nghttp2_nv field(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0};
}

void h2_choose(struct h2 *h2, struct h2_stream *stream)
{
	stream->response = respond_find(h2->conn->conns->respond, stream->method, stream->host,
					stream->path, rpc_body_answer(&stream->rpc));
}

void h2_answer(struct h2 *h2, int32_t id, struct h2_stream *stream)
{
	const struct response *response = stream->response;
	char status[16], date[64], length[24], *names[RESPOND_HEADERS_MAX] = {};
	nghttp2_data_provider body = {{.ptr = stream}, body_read};
	nghttp2_nv fields[RESPONSE_FIELDS];
	bool head_only = stream->method && !strcmp(stream->method, "HEAD");
	bool typed = false;
	time_t now = time(NULL);
	struct tm parts;
	size_t cnt = 0;

	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &parts));
	snprintf(status, sizeof(status), "%u", response->status);
	snprintf(length, sizeof(length), "%zu", response->body_len);
	fields[cnt++] = field(":status", status);
	fields[cnt++] = field("server", "nginx");
	fields[cnt++] = field("date", date);
	fields[cnt++] = field("content-length", length);
	for (size_t i = 0; i < response->headers_cnt; i++) {
		names[i] = strdup(response->headers[i].name);
		for (char *p = names[i]; p && *p; p++)
			*p |= *p >= 'A' && *p <= 'Z' ? 0x20 : 0;
		typed |= names[i] && !strcmp(names[i], "content-type");
		if (names[i])
			fields[cnt++] = field(names[i], response->headers[i].value);
	}
	if (!typed)
		fields[cnt++] = field("content-type", "text/html");
	nghttp2_submit_response(h2->session, id, fields, cnt,
				head_only || !response->body_len ? NULL : &body);
	for (size_t i = 0; i < RESPOND_HEADERS_MAX; i++)
		free(names[i]);
}

void h2_go_on(struct h2 *h2, int32_t id)
{
	nghttp2_nv status = field(":status", "100");

	nghttp2_submit_headers(h2->session, NGHTTP2_FLAG_NONE, id, NULL, &status, 1, NULL);
}
