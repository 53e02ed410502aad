// SPDX-License-Identifier: Apache-2.0
/* The checks of qp doctor. */
#include "tools/doctor.h"

#include "base/cleanup.h"
#include "collector/collector.h"
#include "tools/sandbox/sandbox.h"
#include "tools/self.h"
#include "tools/task/sinkhole_process.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

static int check_root(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	if (geteuid())
		return qp_error_set(err, -EPERM, "not root: run qp with sudo");
	snprintf(ret_found, FINDING_SIZE, "root");
	return 0;
}

static int check_kernel(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	struct utsname uts;

	uname(&uts);
	snprintf(ret_found, FINDING_SIZE, "Linux %.64s, with BTF", uts.release);
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return qp_error_set(err, -ENOTSUP,
				    "Linux %s has no BTF (/sys/kernel/btf/vmlinux): boot a kernel "
				    "built with CONFIG_DEBUG_INFO_BTF, as Debian's are",
				    uts.release);
	return 0;
}

static int check_cgroup(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	int r = cgroup2_mount_point(&path, err);

	if (!r)
		snprintf(ret_found, FINDING_SIZE, "cgroup v2 at %.200s", path);
	return r;
}

static int check_programs(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	static const char *const names[] = {"qp-init", "qp-sinkhole", "qp-collect", "stage"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		_cleanup_free_ char *path = NULL;
		int r = self_file(names[i], &path, err);

		if (r)
			return r;
	}
	snprintf(ret_found, FINDING_SIZE, "qp-init, qp-sinkhole, qp-collect");
	return 0;
}

static int check_runtime(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	_cleanup_free_ char *path = NULL;
	int r = runtime_find(NULL, &path, err);

	if (!r)
		snprintf(ret_found, FINDING_SIZE, "%.200s makes containers", path);
	return r;
}

static int check_capture(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	struct collector *collector;
	const char *why;
	int r = collector_open(NULL, &collector, err);

	if (r)
		return r;
	why = collector_tier_why(collector);
	snprintf(ret_found, FINDING_SIZE, "kernel programs load and attach: tier %s%s%.180s",
		 collector_tier(collector), *why ? "; not kernel-object: " : "", why);
	collector_free(collector);
	return 0;
}

static int check_sinkhole(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	struct sinkhole *sinkhole;
	struct persona persona;
	int netns, r;

	r = persona_make(&persona);
	if (!r)
		r = netns_create(&netns, err);
	if (r)
		return r;
	r = sinkhole_start(&(struct sinkhole_config){.netns_fd = netns, .persona = &persona},
			   &sinkhole, err);
	if (!r) {
		sinkhole_free(sinkhole);
		snprintf(ret_found, FINDING_SIZE, "links, rules and listeners come up");
	}
	close(netns);
	return r;
}

static int check_node(char ret_found[static FINDING_SIZE], struct qp_error *err)
{
	static const char *const folders[] = {"/usr/local/bin/", "/usr/bin/"};
	static const char *const names[] = {"node", "npm"};

	for (size_t i = 0; i < 2; i++) {
		char path[64] = "";
		size_t j;

		for (j = 0; j < 2; j++) {
			snprintf(path, sizeof(path), "%s%s", folders[j], names[i]);
			if (!access(path, X_OK))
				break;
		}
		if (j == 2)
			return qp_error_set(err, -ENOENT,
					    "%s is not below /usr: apt-get install nodejs npm, or "
					    "give an image with --rootfs",
					    names[i]);
		snprintf(ret_found + strlen(ret_found), FINDING_SIZE - strlen(ret_found), "%s%s",
			 i ? ", " : "", path);
	}
	return 0;
}

const struct doctor_check doctor_checks[] = {
	{"privilege", check_root},    {"kernel", check_kernel},	    {"cgroups", check_cgroup},
	{"programs", check_programs}, {"node", check_node},	    {"runtime", check_runtime},
	{"capture", check_capture},   {"sinkhole", check_sinkhole},
};

const size_t doctor_checks_cnt = sizeof(doctor_checks) / sizeof(doctor_checks[0]);
