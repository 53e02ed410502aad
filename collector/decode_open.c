// SPDX-License-Identifier: Apache-2.0
/* Opens: whether they were to change something, and what they changed. */
#include "collector/decode_state.h"

#include <fcntl.h>
#include <string.h>

#define PATH_ONLY_BIT 010000000 /* alike on all machines, as all is that is looked at here */

struct intent {
	bool reads, writes;
	bool exclusive; /* must make the file */
	bool creates;
};

static struct intent open_intent(const struct kernel_event *event)
{
	const struct event_field *how = event_field_find(event, QP_FIELD_PAYLOAD, 2);
	uint64_t flags = call_open_flags(&event->call, how ? how->data : NULL, how ? how->len : 0);
	uint64_t mode = flags & O_ACCMODE;
	struct intent intent = {0};

	if (flags & PATH_ONLY_BIT)
		return intent;
	intent.reads = mode != O_WRONLY;
	intent.writes = mode != O_RDONLY || flags & (O_TRUNC | OPEN_TMPFILE_BIT);
	intent.creates = flags & (O_CREAT | OPEN_TMPFILE_BIT);
	intent.exclusive = flags & O_EXCL && flags & O_CREAT;
	return intent;
}

static unsigned int path_role(const struct call_info *info)
{
	return info->roles[0] == QP_ARG_PATH ? 0 : 1;
}

static int open_failed(struct decoder *d, const struct step *step, const struct intent *intent)
{
	_cleanup_(place) struct place place = {0};
	int r;

	if (!intent->writes && !intent->creates)
		return 0;
	r = place_of_argument(d, step, path_role(step->info), true, &place);
	if (r < 0)
		return r;
	return file_observe(d, step,
			    intent->exclusive || !intent->writes ? OBSERVATION_FILE_CREATE
								 : OBSERVATION_FILE_WRITE,
			    &place, NULL);
}

/* Another process's memory, opened to be changed, is no mere file. */
static bool is_foreign_memory(const struct process *process, const char *path)
{
	const char *rest;
	long pid;

	return path && path_of_process(path, &pid, &rest) && pid != process->ns_pid &&
	       (!strcmp(rest, "mem") || text_matches("task/*/mem", rest));
}

static int opened_to_write(struct decoder *d, const struct step *step, const struct place *place)
{
	bool created = place->path.flags & QP_PATH_CREATED;
	int r = written_put(d, step->process, place);

	if (r == 0 && is_foreign_memory(step->process, place->text))
		return tamper_observe(d, step, place, -1);
	if (r < 0)
		return r;
	return file_observe(d, step, created ? OBSERVATION_FILE_CREATE : OBSERVATION_FILE_WRITE,
			    place, NULL);
}

int decode_open(struct decoder *d, const struct step *step)
{
	struct intent intent = open_intent(step->event);
	_cleanup_(place) struct place place = {0};
	int r;

	/* Opening by handle goes around every folder's rights. */
	if (step->event->call.call == QP_CALL_ID_open_by_handle_at)
		return decode_tamper(d, step);
	/* A request of io_uring without a result is told by what it asked for. */
	if (step->event->call.ret < 0 || step->event->head.type == QP_EVENT_ENTER) {
		r = decode_foreign(d, step, NULL);
		if (r)
			return r < 0 ? r : 0;
		return open_failed(d, step, &intent);
	}
	if (step->process->actor == ACTOR_STAGE && !intent.writes && !intent.creates)
		return 0;
	r = place_of_field(step->event, QP_ROLE_RET, &place);
	if (r == 0)
		r = decode_foreign(d, step, &place);
	if (r)
		return r < 0 ? r : 0;
	if (intent.writes || place.path.flags & QP_PATH_CREATED) {
		r = opened_to_write(d, step, &place);
		if (r < 0)
			return r;
	}
	if (!intent.reads || !place.text)
		return 0;
	r = brought_check_read(d, step, &place);
	return r < 0 ? r : decode_read(d, step, &place);
}
