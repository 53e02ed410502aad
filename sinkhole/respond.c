// SPDX-License-Identifier: Apache-2.0
/* The table of answers, read once. */
#include "sinkhole/respond.h"

#include "base/io.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define STATUS_MIN 200
#define STATUS_MAX 599

#define PAGE(title)                                                                       \
	"<html>\r\n<head><title>" title "</title></head>\r\n<body>\r\n<center><h1>" title \
	"</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

static const struct response forbidden = {
	.status = 403,
	.reason = "Forbidden",
	.body = (char *)PAGE("403 Forbidden"),
	.body_len = sizeof(PAGE("403 Forbidden")) - 1,
};
static const struct response bad_request = {
	.status = 400,
	.reason = "Bad Request",
	.body = (char *)PAGE("400 Bad Request"),
	.body_len = sizeof(PAGE("400 Bad Request")) - 1,
};

struct row {
	char *method, *host, *path; /* NULL: any */
	struct response response;
};

struct respond {
	struct row *rows;
	size_t cnt;
};

static const char *reason_of(unsigned status)
{
	static const struct {
		unsigned status;
		const char *reason;
	} reasons[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{301, "Moved Permanently"},
		{302, "Found"},
		{304, "Not Modified"},
		{307, "Temporary Redirect"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{429, "Too Many Requests"},
		{500, "Internal Server Error"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "OK";
}

void respond_free(struct respond *respond)
{
	if (!respond)
		return;
	for (size_t i = 0; i < respond->cnt; i++) {
		struct row *row = &respond->rows[i];

		for (size_t k = 0; k < row->response.headers_cnt; k++) {
			free(row->response.headers[k].name);
			free(row->response.headers[k].value);
		}
		free(row->response.body);
		free(row->method);
		free(row->host);
		free(row->path);
	}
	free(respond->rows);
	free(respond);
}

/* A header must not end its line, nor say how long the body is. */
static bool header_is_fine(const char *name, const char *value)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz";

	return *name && name[strspn(name, token)] == '\0' && value && !strpbrk(value, "\r\n") &&
	       strcasecmp(name, "content-length") != 0 && strcasecmp(name, "connection") != 0 &&
	       strcasecmp(name, "transfer-encoding") != 0;
}

static const char *headers_take(struct response *response, const json_t *headers)
{
	const char *name;
	json_t *value;

	if (headers && !json_is_object(headers))
		return "headers are no object";
	if (json_object_size(headers) > RESPOND_HEADERS_MAX)
		return "too many headers";
	json_object_foreach ((json_t *)headers, name, value) {
		struct respond_header *header = &response->headers[response->headers_cnt];

		if (!header_is_fine(name, json_string_value(value)))
			return "a header that cannot be set";
		header->name = strdup(name);
		header->value = strdup(json_string_value(value));
		response->headers_cnt++;
		if (!header->name || !header->value)
			return "out of memory";
	}
	return NULL;
}

/* A member that is a text, or not there. */
static const char *text_take(const json_t *object, const char *key, char **ret_text)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return NULL;
	if (!json_is_string(value))
		return "a member that is no text";
	*ret_text = strdup(json_string_value(value));
	return *ret_text ? NULL : "out of memory";
}

static const char *row_take(struct row *row, const json_t *object)
{
	static const char *const known[] = {"method", "host", "path", "status", "headers", "body"};
	json_int_t status = json_integer_value(json_object_get(object, "status"));
	const char *why, *key;
	json_t *value;

	if (!json_is_object(object))
		return "no object";
	json_object_foreach ((json_t *)object, key, value) {
		bool found = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found |= !strcmp(key, known[i]);
		if (!found)
			return "a member that is not known";
	}
	if (status < STATUS_MIN || status > STATUS_MAX)
		return "\"status\" is no number from 200 to 599";
	row->response.status = (unsigned)status;
	row->response.reason = reason_of(row->response.status);
	why = text_take(object, "method", &row->method);
	why = why ? why : text_take(object, "host", &row->host);
	why = why ? why : text_take(object, "path", &row->path);
	why = why ? why : text_take(object, "body", &row->response.body);
	row->response.body_len = row->response.body ? strlen(row->response.body) : 0;
	if (!why && row->response.body_len > RESPOND_BODY_MAX)
		why = "a body beyond 65536 bytes";
	return why ? why : headers_take(&row->response, json_object_get(object, "headers"));
}

int respond_load(const char *path, struct respond **ret_respond, struct qp_error *err)
{
	_cleanup_respond_ struct respond *respond = calloc(1, sizeof(*respond));
	_cleanup_free_ char *text = NULL;
	json_error_t where;
	json_t *list, *object;
	size_t len, i;
	int r;

	if (!respond)
		return qp_error_set(err, -ENOMEM, "out of memory");
	r = path ? read_file_at(AT_FDCWD, path, RESPOND_FILE_MAX, &text, &len) : 0;
	if (r < 0)
		return qp_error_set(err, r, "%s: %s", path, strerror(-r));
	list = path ? json_loadb(text, len, JSON_REJECT_DUPLICATES, &where) : json_array();
	if (!list)
		return qp_error_at(err, -EINVAL, path, where.line, where.column, "%s", where.text);
	respond->rows = calloc(json_array_size(list) + 1, sizeof(*respond->rows));
	if (!json_is_array(list) || json_array_size(list) > RESPOND_ROWS_MAX)
		r = qp_error_at(err, -EINVAL, path, 0, 0, "not an array of at most %d rows",
				RESPOND_ROWS_MAX);
	json_array_foreach (list, i, object) {
		const char *why = NULL;

		if (r == 0 && respond->rows)
			why = row_take(&respond->rows[respond->cnt++], object);
		if (why)
			r = qp_error_at(err, -EINVAL, path, 0, 0, "row %zu: %s", i + 1, why);
	}
	json_decref(list);
	if (r == 0 && !respond->rows)
		r = qp_error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		*ret_respond = steal_ptr(respond);
	return r;
}

static bool fits(const char *pattern, const char *text, int flags)
{
	return !pattern || (text && fnmatch(pattern, text, flags) == 0);
}

const struct response *respond_find(const struct respond *respond, const char *method,
				    const char *host, const char *path,
				    const struct response *otherwise)
{
	for (size_t i = 0; respond && i < respond->cnt; i++) {
		const struct row *row = &respond->rows[i];

		if ((!row->method || (method && !strcmp(row->method, method))) &&
		    fits(row->host, host, FNM_CASEFOLD) && fits(row->path, path, 0))
			return &row->response;
	}
	return otherwise ? otherwise : &forbidden;
}

const struct response *respond_bad_request(void)
{
	return &bad_request;
}
