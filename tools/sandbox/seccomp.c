// SPDX-License-Identifier: Apache-2.0
/* What the sandbox may not call, and what it is told instead. */
#include "tools/sandbox/seccomp.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/socket.h>

/* Names that a runtime's libseccomp does not know are left out by it; none of those calls
 * does anything without a capability. */
static const char *const not_permitted[] = {
	/* mounts and roots */
	"mount",
	"umount",
	"umount2",
	"pivot_root",
	"chroot",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"open_tree",
	"open_tree_attr",
	"move_mount",
	"mount_setattr",
	"swapon",
	"swapoff",
	"quotactl",
	"quotactl_fd",
	/* namespaces of others */
	"setns",
	/* other processes */
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"kcmp",
	"pidfd_getfd",
	"process_madvise",
	"move_pages",
	"migrate_pages",
	/* the kernel itself */
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"kexec_load",
	"kexec_file_load",
	"init_module",
	"finit_module",
	"delete_module",
	"create_module",
	"query_module",
	"get_kernel_syms",
	"reboot",
	"acct",
	"syslog",
	"lookup_dcookie",
	"nfsservctl",
	"uselib",
	"_sysctl",
	"vm86",
	"vm86old",
	"iopl",
	"ioperm",
	"fanotify_init",
	"vhangup",
	/* keyrings have no namespace */
	"add_key",
	"request_key",
	"keyctl",
	/* file handles reach past the root */
	"open_by_handle_at",
	/* the clock and the names of the machine */
	"settimeofday",
	"stime",
	"clock_settime",
	"clock_settime64",
	"clock_adjtime",
	"clock_adjtime64",
	"sethostname",
	"setdomainname",
	NULL,
};

/* Answered as by a kernel without them, so that libraries take the older way: glibc falls
 * back to clone, whose flags a filter can see, and libuv to threads. */
static const char *const not_there[] = {
	"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", NULL,
};

static const uint64_t namespace_flags[] = {
	CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
	CLONE_NEWUSER, CLONE_NEWPID,	CLONE_NEWNET,
};

/* One rule of the profile; @args may be NULL and is taken. Non-zero when out of memory. */
static int rule_add(json_t *rules, json_t *names, int error, json_t *args)
{
	json_t *rule = json_pack("{s:o, s:s, s:i, s:o*}", "names", names, "action",
				 "SCMP_ACT_ERRNO", "errnoRet", error, "args", args);

	return json_array_append_new(rules, rule);
}

static json_t *names_list(const char *const *names)
{
	json_t *list = json_array();

	for (; *names; names++)
		json_array_append_new(list, json_string(*names));
	return list;
}

static json_t *argument(uint64_t value, uint64_t value_two, const char *op)
{
	return json_pack("[{s:i, s:I, s:I, s:s}]", "index", 0, "value", (json_int_t)value,
			 "valueTwo", (json_int_t)value_two, "op", op);
}

static int call_rule(json_t *rules, const char *call, int error, json_t *args)
{
	return rule_add(rules, json_pack("[s]", call), error, args);
}

static int namespace_rules(json_t *rules)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(namespace_flags) / sizeof(*namespace_flags); i++) {
		uint64_t flag = namespace_flags[i];

		failed |= call_rule(rules, "clone", EPERM,
				    argument(flag, flag, "SCMP_CMP_MASKED_EQ"));
		failed |= call_rule(rules, "unshare", EPERM,
				    argument(flag, flag, "SCMP_CMP_MASKED_EQ"));
	}
	/* In clone's flags this bit belongs to the exit signal. */
	failed |= call_rule(rules, "unshare", EPERM,
			    argument(CLONE_NEWTIME, CLONE_NEWTIME, "SCMP_CMP_MASKED_EQ"));
	return failed;
}

/*
 * Sockets of all families but these: vsock reaches the hypervisor past every network
 * namespace, and opening others loads kernel modules (AF_ALG, TIPC, CAN). AF_PACKET is left
 * to the kernel, which refuses it for want of a capability. A filter cannot look into the
 * arguments of i386's socketcall: libseccomp then refuses every socket made that way.
 */
static int socket_rules(json_t *rules)
{
	static const unsigned int allowed[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET};
	int failed = 0;
	size_t at = 0;

	for (unsigned int family = 0; family < AF_PACKET; family++) {
		if (family == allowed[at])
			at++;
		else
			failed |= call_rule(rules, "socket", EAFNOSUPPORT,
					    argument(family, 0, "SCMP_CMP_EQ"));
	}
	failed |= call_rule(rules, "socket", EAFNOSUPPORT, argument(AF_PACKET, 0, "SCMP_CMP_GT"));
	failed |= call_rule(rules, "socketpair", EAFNOSUPPORT, argument(AF_UNIX, 0, "SCMP_CMP_NE"));
	return failed;
}

json_t *seccomp_profile(void)
{
	json_t *rules = json_array(), *architectures;
	int failed = 0;

#if defined(__x86_64__)
	architectures =
		json_pack("[s, s, s]", "SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32");
#elif defined(__aarch64__)
	architectures = json_pack("[s, s]", "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM");
#else
	architectures = NULL;
#endif
	failed |= rule_add(rules, names_list(not_permitted), EPERM, NULL);
	failed |= rule_add(rules, names_list(not_there), ENOSYS, NULL);
	failed |= namespace_rules(rules);
	failed |= socket_rules(rules);
	if (failed || !architectures) {
		json_decref(rules);
		json_decref(architectures);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:o}", "defaultAction", "SCMP_ACT_ALLOW", "architectures",
			 architectures, "syscalls", rules);
}
