// SPDX-License-Identifier: Apache-2.0
/* Loads the kernel programs, with the settings that this kernel needs. */
#include "collector/capture.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "collector/tier.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#define RING_BYTES_MIN 4096U
#define URING_PROGRAMS 3

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

/* libbpf's own words are for developers; what users need is in the qp_error. */
static int __attribute__((format(printf, 2, 0)))
print_debug(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[2048];

	if (level == LIBBPF_DEBUG || log_max_level < LOG_LEVEL_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	log_debug("libbpf: %s", text);
	return 0;
}

/* How many parameters the kernel's tracepoint @name hands to its programs, less the first
 * (its context); 0 when there is no such tracepoint. */
static unsigned int tracepoint_parameters(const struct btf *btf, const char *name)
{
	char typedef_name[128];
	const struct btf_type *type;
	int id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return 0;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* pointer */
	type = btf__type_by_id(btf, type->type);		     /* function */
	return btf_vlen(type) - 1;
}

/* Without its tracepoints io_uring is not seen; the trailer then has no count of requests. */
static int uring_set(struct collector *collector, const struct btf *btf, bool wanted,
		     struct qp_error *err)
{
	static const char *const submitted[] = {"io_uring_submit_req", "io_uring_submit_sqe"};
	struct capture_bpf *skel = collector->skel;
	int rc;

	if (wanted && tracepoint_parameters(btf, "io_uring_complete") &&
	    tracepoint_parameters(btf, "io_uring_req_failed"))
		for (size_t i = 0; i < sizeof(submitted) / sizeof(submitted[0]); i++) {
			if (!tracepoint_parameters(btf, submitted[i]))
				continue;
			collector->sees_uring = true;
			rc = bpf_program__set_attach_target(skel->progs.on_uring_submit, 0,
							    submitted[i]);
			return rc ? qp_error_set(err, rc, "cannot choose the tracepoint %s: %s",
						 submitted[i], strerror(-rc))
				  : 0;
		}
	bpf_program__set_autoload(skel->progs.on_uring_submit, false);
	bpf_program__set_autoload(skel->progs.on_uring_complete, false);
	bpf_program__set_autoload(skel->progs.on_uring_refused, false);
	return 0;
}

/* Every kernel feature that is not everywhere is looked for here. */
static int settings_fill(struct collector *collector, const struct collector_options *options,
			 const char *tier, struct qp_error *err)
{
	struct capture_bpf *skel = collector->skel;
	struct btf *btf = btf__load_vmlinux_btf();
	int rc;

	if (!btf)
		return qp_error_set(err, -ENOTSUP,
				    "this kernel has no BTF (" VMLINUX_BTF "): qp needs a "
				    "kernel built with CONFIG_DEBUG_INFO_BTF=y");
	skel->rodata->have_rdonly_cast =
		btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	skel->rodata->have_group_dead = tracepoint_parameters(btf, "sched_process_exit") >= 2;
	rc = uring_set(collector, btf, !options || !options->without_uring, err);
	if (!rc)
		rc = tier_choose(collector, btf, tier, err);
	btf__free(btf);
	return rc;
}

static bool has_capability(cap_t caps, cap_value_t capability)
{
	cap_flag_value_t value = CAP_CLEAR;

	return caps && cap_get_flag(caps, capability, CAP_EFFECTIVE, &value) == 0 &&
	       value == CAP_SET;
}

/* Programs on tracepoints take CAP_BPF and CAP_PERFMON, those on sockets CAP_NET_ADMIN. */
static int may_load(struct qp_error *err)
{
	cap_t caps = cap_get_proc();
	bool may = has_capability(caps, CAP_SYS_ADMIN) ||
		   (has_capability(caps, CAP_BPF) && has_capability(caps, CAP_PERFMON) &&
		    has_capability(caps, CAP_NET_ADMIN));

	if (caps)
		cap_free(caps);
	if (may)
		return 0;
	return qp_error_set(err, -EPERM,
			    "loading kernel programs needs root (run it with sudo), or the "
			    "capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN");
}

static int load_error(int rc, struct qp_error *err)
{
	if (rc == -EPERM)
		return qp_error_set(
			err, rc,
			"the kernel refuses to load programs: is this a container, or is "
			"kernel lockdown set to confidentiality? Before Linux 6.2 it takes "
			"root or CAP_SYS_ADMIN");
	return qp_error_set(
		err, rc == -ENOMEM ? rc : -ENOTSUP,
		"the kernel does not take the capture programs (%s): Linux 6.1 or newer "
		"is needed",
		strerror(-rc));
}

/* What only one of the two uses takes no memory in the other. */
static void sizes_set(struct collector *collector, const struct collector_options *options,
		      uint32_t ring_bytes)
{
	struct capture_bpf *skel = collector->skel;
	bool many = options && options->many_groups;

	bpf_map__set_max_entries(skel->maps.events, ring_bytes);
	bpf_map__set_max_entries(skel->maps.scratches, collector->cpu_cnt * QP_SCRATCH_SLOTS);
	bpf_map__set_max_entries(skel->maps.cpu_counters, collector->slots_cnt + 1);
	bpf_map__set_max_entries(skel->maps.rates, collector->slots_cnt + 1);
	skel->rodata->many_slots = many;
	skel->rodata->rate_max = options ? options->rate_max : 0;
	bpf_map__set_max_entries(many ? skel->maps.call_counts : skel->maps.slot_call_counts, 1);
	if (many) {
		bpf_program__set_autoload(skel->progs.on_getenv, false);
		bpf_map__set_max_entries(skel->maps.env_names, 1);
		return;
	}
	bpf_map__set_max_entries(skel->maps.parents, 1);
	bpf_map__set_max_entries(skel->maps.free_slots, 1);
	bpf_program__set_autoload(skel->progs.on_cgroup_mkdir, false);
	bpf_program__set_autoload(skel->progs.on_cgroup_rmdir, false);
	bpf_program__set_autoload(skel->progs.on_cgroup_populated, false);
	bpf_program__set_autoload(skel->progs.on_join_task, false);
	bpf_program__set_autoload(skel->progs.on_join_file, false);
}

/* Opens and loads, once. *ret_refused: it was the kernel that did not take the programs. */
static int load(struct collector *collector, const struct collector_options *options,
		const char *tier, bool *ret_refused, struct qp_error *err)
{
	uint32_t ring_bytes = options && options->ring_bytes ? options->ring_bytes : QP_RING_BYTES;
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int rc;

	*ret_refused = false;
	if (ring_bytes < RING_BYTES_MIN || ring_bytes & (ring_bytes - 1))
		return qp_error_set(err, -EINVAL,
				    "the ring's size must be a power of two of at "
				    "least %u bytes, not %u",
				    RING_BYTES_MIN, ring_bytes);
	/* Naming the BTF keeps libbpf from looking in those of modules, which takes CAP_SYS_ADMIN,
	 * for the types of other kernels that io_uring's programs know. */
	if (!options || !options->without_uring)
		opts.btf_custom_path = VMLINUX_BTF;
	collector->skel = capture_bpf__open_opts(&opts);
	if (!collector->skel)
		return load_error(-errno, err);
	rc = settings_fill(collector, options, tier, err);
	if (rc)
		return rc;
	collector->skel->rodata->wake_bytes = ring_bytes / 4;
	sizes_set(collector, options, ring_bytes);
	rc = capture_bpf__load(collector->skel);
	*ret_refused = rc != 0;
	return rc;
}

int capture_load(struct collector *collector, const struct collector_options *options,
		 struct qp_error *err)
{
	const char *tier = options ? options->tier : NULL;
	bool refused;
	int rc = tier_check(tier, err);

	if (!rc)
		rc = may_load(err);
	if (rc)
		return rc;
	libbpf_set_print(print_debug);
	rc = load(collector, options, tier, &refused, err);
	if (refused && collector->kernel_object) {
		int first = rc;

		/* It may be those of the better tier that it does not take. */
		capture_bpf__destroy(steal_ptr(collector->skel));
		rc = load(collector, options, "base", &refused, err);
		if (!rc)
			rc = tier_give_up(collector, tier, "the kernel does not take its programs",
					  first, err);
	}
	if (rc)
		return refused ? load_error(rc, err) : rc;
	return capture_attach(collector, tier, err);
}

struct attachment {
	struct bpf_program *program;
	struct bpf_link **link;
};

static int attach_all(const struct attachment *attached, size_t cnt, struct qp_error *err)
{
	for (size_t i = 0; i < cnt; i++) {
		*attached[i].link = bpf_program__attach(attached[i].program);
		if (!*attached[i].link)
			return qp_error_set(err, -errno, "cannot attach %s: %s",
					    bpf_program__name(attached[i].program),
					    strerror(errno));
	}
	return 0;
}

int capture_attach_groups(struct collector *collector, struct qp_error *err)
{
	struct capture_bpf *skel = collector->skel;
	const struct attachment attached[] = {
		{skel->progs.on_cgroup_mkdir, &skel->links.on_cgroup_mkdir},
		{skel->progs.on_cgroup_rmdir, &skel->links.on_cgroup_rmdir},
		{skel->progs.on_cgroup_populated, &skel->links.on_cgroup_populated},
	};

	return attach_all(attached, sizeof(attached) / sizeof(attached[0]), err);
}

int capture_attach(struct collector *collector, const char *tier, struct qp_error *err)
{
	struct capture_bpf *skel = collector->skel;
	int rc;
	/* The hooks of cgroups stay out: capture_bpf__attach() would need their folder. */
	const struct attachment attached[] = {
		{skel->progs.on_fork, &skel->links.on_fork},
		{skel->progs.on_exec, &skel->links.on_exec},
		{skel->progs.on_exit, &skel->links.on_exit},
		{skel->progs.on_cgroup_attach, &skel->links.on_cgroup_attach},
		{skel->progs.on_sys_enter, &skel->links.on_sys_enter},
		{skel->progs.on_sys_exit, &skel->links.on_sys_exit},
		{skel->progs.on_uring_refused, &skel->links.on_uring_refused},
		{skel->progs.on_uring_complete, &skel->links.on_uring_complete},
		{skel->progs.on_uring_submit, &skel->links.on_uring_submit},
	};
	size_t cnt = sizeof(attached) / sizeof(attached[0]);

	rc = attach_all(attached, collector->sees_uring ? cnt : cnt - URING_PROGRAMS, err);
	return rc ? rc : tier_attach(collector, tier, err);
}

int capture_attach_group(struct collector *collector, int cgroup_fd, struct qp_error *err)
{
	struct capture_bpf *skel = collector->skel;
	struct bpf_program *hooks[COLLECTOR_HOOKS] = {
		skel->progs.on_connect4, skel->progs.on_connect6, skel->progs.on_sendmsg4,
		skel->progs.on_sendmsg6, skel->progs.on_bind4,	  skel->progs.on_bind6,
	};
	struct bpf_link **links =
		realloc(collector->links,
			(collector->link_cnt + COLLECTOR_HOOKS) * sizeof(struct bpf_link *));

	if (!links)
		return -ENOMEM;
	collector->links = links;
	for (size_t i = 0; i < COLLECTOR_HOOKS; i++) {
		struct bpf_link *link = bpf_program__attach_cgroup(hooks[i], cgroup_fd);

		if (!link)
			return qp_error_set(err, -errno, "cannot attach %s to the cgroup: %s",
					    bpf_program__name(hooks[i]), strerror(errno));
		links[collector->link_cnt++] = link;
	}
	return 0;
}
