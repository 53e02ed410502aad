// SPDX-License-Identifier: Apache-2.0
/* npm's and node's error codes, each with what to do about it. */
#include "tools/download/failure.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *code; /* one ending in '*' is the beginning of a code */
	int error;
	const char *cause; /* %s: what was asked for */
	const char *mend;
} failures[] = {
	{"E404", -ENOENT, "no such package: the registry does not know %s",
	 "check the name's spelling, and the registry in your npm configuration"},
	{"ETARGET", -ENOENT, "no version of the registry's matches %s",
	 "npm view NAME versions lists them"},
	{"ENOVERSIONS", -ENOENT, "there is no version of %s", "npm view NAME versions lists them"},
	{"E401", -EACCES, "the registry wants a login for %s",
	 "log in with npm login, as the user that runs qp"},
	{"E403", -EACCES, "the registry refuses to give %s",
	 "your npm login may lack the right to read it"},
	{"ENEEDAUTH", -EACCES, "the registry wants a login for %s",
	 "log in with npm login, as the user that runs qp"},
	{"E5*", -EHOSTUNREACH, "the registry failed to give %s", "try again later"},
	{"E429", -EHOSTUNREACH, "the registry has had too many requests", "try again later"},
	{"ENOTFOUND", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"EAI_*", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"ECONN*", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"ENET*", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"EHOST*", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"ETIMEDOUT", -EHOSTUNREACH, "the registry does not answer for %s", NULL},
	{"ERR_SOCKET_TIMEOUT", -EHOSTUNREACH, "the registry does not answer for %s", NULL},
	{"FETCH_ERROR", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"EPIPE", -EHOSTUNREACH, "the registry cannot be reached for %s", NULL},
	{"ENOTCACHED", -EHOSTUNREACH,
	 "your npm configuration says offline, and qp has no copy of %s", "set offline to false"},
	{"*CERT*", -EHOSTUNREACH, "the registry's certificate is not trusted",
	 "name its authority with cafile in your npmrc, or NODE_EXTRA_CA_CERTS"},
	{"EINTEGRITY", -EBADMSG,
	 "%s or a dependency of it is corrupt: its bytes are not those its integrity names",
	 "fetch it again; if that does not help, the registry or a proxy changes it"},
	{"TAR_*", -EBADMSG, "%s is corrupt: it is no tarball that npm can read",
	 "pack it again with npm pack"},
	{"Z_*", -EBADMSG, "%s is corrupt: it is no whole gzip file", "pack it again with npm pack"},
	{"ENOMANIFEST", -EBADMSG, "%s is no package",
	 "a package has a package.json with a name and a version"},
	{"EJSONPARSE", -EBADMSG, "a package.json of %s is no JSON", "mend the file"},
	{"EINVALIDPACKAGENAME", -EBADMSG, "a package.json of %s has a name that npm does not take",
	 "mend the file"},
	{"ERESOLVE", -EINVAL, "the dependencies of %s contradict each other",
	 "legacy-peer-deps=true in your npmrc goes on all the same"},
	{"EBADENGINE", -EINVAL, "%s does not support this version of node",
	 "install another one, or unset engine-strict"},
	{"EBADPLATFORM", -EINVAL, "%s does not support this platform",
	 "judge it on one that it supports"},
	{"ENOSPC", -ENOSPC, "there is no space left for %s", "free some below /tmp"},
	{"EDQUOT", -ENOSPC, "there is no space left for %s", "free some below /tmp"},
	{"EACCES", -EACCES, "some files of %s cannot be read by an unprivileged user",
	 "chmod -R a+rX gives that right"},
	{"ENONPM", -ENOTSUP, "npm is not installed where the sandbox can see it",
	 "apt-get install npm"},
};

static bool code_matches(const char *pattern, const char *code)
{
	size_t len = strlen(pattern);

	if (*pattern == '*') { /* *PART* */
		char part[16];

		memcpy(part, pattern + 1, len - 2);
		part[len - 2] = '\0';
		return strstr(code, part) != NULL;
	}
	if (pattern[len - 1] == '*')
		return !strncmp(pattern, code, len - 1);
	return !strcmp(pattern, code);
}

#define NETWORK_MEND \
	"check the network and the registry and proxy settings of your npm configuration"

int fetch_failure(const struct spec *spec, const struct limits *limits, const char *code,
		  const char *message, struct qp_error *err)
{
	char cause[768];

	if (!strcmp(code, "EPACKAGES"))
		return qp_error_set(err, -EFBIG,
				    "%s needs more than %llu packages (%s): raise "
				    "--download-packages to judge it",
				    spec->requested,
				    (unsigned long long)limits->download_max_packages, message);
	if (!strcmp(code, "EFBIG"))
		return qp_error_set(err, -EFBIG,
				    "%s is bigger than %llu bytes (%s): raise --download-bytes "
				    "to judge it",
				    spec->requested, (unsigned long long)limits->download_max_bytes,
				    message);
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (!code_matches(failures[i].code, code))
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(cause, sizeof(cause), failures[i].cause, spec->requested);
#pragma GCC diagnostic pop
		return qp_error_set(err, failures[i].error, "%s (%s: %s): %s", cause, code, message,
				    failures[i].mend ? failures[i].mend : NETWORK_MEND);
	}
	return qp_error_set(err, -EIO, "npm could not fetch %s (%s: %s)", spec->requested, code,
			    message);
}
