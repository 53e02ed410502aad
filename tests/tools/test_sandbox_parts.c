// SPDX-License-Identifier: Apache-2.0
/* The sandbox's parts that need no container: limits, persona, decoys, mount table, filter. */
#include "base/cleanup.h"
#include "base/io.h"
#include "tools/sandbox/internal.h"
#include "tools/sandbox/layer.h"
#include "tools/sandbox/mountinfo.h"
#include "tools/sandbox/random.h"
#include "tools/sandbox/seccomp.h"
#include "tools/sandbox/ssh_key.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PERSONAS 500

Test(sandbox_parts, has_the_limits_of_the_seed_receipts)
{
	/* seeds/receipt-fastify.json, with one whole CPU. */
	json_auto_t *seed = json_loads(
		"{\"downloadSeconds\": 120, \"downloadMaxBytes\": 52428800, "
		"\"downloadMaxPackages\": 300, \"sandboxSeconds\": 60, \"pids\": 64, "
		"\"memoryBytes\": 268435456, \"cpus\": 1, \"tmpfsWorkBytes\": 134217728, "
		"\"tmpfsTmpBytes\": 67108864, \"tmpfsHomeBytes\": 16777216}",
		0, NULL);
	json_auto_t *half = NULL, *whole = NULL;
	struct limits limits;

	limits_default(&limits);
	whole = limits_json(&limits);
	cr_expect(json_equal(whole, seed));
	limits.cpus_milli = 500;
	half = limits_json(&limits);
	json_object_set_new(seed, "cpus", json_real(0.5));
	cr_expect(json_equal(half, seed));
}

Test(sandbox_parts, makes_up_personas_that_could_be_people)
{
	bool private_ten = false, private_192 = false;

	for (int i = 0; i < PERSONAS; i++) {
		struct persona persona;
		struct in_addr address4, gateway4;
		struct in6_addr address6, gateway6;
		char text[INET6_ADDRSTRLEN], home[80];

		cr_assert_eq(persona_make(&persona), 0);
		cr_expect(persona.uid >= 20000 && persona.uid <= 59999);
		cr_expect_eq(persona.uid, persona.gid);
		cr_expect_null(getpwuid(persona.uid));
		snprintf(home, sizeof(home), "/home/%s", persona.user);
		cr_expect_str_eq(persona.home, home);
		for (const char *p = persona.host; *p; p++)
			cr_expect(islower(*p) || isdigit(*p) || *p == '-', "%s", persona.host);
		cr_assert_eq(inet_pton(AF_INET, persona.address4, &address4), 1);
		cr_assert_eq(inet_pton(AF_INET, persona.gateway4, &gateway4), 1);
		cr_expect_eq(ntohl(address4.s_addr) >> 8, ntohl(gateway4.s_addr) >> 8);
		cr_expect_eq(ntohl(gateway4.s_addr) & 0xff, 1);
		cr_expect((ntohl(address4.s_addr) & 0xff) > 1 &&
			  (ntohl(address4.s_addr) & 0xff) < 255);
		private_ten |= ntohl(address4.s_addr) >> 24 == 10;
		private_192 |= ntohl(address4.s_addr) >> 16 == (192 << 8 | 168);
		cr_expect(ntohl(address4.s_addr) >> 24 == 10 ||
			  ntohl(address4.s_addr) >> 16 == (192 << 8 | 168));
		cr_assert_eq(inet_pton(AF_INET6, persona.address6, &address6), 1, "%s",
			     persona.address6);
		cr_assert_eq(inet_pton(AF_INET6, persona.gateway6, &gateway6), 1);
		cr_expect_eq(address6.s6_addr[0], 0xfd);
		cr_expect_eq(memcmp(&address6, &gateway6, 8), 0);
		/* The one spelling that every comparison of text relies on. */
		cr_expect_str_eq(persona.address6,
				 inet_ntop(AF_INET6, &address6, text, sizeof(text)));
		cr_expect_str_eq(persona.gateway6,
				 inet_ntop(AF_INET6, &gateway6, text, sizeof(text)));
	}
	cr_expect(private_ten && private_192);
}

Test(sandbox_parts, draws_every_character_and_number_equally_likely)
{
	unsigned int counts[3] = {0};
	char text[4097];

	for (int i = 0; i < 30000; i++) {
		uint32_t value;

		cr_assert_eq(random_below(3, &value), 0);
		cr_assert_lt(value, 3);
		counts[value]++;
	}
	/* Ten standard deviations of 82. */
	for (int i = 0; i < 3; i++)
		cr_expect(counts[i] > 9180 && counts[i] < 10820, "%u", counts[i]);
	cr_assert_eq(random_text(ALPHABET_BASE32, 4096, text), 0);
	cr_expect_eq(strspn(text, ALPHABET_BASE32), 4096);
	for (const char *p = ALPHABET_BASE32; *p; p++)
		cr_expect_not_null(strchr(text, *p));
}

Test(sandbox_parts, puts_every_decoy_value_into_a_file)
{
	json_auto_t *decoys = NULL;
	_cleanup_free_ char *text = NULL;
	struct persona persona;
	const char *label;
	json_t *value;

	cr_assert_eq(persona_make(&persona), 0);
	cr_assert_eq(decoys_make(&persona, &decoys), 0);
	json_object_foreach (json_object_get(decoys, "values"), label, value) {
		const json_t *file;
		bool found = false;
		size_t i;

		json_array_foreach (json_object_get(decoys, "files"), i, file)
			found |= strstr(json_string_value(json_object_get(file, "text")),
					json_string_value(value)) != NULL;
		/* Docker keeps the password within the encoded pair. */
		cr_expect(found || !strcmp(label, "docker-password"), "%s", label);
	}
	text = json_dumps(json_object_get(decoys, "files"), 0);
	cr_expect_null(strcasestr(text, "decoy"));
	cr_expect_null(strcasestr(text, "honey"));
	cr_expect_null(strcasestr(text, "sandbox"));
}

Test(sandbox_parts, makes_ssh_keys_whose_known_line_is_the_secret_half)
{
	_cleanup_free_ char *file = NULL, *public_line = NULL, *secret = NULL;
	unsigned char blob[1024], public_key[32];
	char base64[1024] = "";
	size_t len = sizeof(public_key);
	EVP_PKEY *key;

	cr_assert_eq(ssh_key_make("x@y", &file, &public_line, &secret), 0);
	for (char *line = strtok(file, "\n"); line; line = strtok(NULL, "\n")) {
		if (line[0] != '-')
			strcat(base64, line);
	}
	cr_assert_gt(EVP_DecodeBlock(blob, (unsigned char *)base64, (int)strlen(base64)), 225);
	cr_expect_str_eq((char *)blob, "openssh-key-v1");
	/* PROTOCOL.key: the seed follows 161 bytes, its public key follows the seed. */
	key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, blob + 161, 32);
	cr_assert_not_null(key);
	cr_assert_eq(EVP_PKEY_get_raw_public_key(key, public_key, &len), 1);
	cr_expect_eq(memcmp(public_key, blob + 193, 32), 0);
	EVP_PKEY_free(key);
	cr_assert_not_null(strstr(base64, secret));
	cr_expect_leq((strstr(base64, secret) - base64) * 3 / 4, 161);
	cr_expect_geq((strstr(base64, secret) - base64 + (long)strlen(secret)) * 3 / 4, 193);
	cr_expect_null(strstr(public_line, secret));
}

/* In a mount namespace of its own; the status says which step failed. */
static void hide_child(const char *folder)
{
	char shown[64], layers_path[64];
	struct layers layers;
	int root;

	snprintf(shown, sizeof(shown), "%s/shown", folder);
	snprintf(layers_path, sizeof(layers_path), "%s/layers", folder);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(10);
	root = open(folder, O_PATH | O_DIRECTORY);
	if (root < 0 || layers_open(layers_path, &layers))
		_exit(11);
	if (layer_hide(&layers, root, "/shown", shown))
		_exit(12);
	if (!faccessat(root, "shown/qp", F_OK, 0) || !faccessat(root, "shown/qp-collect", F_OK, 0))
		_exit(13);
	if (faccessat(root, "shown/qpdf", F_OK, 0) || faccessat(root, "shown/node", F_OK, 0))
		_exit(14);
	if (!faccessat(root, "shown/node", W_OK, AT_EACCESS))
		_exit(15);
	_exit(0);
}

Test(sandbox_parts, hides_qp_where_it_is_installed_and_nothing_else)
{
	static const char *const names[] = {"qp", "qp-collect", "qpdf", "node"};
	char folder[] = "/tmp/hide-XXXXXX", path[64];
	int status;
	pid_t child;

	if (geteuid() != 0) {
		cr_assert(!getenv("QP_MUST_RUN"), "needs root");
		cr_skip("needs root");
	}
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/shown", folder);
	cr_assert_eq(mkdir(path, 0755), 0);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/shown/%s", folder, names[i]);
		cr_assert_eq(write_new_file_at(AT_FDCWD, path, 0755, "x", 1), 0);
	}
	child = fork();
	if (!child)
		hide_child(folder);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 0, "step %d", WEXITSTATUS(status));
	cr_expect_eq(access(path, F_OK), 0);
	cr_expect_eq(remove_tree_at(AT_FDCWD, folder), 0);
}

struct seen {
	int cnt;
	char path[64], super[64];
};

static int mount_see(const struct mount_entry *entry, void *context)
{
	struct seen *seen = context;

	seen->cnt++;
	snprintf(seen->path, sizeof(seen->path), "%s", entry->path);
	snprintf(seen->super, sizeof(seen->super), "%s", entry->super_options);
	return !strcmp(entry->type, "stop") ? -ECANCELED : 0;
}

static int mountinfo_text(const char *text, struct seen *ret_seen)
{
	char path[] = "/tmp/mountinfo-XXXXXX";
	int fd = mkstemp(path), r;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*ret_seen = (struct seen){0};
	r = mountinfo_each(path, mount_see, ret_seen);
	unlink(path);
	return r;
}

Test(sandbox_parts, reads_the_mount_table_as_its_manual_describes)
{
	struct seen seen;

	/* The example of proc_pid_mountinfo(5), then escapes and an empty source. */
	cr_expect_eq(mountinfo_text("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root "
				    "rw,errors=continue\n",
				    &seen),
		     0);
	cr_expect_str_eq(seen.path, "/mnt2");
	cr_expect_str_eq(seen.super, "rw,errors=continue");
	cr_expect_eq(
		mountinfo_text("1 2 0:3 / /a\\040b\\134c\\011 rw - tmpfs  rw,size=4k\n", &seen), 0);
	cr_expect_str_eq(seen.path, "/a b\\c\t");
	cr_expect_str_eq(seen.super, "rw,size=4k");
	cr_expect_eq(mountinfo_text("1 2 0:3 / /a rw tmpfs tmpfs rw\n", &seen), -EBADMSG);
	cr_expect_eq(mountinfo_text("1 2 0:3 - tmpfs tmpfs rw\n", &seen), -EBADMSG);
	cr_expect_eq(
		mountinfo_text("1 2 0:3 / /a rw - stop x rw\n1 2 0:3 / /b rw - x x rw\n", &seen),
		-ECANCELED);
	cr_expect_eq(seen.cnt, 1);
}

Test(sandbox_parts, finds_an_option_by_its_whole_name)
{
	cr_expect_str_eq(mount_option("rw,size=4k,mode=755", "mode"), "755");
	cr_expect_eq(strncmp(mount_option("rw,size=4k,mode=755", "size"), "4k,", 3), 0);
	cr_expect_str_eq(mount_option("rw,ro", "ro"), "");
	cr_expect_null(mount_option("errors=remount-ro,rootcontext", "ro"));
	cr_expect_null(mount_option("cpuacct", "cpu"));
	cr_expect_null(mount_option("", "ro"));
}

Test(sandbox_parts, denies_calls_that_exist_by_the_names_they_have)
{
	/* Not in every libseccomp, or not on every architecture. */
	static const char *const optional = " open_tree_attr stime vm86 vm86old clock_settime64 "
					    "clock_adjtime64 umount ";
	json_auto_t *profile = seccomp_profile();
	const json_t *rule, *name;
	size_t i, j, cnt = 0;

	cr_assert_not_null(profile);
	cr_expect_str_eq(json_string_value(json_object_get(profile, "defaultAction")),
			 "SCMP_ACT_ALLOW");
	json_array_foreach (json_object_get(profile, "syscalls"), i, rule) {
		cr_expect_str_eq(json_string_value(json_object_get(rule, "action")),
				 "SCMP_ACT_ERRNO");
		cr_expect_gt(json_integer_value(json_object_get(rule, "errnoRet")), 0);
		json_array_foreach (json_object_get(rule, "names"), j, name) {
			char padded[64];

			snprintf(padded, sizeof(padded), " %s ", json_string_value(name));
			cnt++;
			if (!strstr(optional, padded))
				cr_expect_neq(seccomp_syscall_resolve_name(json_string_value(name)),
					      __NR_SCMP_ERROR, "%s", json_string_value(name));
		}
	}
	cr_expect_gt(cnt, 50);
}

Test(sandbox_parts, knows_the_names_of_variables_that_hold_credentials)
{
	static const char *const keys[] = {
		"NPM_TOKEN",	 "MY_SECRET", "GITHUB_APIKEY",	       "AWS_SECRET_ACCESS_KEY",
		"npm_authtoken", "PGPASSWD",  "DB_PASSWORD",	       "GH_PAT",
		"SENTRY_DSN",	 "API.KEY",   "npm_config__authToken",
	};
	static const char *const others[] = {
		"PATH", "HOME", "MONKEY", "KEYBOARD", "PWD", "OLDPWD", "COMPASS", "PATTERN", "LANG",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		cr_expect(env_name_is_key_like(keys[i]), "%s", keys[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(env_name_is_key_like(others[i]), "%s", others[i]);
}
