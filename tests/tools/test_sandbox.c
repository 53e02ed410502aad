// SPDX-License-Identifier: Apache-2.0
/* What a program inside the sandbox can and cannot do, tried by one. */
#include "tests/tools/sandbox_inside.h"
#include "tests/tools/sandbox_run.h"

#include <linux/magic.h>
#include <sys/vfs.h>

struct attempt {
	const char *name;
	int error; /* expected; 0: it succeeds */
};

/* The number after "NAME " at the beginning of a line of the output. */
static long said(const struct run *run, const char *name)
{
	char wanted[128];
	const char *line;

	snprintf(wanted, sizeof(wanted), "\n%s ", name);
	line = strstr(run->output, wanted);
	cr_assert_not_null(line, "nothing was said about %s in: %s", name, run->output);
	return strtol(line + strlen(wanted), NULL, 10);
}

static void expect_attempts(const struct run *run, const struct attempt *attempts, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		cr_expect_eq(said(run, attempts[i].name), attempts[i].error, "%s: %s, not %s",
			     attempts[i].name, strerror((int)said(run, attempts[i].name)),
			     strerror(attempts[i].error));
}

#define EXPECT_ATTEMPTS(run, attempts) \
	expect_attempts(run, attempts, sizeof(attempts) / sizeof(*(attempts)))

Test(sandbox, denies_calls_against_isolation_with_an_errno)
{
	static const struct attempt attempts[] = {
		{"mount", EPERM},
		{"umount", EPERM},
		{"pivot_root", EPERM},
		{"chroot", EPERM},
		{"open_tree", EPERM},
		{"fsopen", EPERM},
		{"unshare-user", EPERM},
		{"unshare-mount", EPERM},
		{"unshare-files", 0},
		{"clone-user", EPERM},
		{"clone-net", EPERM},
		{"clone3", ENOSYS},
		{"setns", EPERM},
		{"ptrace", EPERM},
		{"process_vm_readv", EPERM},
		{"process_vm_writev", EPERM},
		{"bpf", EPERM},
		{"perf_event_open", EPERM},
		{"userfaultfd", EPERM},
		{"keyctl", EPERM},
		{"add_key", EPERM},
		{"init_module", EPERM},
		{"kexec_load", EPERM},
		{"open_by_handle_at", EPERM},
		{"io_uring_setup", ENOSYS},
		{"reboot", EPERM},
		{"swapon", EPERM},
		{"acct", EPERM},
		{"sethostname", EPERM},
		{"setuid", EPERM},
	};
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_inside(&run, "calls"), 0);
	EXPECT_ATTEMPTS(&run, attempts);
	run_end(&run);
}

Test(sandbox, denies_socket_families_that_reach_past_the_network_namespace)
{
	static const struct attempt attempts[] = {
		{"vsock", EAFNOSUPPORT},
		{"alg", EAFNOSUPPORT},
		{"tipc", EAFNOSUPPORT},
		{"can", EAFNOSUPPORT},
		{"vsock-wide", EAFNOSUPPORT},
		{"x25-wide", EAFNOSUPPORT},
		{"packet", EPERM},
		{"raw", EPERM},
		{"tipc-pair", EAFNOSUPPORT},
		{"inet", 0},
		{"inet6", 0},
		{"unix-pair", 0},
		{"netlink", 0},
	};
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_inside(&run, "sockets"), 0);
	EXPECT_ATTEMPTS(&run, attempts);
	run_end(&run);
}

Test(sandbox, keeps_ordinary_calls_working_and_pid_1_out_of_reach)
{
	static const struct attempt attempts[] = {
		{"fork", 0},
		{"thread", 0},
		{"read-init", EACCES},
		{"init-environ", EACCES},
		{"init-memory", EACCES},
		{"init-descriptors", EACCES},
		{"kill-init", 0},
		{"term-init", 0},
		{"stop-init", 0},
#ifdef __x86_64__
		{"i386", 0},
		{"i386-mount", EPERM},
		{"i386-socketcall", EAFNOSUPPORT},
#endif
	};
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_inside(&run, "others"), 0);
	EXPECT_ATTEMPTS(&run, attempts);
	/* The signals were accepted and did nothing. */
	cr_expect_eq(run_shell(&run, "exit 7"), 7);
	run_end(&run);
}

Test(sandbox, lets_only_its_own_places_be_written)
{
	static const struct attempt attempts[] = {
		{"/x", EROFS},
		{"/usr/x", EROFS},
		{"/usr/local/bin/x", EROFS},
		{"/etc/x", EROFS},
		{"/root/x", EACCES},
		{"/var/x", EROFS},
		{"/run/x", EROFS},
		{"/opt/x", EROFS},
		{"/dev/x", EACCES},
		{"/home/x", EROFS},
		{"/in/x", ENOENT},
		{"/sys/x", EROFS},
		{"/proc/sys/kernel/hostname", EACCES},
		{"/var/tmp/x", EROFS},
		{"/work/x", 0},
		{"/tmp/x", 0},
		{"/dev/shm/x", 0},
		{"home", 0},
		{"shadow", EACCES},
	};
	struct statfs cgroups;
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_inside(&run, "places"), 0);
	EXPECT_ATTEMPTS(&run, attempts);
	/* Where v2 is the only hierarchy it is there, read-only; else a folder of root's. */
	cr_assert_eq(statfs("/sys/fs/cgroup", &cgroups), 0);
	cr_expect_eq(said(&run, "/sys/fs/cgroup/x"),
		     cgroups.f_type == CGROUP2_SUPER_MAGIC ? EROFS : EACCES);
	cr_expect_neq(said(&run, "kcore"), 0);
	run_end(&run);
}

static bool was_hit(struct run *run, const char *name)
{
	json_auto_t *limits = NULL;
	json_t *limit;
	size_t i;

	cr_assert_eq(sandbox_limits_hit(run->sandbox, &limits), 0);
	json_array_foreach (limits, i, limit) {
		if (!strcmp(json_string_value(limit), name))
			return true;
	}
	return false;
}

Test(sandbox, limits_what_a_tmpfs_holds_and_says_so)
{
	struct run run;

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.config.tmp_bytes = 3 << 20;
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_expect_not(was_hit(&run, "tmpfs"));
	cr_expect_eq(run_inside(&run, "fill"), 0);
	cr_expect_eq(said(&run, "fill"), ENOSPC);
	cr_expect_eq(said(&run, "written"), 3 << 20);
	cr_expect(was_hit(&run, "tmpfs"));
	cr_expect_eq(run_shell(&run, "rm /tmp/fill"), 0);
	cr_expect(was_hit(&run, "tmpfs"), "a limit once seen stays");
	run_end(&run);
}

Test(sandbox, limits_processes_and_says_so)
{
	struct run run;

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.limits.pids = 20;
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_expect_not(was_hit(&run, "pids"));
	run_inside(&run, "forks");
	cr_expect_eq(said(&run, "forks"), EAGAIN);
	/* PID 1 and the program itself count too. */
	cr_expect_eq(said(&run, "children"), 18);
	cr_expect(was_hit(&run, "pids"));
	run_end(&run);
}

Test(sandbox, limits_memory_and_says_so)
{
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_inside(&run, "memory"), 128 + SIGKILL);
	cr_expect_null(strstr(run.output, "not limited"));
	cr_expect(was_hit(&run, "memory"));
	cr_expect_not(was_hit(&run, "pids"));
	run_finish(&run, 0);
	cr_expect(json_is_true(json_object_get(run.status, "oomKilled")));
	cr_expect_eq(json_integer_value(json_object_get(run.status, "exitCode")), 0);
	run_end(&run);
}

Test(sandbox, shows_an_empty_network_namespace)
{
	struct run run;

	RUN_NEEDS_ROOT();
	run_open(&run);
	cr_expect_eq(run_shell(&run, "ls /sys/class/net; grep -c : /proc/net/dev"), 0);
	cr_expect_not_null(strstr(run.output, "\nlo\n1\n"), "%s", run.output);
	run_end(&run);
}

Test(sandbox, betrays_neither_itself_nor_the_host)
{
	static const char *const words[] = {"qp",    "quarantine", "sandbox", "honey",
					    "decoy", "/build",	   "tmp/"};
	struct run run;

	RUN_NEEDS_ROOT();
	run_prepare(&run);
	run.binds[2] = (struct sandbox_bind){"/usr/share", "/in", false};
	run.config.binds_cnt = 3;
	cr_assert_eq(run_create(&run), 0, "%s", run.err.text);
	run_start(&run);
	cr_expect_eq(run_shell(&run, "cat /proc/self/mountinfo /proc/self/cgroup /etc/passwd "
				     "/etc/hosts /etc/resolv.conf /proc/[0-9]*/cmdline "
				     "/proc/[0-9]*/comm; hostname; ls -a / /usr/local/bin; env; "
				     "ls -a ~ /dev /run; exit 0"),
		     0);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		/* PID 1's own lines for people begin with QP-, in capitals. */
		const char *at = strstr(run.output, words[i]);

		cr_expect_null(at, "\"%s\" in: %.60s", words[i], at ? at : "");
	}
	cr_expect_null(strstr(run.output, ".dockerenv"));
	cr_expect_not_null(strstr(run.output, run.persona.host));
	cr_expect_not_null(strstr(run.output, run.persona.gateway4));
	run_end(&run);
}

Test(sandbox, gives_each_run_other_decoys_and_knows_their_values)
{
	static const char *const files[][2] = {
		{".npmrc", "npm-token"},
		{".aws/credentials", "aws-secret-access-key"},
		{".config/gh/hosts.yml", "gh-token"},
		{".git-credentials", "git-token"},
		{".netrc", "netrc-password"},
		{".kube/config", "kube-token"},
		{".docker/config.json", "docker-auth"},
		{".ssh/id_ed25519", "ssh-private-key"},
	};
	struct run run, other;
	_cleanup_free_ char *listed = NULL;
	const json_t *values, *others;
	char script[256];

	RUN_NEEDS_ROOT();
	run_open(&run);
	run_prepare(&other);
	cr_assert_eq(run_create(&other), 0, "%s", other.err.text);
	values = sandbox_decoy_values(run.sandbox);
	others = sandbox_decoy_values(other.sandbox);
	listed = json_dumps(sandbox_decoys(run.sandbox), 0);
	cr_assert_not_null(listed);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *value = json_string_value(json_object_get(values, files[i][1]));

		cr_assert_not_null(value, "%s", files[i][1]);
		cr_expect_geq(strlen(value), 16);
		cr_expect_str_neq(value, json_string_value(json_object_get(others, files[i][1])));
		snprintf(script, sizeof(script), "cat ~/%s", files[i][0]);
		cr_expect_eq(run_shell(&run, script), 0, "%s", files[i][0]);
		cr_expect_not_null(strstr(run.output, value), "%s", files[i][0]);
		snprintf(script, sizeof(script), "%s/%s", run.persona.home, files[i][0]);
		cr_expect_not_null(strstr(listed, script));
	}
	/* ssh reads its own kind of key file, and agrees on the public half. */
	cr_expect_eq(run_shell(&run, "! command -v ssh-keygen || [ \"$(ssh-keygen -y -f "
				     "~/.ssh/id_ed25519 | cut -d' ' -f1,2)\" = \"$(cut -d' ' -f1,2 "
				     "~/.ssh/id_ed25519.pub)\" ]"),
		     0, "%s", run.output);
	run_end(&other);
	run_end(&run);
}
