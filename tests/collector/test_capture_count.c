// SPDX-License-Identifier: Apache-2.0
/* That nothing is miscounted: calls, records, losses, ABIs, denied calls, outsiders. */
#include "tests/collector/capture_run.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define GETPPID_CNT 1000003
#define OPEN_CNT    20011

static void call_getppid(const struct capture *c)
{
	(void)c;
	for (int i = 0; i < GETPPID_CNT; i++)
		syscall(SYS_getppid);
}

Test(capture_count, counts_every_call)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, call_getppid);
	cr_expect_eq(capture_calls(&c, "getppid"), GETPPID_CNT);
	capture_free(&c);
}

static void open_many(const struct capture *c)
{
	(void)c;
	for (int i = 0; i < OPEN_CNT; i++)
		close(open("file", O_RDWR | O_CREAT, 0600));
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void expect_balance(const json_t *row)
{
	cr_expect_eq(number(row, "produced"), number(row, "delivered") + number(row, "lost"));
}

/* The ring is far too small and is not read at all before the end. */
Test(capture_count, counts_every_lost_record)
{
	struct capture c = {.ring_bytes = 65536, .late_drain = true};
	json_int_t produced = 0, lost = 0;
	const json_t *events;
	json_t *row;
	size_t i;

	if (!capture_possible())
		return;
	capture_run(&c, open_many);
	events = json_object_get(c.counters, "events");
	expect_balance(events);
	cr_expect_geq(number(events, "produced"), OPEN_CNT);
	cr_expect_eq(number(events, "delivered"), (json_int_t)c.cnt);
	cr_expect_gt(number(events, "lost"), 0);
	json_array_foreach (json_object_get(c.counters, "byType"), i, row) {
		expect_balance(row);
		lost += number(row, "lost");
	}
	json_array_foreach (json_object_get(c.counters, "byCpu"), i, row) {
		expect_balance(row);
		produced += number(row, "produced");
	}
	cr_expect_eq(lost, number(events, "lost"));
	cr_expect_eq(produced, number(events, "produced"));
	cr_expect_eq(capture_calls(&c, "openat"), OPEN_CNT);
	capture_free(&c);
}

Test(capture_count, numbers_the_records_of_a_cpu_without_a_gap)
{
	struct capture c = {0};
	uint64_t highest[1024] = {0}, cnt[1024] = {0};

	if (!capture_possible())
		return;
	capture_run(&c, open_many);
	for (size_t i = 0; i < c.cnt; i++) {
		uint32_t cpu = c.events[i]->cpu;

		cnt[cpu]++;
		if (c.events[i]->seq > highest[cpu])
			highest[cpu] = c.events[i]->seq;
	}
	for (size_t i = 0; i < 1024; i++)
		cr_expect_eq(cnt[i], highest[i]);
	cr_expect_geq(c.cnt, OPEN_CNT);
	capture_free(&c);
}

#ifdef __x86_64__
/* 20 is getpid for i386 and writev for x86_64; 39 mkdir and getpid. */
static void call_int80(const struct capture *c)
{
	(void)c;
	for (int i = 0; i < 17; i++) {
		long ret;

		__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20L) : "memory");
		(void)ret;
	}
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long ret;

	strcpy(low, "made-by-int80");
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(39L), "b"(low), "c"(0700L) : "memory");
	/* socketcall(SYS_SOCKET, {AF_UNIX, SOCK_DGRAM, 0}) */
	memcpy(low, (const uint32_t[]){1, 2, 0}, 12);
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(102L), "b"(1L), "c"(low) : "memory");
	(void)ret;
}

Test(capture_count, decodes_int_80_by_its_own_numbers)
{
	struct capture c = {.tier = "base"};
	const struct qp_event *event;
	const struct qp_call *call;
	char expected[96];

	if (!capture_possible())
		return;
	capture_run(&c, call_int80);
	cr_expect_eq(capture_calls(&c, "getpid"), 17);
	cr_expect_eq(capture_calls(&c, "writev"), 0);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mkdir, 0);
	cr_assert_not_null(event);
	call = event_body(event, sizeof(*call));
	cr_expect_eq(call->abi, QP_ABI_I386);
	cr_expect_eq(call->nr, 39);
	cr_expect_eq(call->ret, 0);
	cr_expect_eq(call->args[1], 0700);
	snprintf(expected, sizeof(expected), "%s/made-by-int80", c.dir);
	cr_expect_str_eq(capture_resolved(&c, 0), expected);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_socket, 0);
	cr_assert_not_null(event);
	call = event_body(event, sizeof(*call));
	cr_expect_eq(call->nr, 102);
	cr_expect_geq(call->ret, 0);
	cr_expect_eq(call->args[0], 1);
	cr_expect_eq(call->args[1], 2);
	capture_free(&c);
}

/* How often each is called, by its second number (linux/ipc.h, linux/net.h). */
static const struct {
	const char *name;
	uint32_t nr, second;
	json_int_t cnt;
} shared[] = {
	{"semop", 117, 1, 3},	   {"semget", 117, 2, 5},	{"semctl", 117, 3, 7},
	{"semtimedop", 117, 4, 9}, {"msgsnd", 117, 11, 11},	{"msgrcv", 117, 12, 13},
	{"msgget", 117, 13, 15},   {"msgctl", 117, 14, 17},	{"shmat", 117, 21, 19},
	{"shmdt", 117, 22, 21},	   {"shmget", 117, 23, 23},	{"shmctl", 117, 24, 25},
	{"ipc", 117, 5, 27},	   {"accept", 102, 5, 29},	{"getsockname", 102, 6, 31},
	{"recvfrom", 102, 10, 33}, {"shutdown", 102, 13, 35},	{"getsockopt", 102, 15, 37},
	{"recvmmsg", 102, 19, 39}, {"socketcall", 102, 21, 41},
};

#define SHARED_CNT  (sizeof(shared) / sizeof(shared[0]))
#define IPC_VERSION 0x10000 /* above the number */

/* Every call fails: no identifier, descriptor or address of theirs is one. */
static void call_shared(const struct capture *c)
{
	long ret;

	(void)c;
	for (size_t i = 0; i < SHARED_CNT; i++)
		for (int k = 0; k < shared[i].cnt; k++) {
			long version = shared[i].nr == 117 && k == 0 ? IPC_VERSION : 0;

			__asm__ volatile("int $0x80"
					 : "=a"(ret)
					 : "a"((long)shared[i].nr), "b"(shared[i].second | version),
					   "c"(-1L), "d"(-1L), "S"(-1L), "D"(0L)
					 : "memory");
		}
}

Test(capture_count, tells_calls_of_i386_that_share_a_number)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, call_shared);
	for (size_t i = 0; i < SHARED_CNT; i++)
		cr_expect_eq(capture_calls(&c, shared[i].name), shared[i].cnt, "%s",
			     shared[i].name);
	capture_free(&c);
}
#endif

static void beat(const struct capture *c)
{
	(void)c;
	prctl(QP_HEARTBEAT, 0xaaaabbbbccccUL, 0x111122223333UL, 4UL, 1UL);
	prctl(PR_SET_NAME, "not-recorded", 0, 0, 0);
}

Test(capture_count, records_the_heartbeat_and_no_other_prctl_of_that_sort)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_call *call;

	if (!capture_possible())
		return;
	capture_run(&c, beat);
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_prctl, 0);
	cr_assert_not_null(event);
	call = event_body(event, sizeof(*call));
	cr_expect_eq(call->ret, -EINVAL);
	cr_expect_eq(call->args[1], 0xaaaabbbbccccUL);
	cr_expect_eq(call->args[2], 0x111122223333UL);
	cr_expect_eq(call->args[3], 4);
	cr_expect_eq(call->args[4], 1);
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_prctl, 1));
	capture_free(&c);
}

static void deny_mkdirat(const struct capture *c)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};

	(void)c;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	for (int i = 0; i < 3; i++)
		mkdirat(AT_FDCWD, "denied", 0711);
}

Test(capture_count, records_a_call_that_seccomp_denies_once)
{
	struct capture c = {0};
	const struct qp_event *event;
	const struct qp_call *call;

	if (!capture_possible())
		return;
	capture_run(&c, deny_mkdirat);
	cr_expect_eq(capture_calls(&c, "mkdirat"), 3);
	cr_expect_null(capture_event(&c, QP_EVENT_ENTER, QP_CALL_ID_mkdirat, 0));
	cr_expect_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mkdirat, 3));
	event = capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_mkdirat, 2);
	cr_assert_not_null(event);
	call = event_body(event, sizeof(*call));
	cr_expect_eq(call->flags, QP_CALL_BLOCKED);
	cr_expect_eq(call->ret, -EPERM);
	cr_expect_eq(call->args[2], 0711);
	capture_free(&c);
}

/* A task that leaves the group is not seen any more, nor what its children do. */
static void leave_and_open(const struct capture *c)
{
	char path[600];
	int fd;

	open("inside", O_RDWR | O_CREAT, 0600);
	snprintf(path, sizeof(path), "%s/../cgroup.procs", c->group);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(98);
	for (int i = 0; i < 101; i++)
		close(open("outside", O_RDWR | O_CREAT, 0600));
}

Test(capture_count, leaves_outsiders_alone)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, leave_and_open);
	cr_expect_eq(c.status, 0);
	cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 0));
	cr_expect_eq(capture_calls(&c, "openat"), 2);
	capture_free(&c);
}

/* The child makes a group below its own and moves there. */
static void descend_and_open(const struct capture *c)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/below", c->group);
	if (mkdir(path, 0755) < 0)
		_exit(98);
	snprintf(path, sizeof(path), "%s/below/cgroup.procs", c->group);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(97);
	for (int i = 0; i < 101; i++)
		close(open("below", O_RDWR | O_CREAT, 0600));
	fd = open("/proc/self/cgroup", O_RDONLY);
	snprintf(path, sizeof(path), "%s/cgroup.procs", c->group);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(96);
	snprintf(path, sizeof(path), "%s/below", c->group);
	rmdir(path);
}

Test(capture_count, records_groups_below_a_tracked_one)
{
	struct capture c = {0};

	if (!capture_possible())
		return;
	capture_run(&c, descend_and_open);
	cr_expect_eq(c.status, 0);
	cr_expect_eq(capture_calls(&c, "openat"), 104);
	cr_expect_not_null(capture_event(&c, QP_EVENT_CALL, QP_CALL_ID_openat, 103));
	capture_free(&c);
}
