// SPDX-License-Identifier: Apache-2.0
/* One record in many spellings says one thing; what is no JSON says nothing. */
#include "tests/collector/events_net.h"

static struct script script;
static struct script *const s = &script;

/* What the observation of a removal names when the log has that record; @ stands for its seq. */
static char *path_with(const char *spelling, bool *ret_trace_ok)
{
	struct run_facts facts;
	char text[256], *path;
	const char *at;

	exec_begins(s);
	ev_unlink(s, 10, 0, "/var/run/x");
	at = spelling + strcspn(spelling, "@");
	snprintf(text, sizeof(text), "%.*s", (int)(at - spelling), spelling);
	if (*at)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llu%s",
			 (unsigned long long)s->last_seq, at + 1);
	cr_assert_eq(log_writer_append(s->log, LOG_RECORD_RESOLVED, text, strlen(text)), 0);
	exec_ends(s, 0, &facts);
	path = strdup(only(&facts, OBSERVATION_FILE_DELETE)->path);
	*ret_trace_ok = facts.markers[MARKER_KERNEL_TRACE].ok;
	run_facts_clear(&facts);
	return path;
}

Test(decode_resolved, every_spelling_of_a_record_says_the_same)
{
	static const char *const same[] = {
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"path\":\"/run/x\",\"exists\":false,\"role\":0,\"seq\":@,\"cpu\":0}",
		"{\"cpu\": 0, \"seq\": @, \"role\": 0, \"exists\": false, \"path\": \"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"\\/run\\u002fx\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/\\\\x78\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/x\"} ",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"path\":\"/run/x\",\"more\":1}",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		bool trace_ok;
		char *path = path_with(same[i], &trace_ok);

		cr_assert_str_eq(path, "/run/x", "%s: %s", same[i], path);
		cr_assert(trace_ok, "%s", same[i]);
		free(path);
	}
}

Test(decode_resolved, what_is_no_json_object_is_told_and_not_believed)
{
	static const char *const bad[] = {
		"{\"cpu\":0,\"seq\":0@,\"role\":0,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/x\"",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/x\"}}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":falsetrue,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"cpu\":0,\"seq\":@,\"role\":0,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/\n\"}",
		"[]",
		"",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bool trace_ok;
		char *path = path_with(bad[i], &trace_ok);

		cr_assert_str_eq(path, "/var/run/x", "%s", bad[i]);
		cr_assert_not(trace_ok, "%s", bad[i]);
		free(path);
	}
}

Test(decode_resolved, another_event_or_argument_is_not_meant)
{
	static const char *const other[] = {
		"{\"cpu\":1,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":1,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@0,\"role\":0,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":600,\"exists\":false,\"path\":\"/run/x\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"\"}",
		"{\"cpu\":0,\"seq\":@,\"role\":0,\"exists\":false,\"path\":\"run/x\"}",
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		bool trace_ok;
		char *path = path_with(other[i], &trace_ok);

		cr_assert_str_eq(path, "/var/run/x", "%s: %s", other[i], path);
		cr_assert(trace_ok);
		free(path);
	}
}
