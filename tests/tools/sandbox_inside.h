/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the test program does inside a container: with INSIDE_WORD and the name of a part as its
 * arguments it runs that part and exits, before the test framework begins. Each attempt becomes a
 * line "name errno", 0 for one that succeeded.
 */
#ifndef QP_TESTS_TOOLS_SANDBOX_INSIDE_H
#define QP_TESTS_TOOLS_SANDBOX_INSIDE_H

#include "tests/tools/sandbox_run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void inside_say(const char *name, long result)
{
	dprintf(STDOUT_FILENO, "%s %d\n", name, result < 0 ? errno : 0);
}

static inline void *inside_thread(void *unused)
{
	return unused;
}

/* System calls by number; a NULL argument is enough to tell denied from allowed. */
static inline void inside_calls(void)
{
	struct clone_args clone3 = {.exit_signal = SIGCHLD};
	char byte = 0;

	inside_say("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
	inside_say("umount", umount2("/tmp", MNT_DETACH));
	inside_say("pivot_root", syscall(SYS_pivot_root, ".", "."));
	inside_say("chroot", chroot("/tmp"));
	inside_say("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1));
	inside_say("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
	inside_say("unshare-user", unshare(CLONE_NEWUSER));
	inside_say("unshare-mount", unshare(CLONE_NEWNS));
	inside_say("unshare-files", unshare(CLONE_FILES));
	inside_say("clone-user", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	inside_say("clone-net", syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0));
	inside_say("clone3", syscall(SYS_clone3, &clone3, sizeof(clone3)));
	inside_say("setns", setns(open("/proc/self/ns/net", O_RDONLY), 0));
	inside_say("ptrace", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	inside_say("process_vm_readv",
		   syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0));
	inside_say("process_vm_writev",
		   syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0));
	inside_say("bpf", syscall(SYS_bpf, 0, NULL, 0));
	inside_say("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	inside_say("userfaultfd", syscall(SYS_userfaultfd, 1));
	inside_say("keyctl", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
	inside_say("add_key", syscall(SYS_add_key, "user", "x", &byte, 1, -3));
	inside_say("init_module", syscall(SYS_init_module, NULL, 0, ""));
	inside_say("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
	inside_say("open_by_handle_at", syscall(SYS_open_by_handle_at, -1, NULL, 0));
	inside_say("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
	inside_say("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
	inside_say("swapon", syscall(SYS_swapon, "/tmp", 0));
	inside_say("acct", syscall(SYS_acct, NULL));
	inside_say("sethostname", sethostname("x", 1));
	inside_say("setuid", setuid(0));
}

static inline void inside_sockets(void)
{
	int pair[2];

	inside_say("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	inside_say("alg", socket(AF_ALG, SOCK_SEQPACKET, 0));
	inside_say("tipc", socket(AF_TIPC, SOCK_SEQPACKET, 0));
	inside_say("can", socket(AF_CAN, SOCK_RAW, 0));
	/* The kernel looks at the lower half only. */
	inside_say("vsock-wide",
		   syscall(SYS_socket, (UINT64_C(1) << 32) | AF_VSOCK, SOCK_STREAM, 0));
	inside_say("x25-wide",
		   syscall(SYS_socket, (UINT64_C(1) << 32) | AF_X25, SOCK_SEQPACKET, 0));
	inside_say("packet", socket(AF_PACKET, SOCK_RAW, 0));
	inside_say("raw", socket(AF_INET, SOCK_RAW, 1));
	inside_say("tipc-pair", socketpair(AF_TIPC, SOCK_SEQPACKET, 0, pair));
	inside_say("inet", socket(AF_INET, SOCK_STREAM, 0));
	inside_say("inet6", socket(AF_INET6, SOCK_DGRAM, 0));
	inside_say("unix-pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	inside_say("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
}

/* What must go on working, and PID 1, which runs as the same user. */
static inline void inside_others(void)
{
	pthread_t thread;
	pid_t child = fork();

	if (!child)
		_exit(0);
	inside_say("fork", child < 0 ? -1 : waitpid(child, NULL, 0));
	errno = pthread_create(&thread, NULL, inside_thread, NULL);
	inside_say("thread", errno ? -1 : pthread_join(thread, NULL));
	inside_say("read-init", open("/init", O_RDONLY));
	inside_say("init-environ", open("/proc/1/environ", O_RDONLY));
	inside_say("init-memory", open("/proc/1/mem", O_RDWR));
	inside_say("init-descriptors", open("/proc/1/fd", O_RDONLY | O_DIRECTORY));
	inside_say("kill-init", kill(1, SIGKILL));
	inside_say("term-init", kill(1, SIGTERM));
	inside_say("stop-init", kill(1, SIGSTOP));
#ifdef __x86_64__
	long pid;

	/* i386's getpid; an ABI without a rule would kill. */
	__asm__ volatile("int $0x80" : "=a"(pid) : "a"(20) : "memory");
	inside_say("i386", pid == getpid() ? 0 : -1);
	/* i386's mount: a name's number per ABI. */
	__asm__ volatile("int $0x80" : "=a"(pid) : "a"(21), "b"(0), "c"(0), "d"(0) : "memory");
	dprintf(STDOUT_FILENO, "i386-mount %ld\n", -pid);
	/* socketcall(SYS_SOCKET) would hide the family from the filter. */
	__asm__ volatile("int $0x80" : "=a"(pid) : "a"(102), "b"(1), "c"(0) : "memory");
	dprintf(STDOUT_FILENO, "i386-socketcall %ld\n", -pid);
#endif
}

static inline void inside_places(void)
{
	static const char *const paths[] = {
		"/x",
		"/usr/x",
		"/usr/local/bin/x",
		"/etc/x",
		"/root/x",
		"/var/x",
		"/run/x",
		"/opt/x",
		"/dev/x",
		"/home/x",
		"/in/x",
		"/sys/x",
		"/proc/sys/kernel/hostname",
		"/sys/fs/cgroup/x",
		"/var/tmp/x",
		"/work/x",
		"/tmp/x",
		"/dev/shm/x",
	};
	char home[256];

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		inside_say(paths[i], open(paths[i], O_WRONLY | O_CREAT, 0644));
	snprintf(home, sizeof(home), "%s/x", getenv("HOME"));
	inside_say("home", open(home, O_WRONLY | O_CREAT, 0644));
	inside_say("shadow", open("/etc/shadow", O_RDONLY));
	inside_say("kcore", read(open("/proc/kcore", O_RDONLY), home, 1) == 1 ? 0 : -1);
}

static inline void inside_fill(void)
{
	static char block[1 << 16];
	int fd = open("/tmp/fill", O_WRONLY | O_CREAT, 0600);
	long written = 0;
	ssize_t n;

	while ((n = write(fd, block, sizeof(block))) > 0)
		written += n;
	inside_say("fill", n);
	dprintf(STDOUT_FILENO, "written %ld\n", written);
}

static inline void inside_forks(void)
{
	int cnt = 0;
	pid_t child;

	while (cnt < 1000 && (child = fork()) > 0)
		cnt++;
	if (!child) {
		pause();
		_exit(0);
	}
	inside_say("forks", child);
	dprintf(STDOUT_FILENO, "children %d\n", cnt);
	/* Background processes that outlive their phase are the next test's subject. */
	kill(0, SIGKILL);
}

static inline void inside_memory(void)
{
	size_t len = (size_t)1 << 30;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; p != MAP_FAILED && i < len; i += 4096)
		p[i] = 1;
	dprintf(STDOUT_FILENO, "memory was not limited\n");
}

/* The loader gives a constructor what main gets. */
__attribute__((constructor)) static void inside_main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"calls", inside_calls},   {"sockets", inside_sockets}, {"others", inside_others},
		{"places", inside_places}, {"fill", inside_fill},	{"forks", inside_forks},
		{"memory", inside_memory},
	};
	const char *wanted = argc == 3 && !strcmp(argv[1], INSIDE_WORD) ? argv[2] : NULL;

	for (size_t i = 0; wanted && i < sizeof(parts) / sizeof(*parts); i++) {
		if (!strcmp(parts[i].name, wanted)) {
			parts[i].run();
			_exit(0);
		}
	}
}

#endif
