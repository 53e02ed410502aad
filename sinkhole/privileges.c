// SPDX-License-Identifier: Apache-2.0
/*
 * What is left after the start. No capability is kept: the transparent listeners exist
 * already, and replies may be sent from any address and port because the routes make every
 * address local and the namespace lets everybody bind every port.
 */
#include "sinkhole/privileges.h"

#include "base/cleanup.h"

#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

DEFINE_CLEANUP(seccomp, scmp_filter_ctx, seccomp_release);
DEFINE_CLEANUP(cap, cap_t, cap_free);

static int fail(struct qp_error *err, const char *what)
{
	return qp_error_set(err, -errno, "cannot give up privileges: %s: %s", what,
			    strerror(errno));
}

static int identity_drop(uint32_t id, struct qp_error *err)
{
	_cleanup_(cap) cap_t none = cap_init();

	if (!none)
		return fail(err, "cap_init");
	if (cap_reset_ambient() < 0 && errno != EINVAL)
		return fail(err, "ambient capabilities");
	/* The bounding set goes first, while CAP_SETPCAP is there. */
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_drop_bound(cap) < 0)
			return fail(err, "bounding set");
	if (setgroups(0, NULL) < 0)
		return fail(err, "setgroups");
	if (setresgid(id, id, id) < 0)
		return fail(err, "setresgid");
	if (setresuid(id, id, id) < 0)
		return fail(err, "setresuid");
	if (cap_set_proc(none) < 0)
		return fail(err, "cap_set_proc");
	return 0;
}

/* Allows @call where the bits @mask of its argument @index are @value. */
static int allow_when(scmp_filter_ctx filter, int call, unsigned index, uint64_t mask,
		      uint64_t value)
{
	struct scmp_arg_cmp condition = {
		.arg = index, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &condition);
}

static int filter_load(void)
{
	/* clang-format off */
	static const int calls[] = {
		SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close),
		SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(poll),
		SCMP_SYS(ppoll), SCMP_SYS(accept4), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
		SCMP_SYS(sendto), SCMP_SYS(bind), SCMP_SYS(getsockname), SCMP_SYS(shutdown),
		SCMP_SYS(setsockopt), SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap),
		SCMP_SYS(madvise), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time),
		SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(getpid), SCMP_SYS(fstat),
		SCMP_SYS(newfstatat), SCMP_SYS(lseek), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
	};
	/* clang-format on */
	_cleanup_(seccomp) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = 0;

	if (!filter)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && r == 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	/* Replies to datagrams need sockets; no other family, netlink above all. */
	r = r < 0 ? r : allow_when(filter, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET);
	r = r < 0 ? r : allow_when(filter, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET6);
	/* What the kernel had to drop. */
	r = r < 0 ? r : allow_when(filter, SCMP_SYS(getsockopt), 2, UINT32_MAX, SO_MEMINFO);
	/* malloc's; never anything that could be run. */
	r = r < 0 ? r : allow_when(filter, SCMP_SYS(mmap), 2, PROT_EXEC, 0);
	r = r < 0 ? r : allow_when(filter, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	return r < 0 ? r : seccomp_load(filter);
}

int privileges_drop(uint32_t id, pid_t parent, struct qp_error *err)
{
	const struct rlimit no_core = {0, 0};
	int r = identity_drop(id, err);

	if (r < 0)
		return r;
	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return fail(err, "RLIMIT_CORE");
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return fail(err, "PR_SET_DUMPABLE");
	/* After the change of user, which clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return fail(err, "PR_SET_PDEATHSIG");
	if (getppid() != parent)
		return qp_error_set(err, -ESRCH, "the process that started this one has ended");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail(err, "PR_SET_NO_NEW_PRIVS");
	r = filter_load();
	if (r < 0)
		return qp_error_set(err, r,
				    "cannot install the system call filter: %s; the kernel needs "
				    "CONFIG_SECCOMP_FILTER",
				    strerror(-r));
	return 0;
}

size_t descriptors_allow(size_t wanted)
{
	struct rlimit limit = {wanted, wanted};

	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return wanted;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? 256 : (size_t)limit.rlim_cur;
}
