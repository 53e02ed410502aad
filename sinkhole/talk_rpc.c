// SPDX-License-Identifier: Apache-2.0
/* JSON-RPC over plain TCP, a call on each line: mining pools (Stratum) and others. */
#include "sinkhole/rpc.h"
#include "sinkhole/talk_internal.h"

#include "base/json.h"

static void note_method(void *context, const char *name)
{
	talk_note(context, "methods", name, strlen(name));
}

static size_t rpc_take(struct talk *talk, const char *bytes, size_t len)
{
	_cleanup_json_ json_t *calls = NULL;
	_cleanup_free_ char *answer = NULL;
	char line[TALK_LINE_MAX];
	size_t used = talk_line(bytes, len, line);

	if (!used)
		return 0;
	/* A line that was cut, or is no call, has no answer. */
	calls = rpc_parse(line, strlen(line), false);
	if (!calls)
		return used;
	rpc_methods(calls, note_method, talk);
	answer = rpc_answer(calls);
	if (answer) {
		talk_send(talk, answer, strlen(answer));
		talk_send(talk, "\n", 1);
	}
	return used;
}

const struct talk_protocol talk_stratum = {"stratum", NULL, rpc_take};
const struct talk_protocol talk_json_rpc = {"json-rpc", NULL, rpc_take};
