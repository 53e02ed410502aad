// SPDX-License-Identifier: Apache-2.0
/* The collector as its users see it: open, track groups, wait, drain, close. */
#include "collector/collector.h"

#include "base/cleanup.h"
#include "collector/capture.h"
#include "collector/tier.h"

#include "capture.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define DRAIN_INTERVAL_NS 10000000L /* records do not wake the reader; this does */

DEFINE_CLEANUP(collector, struct collector *, collector_free);

static int watch(struct collector *collector, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(collector->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/*
 * The ring is watched edge-triggered: only a wake-up that a program forces counts, not
 * that there is something in it, or a steady trickle would keep the reader awake.
 */
static int reader_open(struct collector *collector)
{
	struct itimerspec every = {.it_interval.tv_nsec = DRAIN_INTERVAL_NS,
				   .it_value.tv_nsec = DRAIN_INTERVAL_NS};
	int events_fd = bpf_map__fd(collector->skel->maps.events);
	int rc;

	collector->ring = ring_buffer__new(events_fd, drain_sample, collector, NULL);
	if (!collector->ring)
		return -errno;
	collector->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	collector->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (collector->epoll_fd < 0 || collector->timer_fd < 0 ||
	    timerfd_settime(collector->timer_fd, 0, &every, NULL) < 0)
		return -errno;
	rc = watch(collector, collector->timer_fd, EPOLLIN);
	return rc ? rc : watch(collector, events_fd, EPOLLIN | EPOLLET);
}

static int memory_allocate(struct collector *collector, const struct collector_options *options)
{
	bool many = options && options->many_groups;

	collector->slots_cnt = many ? QP_SLOTS_MAX : 1;
	collector->slots = calloc(collector->slots_cnt + 1, sizeof(struct slot *));
	collector->enters = enters_new();
	if (!collector->slots || !collector->enters)
		return -ENOMEM;
	if (many)
		return 0;
	collector->slots[SLOT_ONLY] = slot_new(collector->cpu_cnt);
	return collector->slots[SLOT_ONLY] ? 0 : -ENOMEM;
}

int collector_open(const struct collector_options *options, struct collector **ret_collector,
		   struct qp_error *err)
{
	int cpus = libbpf_num_possible_cpus();
	int rc;

	if (cpus < 1)
		return qp_error_set(err, cpus, "cannot tell the number of CPUs");
	_cleanup_(collector) struct collector *collector = calloc(1, sizeof(*collector));
	if (!collector)
		return -ENOMEM;
	collector->epoll_fd = collector->timer_fd = -1;
	collector->cpu_cnt = cpus;
	rc = memory_allocate(collector, options);
	if (!rc)
		rc = capture_load(collector, options, err);
	if (rc)
		return rc;
	rc = reader_open(collector);
	if (rc)
		return qp_error_set(err, rc, "cannot read the ring of events: %s", strerror(-rc));
	*ret_collector = steal_ptr(collector);
	return 0;
}

/* A cgroup's kernel id is its folder's file handle (kernfs). */
int cgroup_id(int fd, uint64_t *ret_id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = {.handle.handle_bytes = sizeof(uint64_t)};
	int mount_id;

	if (name_to_handle_at(fd, "", &u.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return -errno;
	memcpy(ret_id, u.bytes + sizeof(struct file_handle), sizeof(*ret_id));
	return 0;
}

int collector_track(struct collector *collector, int cgroup_fd, uint64_t *ret_id,
		    struct qp_error *err)
{
	uint32_t slot = SLOT_ONLY;
	uint64_t id;
	/* An attachment needs more than an O_PATH descriptor. */
	_cleanup_close_ int fd = openat(cgroup_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return qp_error_set(err, -errno, "cannot open the cgroup's folder: %s",
				    strerror(errno));
	rc = cgroup_id(fd, &id);
	if (rc)
		return qp_error_set(err, rc, "cannot tell the cgroup's id: %s", strerror(-rc));
	rc = capture_attach_group(collector, fd, err);
	if (rc)
		return rc;
	rc = bpf_map__update_elem(collector->skel->maps.groups, &id, sizeof(id), &slot,
				  sizeof(slot), BPF_ANY);
	if (rc)
		return qp_error_set(err, rc, "cannot track more than %d cgroups", QP_GROUPS_MAX);
	__atomic_add_fetch(&collector->skel->bss->groups_generation, 1, __ATOMIC_SEQ_CST);
	*ret_id = id;
	return 0;
}

/* MEMBARRIER_CMD_GLOBAL is synchronize_rcu(): programs on tracepoints run within RCU. */
int programs_wait(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0 ? -errno : 0;
}

int collector_set_root(struct collector *collector, int root_fd)
{
	return roots_give(&collector->slots[SLOT_ONLY]->roots, root_fd);
}

void collector_set_watch(struct collector *collector, collector_watch_fn look, void *context)
{
	collector->watch = look;
	collector->watch_context = context;
}

int collector_fd(const struct collector *collector)
{
	return collector->epoll_fd;
}

const char *collector_tier(const struct collector *collector)
{
	return collector->kernel_object ? "kernel-object" : "base";
}

const char *collector_tier_why(const struct collector *collector)
{
	return collector->tier_why;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	for (size_t i = 0; i < collector->link_cnt; i++)
		bpf_link__destroy(collector->links[i]);
	free(collector->links);
	tier_detach(collector);
	ring_buffer__free(collector->ring);
	capture_bpf__destroy(collector->skel);
	if (collector->epoll_fd >= 0)
		close(collector->epoll_fd);
	if (collector->timer_fd >= 0)
		close(collector->timer_fd);
	for (uint32_t i = 0; collector->slots && i <= collector->slots_cnt; i++)
		slot_free(collector->slots[i]);
	free(collector->slots);
	enters_free(collector->enters);
	free(collector);
}
