// SPDX-License-Identifier: Apache-2.0
/* The lines expected are those that strace 6.1 prints with -yy, as far as the log tells. */
#include "tests/collector/events_net.h"

#include "collector/log_text.h"

#include <signal.h>

static struct script script;
static struct script *const s = &script;
static char *text;

static void begin(void)
{
	script_begin(s, "run");
}

static void tidy(void)
{
	free(text);
	text = NULL;
}

TestSuite(log_text, .init = begin, .fini = tidy);

/* Prints the log; what follows the preamble's line. */
static const char *printed(void)
{
	char sha256[SHA256_HEX_SIZE];
	struct log_reader *reader;
	uint64_t bytes;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	char *end;

	cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
	cr_assert_eq(log_print_text(reader, out, NULL), 0);
	fclose(out);
	log_reader_free(reader);
	remove_tree_at(AT_FDCWD, s->folder);
	cr_assert_eq(strncmp(text, "# preamble {\"schema\":\"qp-log/1\"", 30), 0);
	end = strchr(text, '\n');
	cr_assert(end);
	return end + 1;
}

#define assert_printed(expected) cr_assert_str_eq(printed(), expected)

Test(log_text, an_open_shows_what_it_opened)
{
	ev_open(s, 10, "/tmp/a<b>\n", O_RDWR | O_CREAT | O_CLOEXEC, QP_PATH_DELETED, 7);
	assert_printed("10    0.000001 openat(AT_FDCWD, 0x7000, O_RDWR|O_CREAT|O_CLOEXEC, 000) = "
		       "5</tmp/a\\74b\\76\\n>(deleted)\n");
}

Test(log_text, a_failure_has_its_name_and_its_words)
{
	ev_open_failed(s, 10, "/work", "a\"\\\n\0331", O_RDONLY, ENOENT);
	assert_printed("10    0.000001 openat(AT_FDCWD</work>, \"a\\\"\\\\\\n\\0331\", "
		       "O_RDONLY) = -1 ENOENT (No such file or directory)\n");
}

/* The flags are those of the machine that the log names, whichever reads it: asm/fcntl.h. */
static void assert_flags(const char *machine, int flags, const char *expected)
{
	char line[256];

	script_begin_on(s, "run", machine);
	ev_open_failed(s, 10, "/work", "/a", flags, ENOENT);
	snprintf(line, sizeof(line),
		 "10    0.000001 openat(AT_FDCWD, \"/a\", %s) = -1 ENOENT (No such file or "
		 "directory)\n",
		 expected);
	assert_printed(line);
	tidy();
}

Test(log_text_flags, are_those_of_x86_64)
{
	assert_flags("x86_64", 02740000,
		     "O_RDONLY|O_DIRECT|O_LARGEFILE|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC");
	assert_flags("x86_64", 020200002, "O_RDWR|O_TMPFILE, 000");
}

Test(log_text_flags, are_those_of_aarch64)
{
	assert_flags("aarch64", 040000, "O_RDONLY|O_DIRECTORY");
	assert_flags("aarch64", 0100000, "O_RDONLY|O_NOFOLLOW");
	assert_flags("aarch64", 02740000,
		     "O_RDONLY|O_DIRECT|O_LARGEFILE|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC");
	assert_flags("aarch64", 0200000, "O_RDONLY|O_DIRECT");
	assert_flags("aarch64", 020040002, "O_RDWR|O_TMPFILE, 000");
}

Test(log_text_flags, of_an_unknown_machine_have_only_the_names_that_all_share)
{
	assert_flags("sparc64", 02240001, "O_WRONLY|O_CLOEXEC|0x14000");
}

Test(log_text, a_call_by_path_is_entered_and_resumed)
{
	ev_unlink(s, 10, -EROFS, "/etc/passwd");
	assert_printed("10    0.000001 unlink(\"/etc/passwd\" <unfinished ...>\n"
		       "10    0.000002 <... unlink resumed>) = -1 EROFS (Read-only file system)\n");
}

Test(log_text, a_path_that_changed_during_the_call_is_told)
{
	ev_by_path(s, 10, QP_CALL_ID_unlink, 0, 0, "/work", "/a", "/b");
	assert_printed(
		"10    0.000001 unlink(\"/a\" <unfinished ...>\n"
		"10    0.000002 <... unlink resumed>) = 0 /* argument 0 at the exit: \"/b\" */\n");
}

Test(log_text, what_the_kernel_acts_on_is_a_comment)
{
	const struct qp_object one = {.call = QP_CALL_ID_unlinkat},
			       two = {.call = QP_CALL_ID_renameat2};
	struct building b = begin_event(s, QP_EVENT_OBJECT, 10, &one, sizeof(one));

	add_path(&b, 1, "/tmp/a\n");
	emit(s, &b);
	b = begin_event(s, QP_EVENT_OBJECT, 10, &two, sizeof(two));
	add_path(&b, 1, "/tmp/a");
	add_path(&b, 3, "/tmp/b");
	emit(s, &b);
	assert_printed("# 10    0.000001 unlinkat: the kernel acts on </tmp/a\\n>\n"
		       "# 10    0.000002 renameat2: the kernel acts on </tmp/a> and </tmp/b>\n");
}

Test(log_text, an_exec_shows_the_file_and_every_argument)
{
	ev_exec_full(s, 10, "/usr/bin/dash", 9, 0, QP_EXEC_MEMFD, "/work", "/usr/bin/sh",
		     "/usr/bin/sh", "sh|-c||\377");
	assert_printed(
		"10    0.000001 execve(\"/usr/bin/sh\"</usr/bin/dash>, [\"sh\", \"-c\", \"\", "
		"\"\\377\"]) = 0 /* a file without a name */\n");
}

Test(log_text, processes_begin_and_end)
{
	struct qp_exit killed = {SIGKILL, 1};
	struct building b;

	ev_fork(s, 10, 11);
	ev_exit(s, 11, 3);
	b = begin_event(s, QP_EVENT_EXIT, 10, &killed, sizeof(killed));
	emit(s, &b);
	assert_printed("10    0.000001 fork() = 11\n"
		       "11    0.000002 +++ exited with 3 +++\n"
		       "10    0.000003 +++ killed by SIGKILL +++\n");
}

Test(log_text, sockets_and_addresses_are_spelt_out)
{
	ev_connect(s, 10, SOCK_STREAM, 4000, "203.0.113.7", 443, 9, -EINPROGRESS);
	assert_printed(
		"# 10    0.000001 connect, protocol 6: the kernel has 203.0.113.7:443\n"
		"10    0.000002 connect(5<TCP:[10.0.0.2:4000->203.0.113.7:443]>, "
		"{sa_family=AF_INET, sin_port=htons(443), "
		"sin_addr=inet_addr(\"203.0.113.7\")}, 16) = -1 EINPROGRESS (Operation now in "
		"progress)\n");
}

Test(log_text, unix_names_may_be_abstract)
{
	static const char abstract[] = "\1\0\0name\0x", named[] = "\1\0/run/s\0junk";
	struct building b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_bind, 0,
				       ARGS(3, 0x7000, sizeof(abstract) - 1));

	add_field(&b, QP_FIELD_SOCKADDR, 1, 0, abstract, sizeof(abstract) - 1);
	emit(s, &b);
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_bind, 0, ARGS(3, 0x7000, 14));
	add_field(&b, QP_FIELD_SOCKADDR, 1, 0, named, sizeof(named) - 1);
	emit(s, &b);
	assert_printed(
		"10    0.000001 bind(3, {sa_family=AF_UNIX, sun_path=@\"name\\0x\"}, 9) = 0\n"
		"10    0.000002 bind(3, {sa_family=AF_UNIX, sun_path=\"/run/s\"}, 14) = 0\n");
}

Test(log_text, what_was_written_is_cut_where_the_log_cut_it)
{
	struct building b =
		begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_write, 900, ARGS(1, 0x7000, 900));

	add_path(&b, 0, "/tmp/x");
	add_field(&b, QP_FIELD_PAYLOAD, 1, 0, "a\0001", 3);
	emit(s, &b);
	assert_printed("10    0.000001 write(1</tmp/x>, \"a\\0001\"..., 900) = 900\n");
}

Test(log_text, a_denied_call_and_one_that_never_returned)
{
	struct building b;

	ev_blocked(s, 10, QP_CALL_ID_mount, -EPERM, ARGS(0x7000, 0, 0, 0x1000, 0));
	b = begin_call(s, QP_EVENT_CALL, 10, QP_CALL_ID_fchdir, 0, ARGS(4));
	call_of(&b)->flags = QP_CALL_KILLED;
	emit(s, &b);
	assert_printed(
		"10    0.000001 mount(0x7000, NULL, NULL, 0x1000, NULL) = -1 EPERM (Operation "
		"not permitted) (denied by seccomp)\n"
		"10    0.000002 fchdir(4) = ?\n");
}

Test(log_text, other_records_are_comments_in_ascii)
{
	add_json(s, LOG_RECORD_PHASE, json_pack("{s:s, s:s}", "phase", "copy", "edge", "begin"));
	add_json(s, LOG_RECORD_SINKHOLE, json_pack("{s:s}", "name", "a\n\u202e.example"));
	assert_printed("# phase \"copy\" \"begin\" {\"phase\":\"copy\",\"edge\":\"begin\"}\n"
		       "# sinkhole {\"name\":\"a\\n\\u202E.example\"}\n");
}

Test(log_text, what_is_not_understood_stays_on_its_line)
{
	cr_assert_eq(log_writer_append(s->log, 4242, "a\n\xff", 3), 0);
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_EVENT, "sho\nrt", 6), 0);
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_END, "{\033", 2), 0);
	assert_printed("# record of type 4242, not known here: \"a\\n\\377\"\n"
		       "# event, a record is shorter than its head: \"sho\\nrt\"\n"
		       "# end, no JSON: \"{\\33\"\n");
}

Test(log_text, a_full_disk_is_an_error)
{
	struct log_reader *reader;
	char sha256[SHA256_HEX_SIZE];
	struct qp_error err = {0};
	uint64_t bytes;
	FILE *full = fopen("/dev/full", "w");

	setvbuf(full, NULL, _IONBF, 0);
	cr_assert_eq(log_writer_close_take(s->log, sha256, &bytes), 0);
	cr_assert_eq(log_reader_open(s->path, &reader, NULL), 0);
	cr_assert_eq(log_print_text(reader, full, &err), -ENOSPC);
	cr_assert(err.text[0]);
	log_reader_free(reader);
	fclose(full);
	remove_tree_at(AT_FDCWD, s->folder);
}
