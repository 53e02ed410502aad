// SPDX-License-Identifier: Apache-2.0
/* What is read back of a container's confinement, and what is noticed when it is weaker. */
#include "tests/tools/sandbox_run.h"
#include "tools/sandbox/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

Test(sandbox_verify, reads_back_the_hardening_of_the_seeds)
{
	json_auto_t *hardening = NULL, *binds = NULL;
	struct run run;
	char text[256];

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.binds[2] = (struct sandbox_bind){"/usr/share/doc", "/in", false};
	run.config.binds_cnt = 3;
	run.limits.cpus_milli = 500;
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_assert_eq(sandbox_hardening(run.sandbox, &hardening, &run.err), 0, "%s", run.err.text);
	snprintf(text, sizeof(text), "\"qp-sandbox-%s\"", run.task_id);
	expect_text(hardening, "container", text);
	expect_text(hardening, "id", text);
	snprintf(text, sizeof(text), "\"%u:%u\"", run.persona.uid, run.persona.gid);
	expect_text(hardening, "User", text);
	/* The values of the seed receipts, as Docker reports the same settings. */
	expect_text(hardening, "ReadonlyRootfs", "true");
	expect_text(hardening, "Privileged", "false");
	expect_text(hardening, "CapDrop", "[\"ALL\"]");
	expect_text(hardening, "CapAdd", "null");
	expect_text(hardening, "SecurityOpt", "[\"no-new-privileges\"]");
	expect_text(hardening, "PidsLimit", "64");
	expect_text(hardening, "Memory", "268435456");
	expect_text(hardening, "MemorySwap", "268435456");
	expect_text(hardening, "NanoCpus", "500000000");
	binds = json_pack("[o, o, s]", json_sprintf("%s:/init:ro", run.init),
			  json_sprintf("%s:" INSIDE_PATH ":ro", run.self), "/usr/share/doc:/in:ro");
	cr_expect(json_equal(json_object_get(hardening, "Binds"), binds));
	expect_text(hardening, "PidMode", "\"\"");
	expect_text(hardening, "IpcMode", "\"private\"");
	expect_text(hardening, "UsernsMode", "\"\"");
	expect_text(hardening, "AutoRemove", "true");
	expect_text(hardening, "Seccomp", "\"filter\"");
	snprintf(text, sizeof(text),
		 "\"rw,exec,nosuid,nodev,size=134217728,uid=%u,gid=%u,mode=0700\"", run.persona.uid,
		 run.persona.gid);
	expect_text(json_object_get(hardening, "Tmpfs"), "/work", text);
	expect_text(json_object_get(hardening, "RuntimeState"), "status", "\"running\"");
	run_end(&run);
}

Test(sandbox_verify, verifies_a_container_as_it_was_asked_for)
{
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(sandbox_verify(run.sandbox, &run.err), 0, "%s", run.err.text);
	run_end(&run);
}

static void expect_weaker(struct run *run, const char *part)
{
	struct qp_error err = {0};

	cr_expect_eq(sandbox_verify(run->sandbox, &err), -EPERM);
	cr_expect_not_null(strstr(err.text, part), "\"%s\" is not in: %s", part, err.text);
}

Test(sandbox_verify, notices_whatever_limit_is_not_in_force)
{
	struct sandbox asked;
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	asked = *run.sandbox;
	run.sandbox->pids--;
	expect_weaker(&run, "processes");
	*run.sandbox = asked;
	run.sandbox->memory_bytes -= 4096;
	expect_weaker(&run, "memory");
	*run.sandbox = asked;
	run.sandbox->cpus_milli--;
	expect_weaker(&run, "CPU");
	*run.sandbox = asked;
	run.sandbox->tmpfs[TMPFS_TMP].bytes /= 2;
	expect_weaker(&run, "tmpfs");
	*run.sandbox = asked;
	run.sandbox->gid++;
	expect_weaker(&run, "uid");
	*run.sandbox = asked;
	cr_expect_eq(sandbox_verify(run.sandbox, &run.err), 0, "%s", run.err.text);
	run_end(&run);
}

/* One step after the other of what confines a process; each makes verify name the next. */
static void confine(const struct persona *persona, int steps)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = {.len = 1, .filter = &allow};

	if (steps > 1) {
		for (unsigned long cap = 0; cap < 64; cap++)
			prctl(PR_CAPBSET_DROP, cap);
	}
	if (steps > 0 &&
	    (setgroups(0, NULL) || setresgid(persona->gid, persona->gid, persona->gid) ||
	     setresuid(persona->uid, persona->uid, persona->uid)))
		_exit(1);
	if (steps > 2)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (steps > 3)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

Test(sandbox_verify, notices_whatever_confinement_is_missing)
{
	static const char *const missing[] = {"uid", "capability", "exec", "seccomp",
					      "mnt namespace"};
	struct sandbox asked;
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	asked = *run.sandbox;
	for (int steps = 0; steps < 5; steps++) {
		int ready[2];
		pid_t child;
		char byte;

		cr_assert_eq(pipe(ready), 0);
		child = fork();
		if (!child) {
			confine(&run.persona, steps);
			if (write(ready[1], "r", 1) == 1)
				pause();
			_exit(1);
		}
		cr_assert_eq(read(ready[0], &byte, 1), 1);
		/* Stands in for PID 1. */
		run.sandbox->init_tgid = child;
		run.sandbox->init_pidfd = (int)syscall(SYS_pidfd_open, child, 0);
		expect_weaker(&run, missing[steps]);
		close(run.sandbox->init_pidfd);
		*run.sandbox = asked;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(ready[0]);
		close(ready[1]);
	}
	run_end(&run);
}
