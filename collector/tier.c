// SPDX-License-Identifier: Apache-2.0
/* Which tier the kernel allows, and the programs of the kernel-object tier. */
#include "collector/tier.h"

#include "base/cleanup.h"
#include "collector/capture.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT_FD_MAX 65536 /* of links: they are opened at the start, so that they are lower */

/* Functions that only some kernels have; where they have them, all acts of that sort go
 * through them. */
static const char *const optional[] = {
	/* 6.2, kernel commits 72b3897e7821 "acl: add vfs_set_acl_prepare()" and those around it:
	 * before, an ACL is an attribute like others. */
	"security_inode_set_acl",
	"security_inode_remove_acl",
	/* 6.17, kernel commit "selinux: implement inode_file_[g|s]etattr hooks": before, the
	 * call file_setattr(2) is not there. */
	"security_inode_file_setattr",
};

static bool is_optional(const char *function)
{
	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
		if (!strcmp(optional[i], function))
			return true;
	return false;
}

/* The function that a program of this tier watches; NULL for all other programs. */
static const char *watched(const struct bpf_program *program)
{
	static const char prefix[] = "fentry/";
	const char *section = bpf_program__section_name(program);

	return strncmp(section, prefix, strlen(prefix)) ? NULL : section + strlen(prefix);
}

/*
 * Whether the kernel lets a program watch one of its functions at all: a kernel without
 * CONFIG_FUNCTION_TRACER or locked down, or a container, does not. Tried with a program that
 * does nothing. 0 or -errno.
 */
static int try_watching(int btf_id)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (__u32)btf_id);
	int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "qp_try", "GPL", nothing,
				    sizeof(nothing) / sizeof(nothing[0]), &options);
	int link, rc;

	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open(NULL, program);
	rc = link < 0 ? link : 0;
	if (link >= 0)
		close(link);
	close(program);
	return rc;
}

/* 0, or -ENOTSUP with the reason why the kernel has not what the tier needs. */
static int look(struct collector *collector, const struct btf *btf)
{
	struct bpf_program *program;
	int first = 0, rc;

	bpf_object__for_each_program(program, collector->skel->obj)
	{
		const char *function = watched(program);
		int id = function ? btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) : 0;

		if (!function || id > 0) {
			first = first ? first : id;
		} else if (!is_optional(function)) {
			snprintf(collector->tier_why, sizeof(collector->tier_why),
				 "the kernel has no function %s: it is built without "
				 "CONFIG_SECURITY_PATH",
				 function);
			return -ENOTSUP;
		}
	}
	rc = try_watching(first);
	if (!rc)
		return 0;
	snprintf(collector->tier_why, sizeof(collector->tier_why),
		 "the kernel does not let programs watch its functions (%s): %s", strerror(-rc),
		 rc == -EPERM ? "it is locked down, or this is a container"
			      : "it is built without CONFIG_FUNCTION_TRACER");
	return -ENOTSUP;
}

static void programs_want(struct collector *collector, const struct btf *btf)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, collector->skel->obj)
	{
		const char *function = watched(program);

		if (function && btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) > 0)
			bpf_program__set_autoload(program, true);
	}
}

static bool asks_for(const char *asked, const char *tier)
{
	return asked && !strcmp(asked, tier);
}

int tier_check(const char *asked, struct qp_error *err)
{
	if (!asked || asks_for(asked, "auto") || asks_for(asked, "base") ||
	    asks_for(asked, "kernel-object"))
		return 0;
	return qp_error_set(err, -EINVAL, "the tier must be one of %s, not '%s'", COLLECTOR_TIERS,
			    asked);
}

static int refuse(const struct collector *collector, struct qp_error *err)
{
	return qp_error_set(err, -ENOTSUP,
			    "the kernel-object tier is not to be had here: %s. --tier base "
			    "does without it",
			    collector->tier_why);
}

int tier_choose(struct collector *collector, const struct btf *btf, const char *asked,
		struct qp_error *err)
{
	int rc;

	collector->kernel_object = false;
	if (asks_for(asked, "base")) {
		snprintf(collector->tier_why, sizeof(collector->tier_why), "it was asked for");
		return 0;
	}
	rc = look(collector, btf);
	if (rc)
		return asks_for(asked, "kernel-object") ? refuse(collector, err) : 0;
	programs_want(collector, btf);
	collector->kernel_object = true;
	return 0;
}

int tier_give_up(struct collector *collector, const char *asked, const char *what, int rc,
		 struct qp_error *err)
{
	collector->kernel_object = false;
	snprintf(collector->tier_why, sizeof(collector->tier_why), "%s: %s", what, strerror(-rc));
	return asks_for(asked, "kernel-object") ? refuse(collector, err) : 0;
}

/* 0 or -errno. */
static int attach(struct collector *collector)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, collector->skel->obj)
	{
		struct bpf_link *link;

		if (!watched(program) || !bpf_program__autoload(program))
			continue;
		if (collector->tier_link_cnt == TIER_LINKS_MAX)
			return -E2BIG;
		link = bpf_program__attach(program);
		if (!link)
			return -errno;
		collector->tier_links[collector->tier_link_cnt++] = link;
	}
	return 0;
}

static void detach(struct collector *collector)
{
	while (collector->tier_link_cnt)
		bpf_link__destroy(collector->tier_links[--collector->tier_link_cnt]);
}

int tier_attach(struct collector *collector, const char *asked, struct qp_error *err)
{
	int rc = collector->kernel_object ? attach(collector) : 0;

	if (!rc)
		return 0;
	detach(collector);
	return tier_give_up(collector, asked, "a program of this tier does not attach", rc, err);
}

/* Lets go of everything that the caller has open but the links and @other: whoever waits for
 * the end of a pipe must not wait for the end of the links. */
static void keep_links(const struct collector *collector, int other)
{
	bool kept[KEPT_FD_MAX] = {0};
	unsigned int from = 0;

	for (size_t i = 0; i <= collector->tier_link_cnt; i++) {
		int fd = i < collector->tier_link_cnt ? bpf_link__fd(collector->tier_links[i])
						      : other;

		if (fd >= 0 && fd < KEPT_FD_MAX)
			kept[fd] = true;
	}
	for (unsigned int fd = 0; fd < KEPT_FD_MAX; fd++) {
		if (!kept[fd])
			continue;
		if (fd > from)
			close_range(from, fd - 1, 0);
		from = fd + 1;
	}
	close_range(from, ~0U, 0);
}

/* Ends, and the links with it, when the caller has let go of them. */
static _Noreturn void hold_links(const struct collector *collector, int caller_fd)
{
	char nothing;

	prctl(PR_SET_NAME, "qp-detach");
	keep_links(collector, caller_fd);
	while (read(caller_fd, &nothing, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/*
 * Before the kernel lets go of a function it waits until no task can be in the code that
 * called the program (synchronize_rcu_tasks): 0.15 s for each function, one after the other.
 * A child of a child waits in our place, for a link ends with its last descriptor.
 */
void tier_detach(struct collector *collector)
{
	_cleanup_close_ int here = -1, there = -1;
	int ends[2];
	pid_t child;

	if (!collector->tier_link_cnt)
		return;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		detach(collector);
		return;
	}
	there = ends[0];
	here = ends[1];
	child = fork();
	if (child == 0) {
		close(here);
		if (fork() == 0)
			hold_links(collector, there);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	detach(collector);
}
