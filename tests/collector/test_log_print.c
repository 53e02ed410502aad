// SPDX-License-Identifier: Apache-2.0
#include "tests/collector/events_net.h"

#include "collector/log_print.h"

static struct script script;
static struct script *const s = &script;
static json_t *lines;

static void begin(void)
{
	script_open(s);
}

static void tidy(void)
{
	json_decref(lines);
}

TestSuite(log_print, .init = begin, .fini = tidy);

/* Prints the log and reads every line back. */
static const json_t *print(size_t n)
{
	char sha256[SHA256_HEX_SIZE], *text = NULL;
	struct log_reader *reader;
	uint64_t bytes;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
	cr_assert_eq(log_print_json(reader, out, NULL), 0);
	fclose(out);
	log_reader_free(reader);
	remove_tree_at(AT_FDCWD, s->folder);
	lines = json_array();
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);

		cr_assert(object, "no JSON: %s", line);
		json_array_append_new(lines, object);
	}
	free(text);
	return json_array_get(lines, n);
}

Test(log_print, a_call_has_names_and_its_path_as_text)
{
	const json_t *line;

	ev_open(s, 10, "/etc/passwd", O_RDONLY, QP_PATH_DELETED, 7);
	line = print(0);
	assert_json(json_object_get(line, "n"), "1");
	assert_json(json_object_get(line, "type"), "'event'");
	assert_json(json_object_get(line, "event"), "'call'");
	assert_json(json_object_get(line, "call"), "'openat'");
	assert_json(json_object_get(line, "abi"), "'native'");
	assert_json(json_object_get(line, "ret"), "5");
	assert_json(json_object_get(line, "pid"), "10");
	assert_json(json_object_get(line, "tgid"), "1010");
	assert_json(json_array_get(json_object_get(line, "args"), 0), "'0xffffffffffffff9c'");
	assert_json(json_object_get(line, "fields"),
		    "[{'arg': 'ret', 'path': {'path': '/etc/passwd', 'ino': 7, 'dev': 42, 'mode': "
		    "33188, 'fsmagic': 0, 'deleted': true}}]");
}

Test(log_print, a_failure_has_the_name_of_its_error)
{
	const json_t *line;

	ev_open_failed(s, 10, "/work", "a\nb", O_RDONLY, ENOENT);
	line = print(0);
	assert_json(json_object_get(line, "ret"), "-2");
	assert_json(json_object_get(line, "errno"), "'ENOENT'");
	assert_json(json_array_get(json_object_get(line, "fields"), 0),
		    "{'arg': '1', 'string': 'a\\\\x0ab'}");
}

Test(log_print, an_exec_has_its_arguments)
{
	ev_exec(s, 10, "/usr/bin/sh", "/work", "sh|-c||x");
	assert_json(json_array_get(json_object_get(print(0), "fields"), 4),
		    "{'arg': '0', 'argv': ['sh', '-c', '', 'x']}");
}

Test(log_print, an_object_has_its_call_and_every_path)
{
	const struct qp_object body = {.call = QP_CALL_ID_renameat2, .entered_ns = 7};
	struct building b = begin_event(s, QP_EVENT_OBJECT, 10, &body, sizeof(body));
	const json_t *line;

	add_path_full(&b, 1, "/tmp/a", 0, 5, S_IFREG | 0644);
	add_path_full(&b, 3, "/tmp/b", 0, 6, S_IFREG | 0600);
	emit(s, &b);
	line = print(0);
	assert_json(json_object_get(line, "event"), "'object'");
	assert_json(json_object_get(line, "call"), "'renameat2'");
	assert_json(json_object_get(line, "enteredNs"), "7");
	assert_json(json_object_get(line, "fields"),
		    "[{'arg': '1', 'path': {'path': '/tmp/a', 'ino': 5, 'dev': 42, 'mode': 33188, "
		    "'fsmagic': 0}}, {'arg': '3', 'path': {'path': '/tmp/b', 'ino': 6, 'dev': 42, "
		    "'mode': 33152, 'fsmagic': 0}}]");
}

Test(log_print, addresses_are_as_people_write_them)
{
	const json_t *line;

	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 9, -EINPROGRESS);
	assert_json(json_object_get(print(0), "address"), "'203.0.113.7:443'");
	line = json_array_get(lines, 1);
	assert_json(json_array_get(json_object_get(line, "fields"), 0),
		    "{'arg': '1', 'sockaddr': '203.0.113.7:443'}");
	assert_json(
		json_object_get(
			json_object_get(json_array_get(json_object_get(line, "fields"), 1), "sock"),
			"local"),
		"'10.0.0.2:4000'");
}

Test(log_print, other_records_are_embedded)
{
	add_json(s, LOG_RECORD_PHASE, json_pack("{s:s}", "phase", "copy"));
	assert_json(print(0), "{'n': 1, 'type': 'phase', 'record': {'phase': 'copy'}}");
}

Test(log_print, what_is_not_understood_is_kept)
{
	cr_assert_eq(log_writer_append(s->log, 4242, "a\0\xff", 3), 0);
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_EVENT, "short", 5), 0);
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_END, "{", 1), 0);
	assert_json(print(0), "{'n': 1, 'type': 4242, 'bytes': 'a\\\\x00\\\\xff'}");
	assert_json(json_array_get(lines, 1),
		    "{'n': 2, 'type': 'event', 'malformed': 'a record is shorter than its head', "
		    "'bytes': 'short'}");
	assert_json(json_array_get(lines, 2),
		    "{'n': 3, 'type': 'end', 'malformed': 'no JSON', 'bytes': '{'}");
}

Test(log_print, a_full_disk_is_an_error)
{
	struct log_reader *reader;
	char sha256[SHA256_HEX_SIZE];
	struct qp_error err = {0};
	uint64_t bytes;
	FILE *full = fopen("/dev/full", "w");

	setvbuf(full, NULL, _IONBF, 0);
	add_json(s, LOG_RECORD_PHASE, json_pack("{s:s}", "phase", "copy"));
	cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
	cr_assert_eq(log_print_json(reader, full, &err), -ENOSPC);
	cr_assert(err.text[0]);
	log_reader_free(reader);
	fclose(full);
	remove_tree_at(AT_FDCWD, s->folder);
}
