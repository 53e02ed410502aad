// SPDX-License-Identifier: Apache-2.0
/* The small /etc of a sandbox: made up where it is about people and places, the host's where
 * it is about installed software. */
#include "tools/sandbox/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/tree_copy.h"
#include "tools/sandbox/inroot.h"
#include "tools/sandbox/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ETC_FILE_BYTES_MAX   (1 << 20)
#define ETC_FOLDER_BYTES_MAX (32 << 20)
#define ETC_TEXT_SIZE	     4096
#define MACHINE_ID_DIGITS    32

/* Of the host's files, those that say how software finds its parts. */
static const char *const host_files[] = {
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/etc/localtime",
	"/etc/timezone",
	"/etc/profile",
	"/etc/bash.bashrc",
	"/etc/shells",
	"/etc/services",
	"/etc/protocols",
	"/etc/ssl/openssl.cnf",
	"/etc/debian_version",
	"/etc/mime.types",
	"/etc/ca-certificates.conf",
	"/etc/host.conf",
	"/etc/login.defs",
	NULL,
};

/* Folders that are bound, since they are large or of many files. */
static const char *const host_folders[] = {
	"/etc/ssl/certs", "/etc/ca-certificates", "/etc/alternatives", "/etc/ld.so.conf.d",
	"/etc/fonts",	  "/etc/pki/tls/certs",	  "/etc/pki/ca-trust", NULL,
};

static const char passwd_head[] = "root:x:0:0:root:/root:/bin/bash\n"
				  "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
				  "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
				  "sys:x:3:3:sys:/dev:/usr/sbin/nologin\n"
				  "man:x:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
				  "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
				  "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
				  "backup:x:34:34:backup:/var/backups:/usr/sbin/nologin\n";
static const char passwd_tail[] = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
static const char group_head[] = "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\n"
				 "tty:x:5:\ndisk:x:6:\nman:x:12:\nmail:x:8:\nsudo:x:27:\n"
				 "www-data:x:33:\nbackup:x:34:\nusers:x:100:\n";
static const char nsswitch[] = "passwd:         files\ngroup:          files\n"
			       "shadow:         files\n\nhosts:          files dns\n"
			       "networks:       files\n\nprotocols:      db files\n"
			       "services:       db files\n";

/*
 * IPv4 first, as an administrator of a network with poor IPv6 sets it: libc's own order
 * (RFC 3484's) prefers any IPv6 address, and few real networks have but private ones.
 */
static const char gai[] = "label ::1/128 0\nlabel ::/0 1\nlabel 2002::/16 2\n"
			  "label ::/96 3\nlabel ::ffff:0:0/96 4\n"
			  "precedence ::1/128 50\nprecedence ::/0 40\n"
			  "precedence 2002::/16 30\nprecedence ::/96 20\n"
			  "precedence ::ffff:0:0/96 100\n";

static int write_format(int root_fd, const char *path, mode_t mode, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int write_format(int root_fd, const char *path, mode_t mode, const char *format, ...)
{
	char text[ETC_TEXT_SIZE];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(text))
		return -E2BIG;
	return inroot_write(root_fd, path, mode, text, (size_t)len);
}

/* Copies the host's file; one that is not there is left out. */
static int copy_host_file(int root_fd, const char *path)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r = read_file_at(AT_FDCWD, path, ETC_FILE_BYTES_MAX, &bytes, &len);

	if (r)
		return r == -ENOENT ? 0 : r;
	return inroot_write(root_fd, path, 0644, bytes, len);
}

/* The host's folder itself, or, where it is to be changed, a copy. */
static int host_folder(int root_fd, const char *path, bool copy_it)
{
	struct tree_copy copy = {.bytes_max = ETC_FOLDER_BYTES_MAX};
	_cleanup_close_ int from = -1, to = -1;
	int r = inroot_mkdir(root_fd, path, 0755);

	if (r)
		return r;
	if (!copy_it)
		return inroot_bind(root_fd, path, path, false);
	from = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	to = inroot_open(root_fd, path, O_RDONLY | O_DIRECTORY);
	if (from < 0)
		return -errno;
	return to < 0 ? to : tree_copy(&copy, from, to);
}

static int host_parts(int root_fd, bool trusts_more)
{
	struct stat st;
	int r = 0;

	for (size_t i = 0; !r && host_files[i]; i++)
		r = copy_host_file(root_fd, host_files[i]);
	for (size_t i = 0; !r && host_folders[i]; i++) {
		if (stat(host_folders[i], &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		r = host_folder(root_fd, host_folders[i],
				trusts_more && trust_wants_copy(host_folders[i]));
	}
	if (!r)
		r = inroot_symlink(root_fd, "../usr/lib/os-release", "/etc/os-release");
	return r ? r : inroot_symlink(root_fd, "/proc/self/mounts", "/etc/mtab");
}

/* An image keeps its own users; the persona is added to them. */
static int accounts_write(int root_fd, const struct persona *persona, bool image)
{
	_cleanup_free_ char *passwd = NULL, *group = NULL;
	_cleanup_close_ int passwd_fd = -1, group_fd = -1;
	char name[34];
	size_t len;
	int r;

	if (image) {
		passwd_fd = inroot_open(root_fd, "/etc/passwd", O_RDONLY | O_NONBLOCK);
		group_fd = inroot_open(root_fd, "/etc/group", O_RDONLY | O_NONBLOCK);
		if (passwd_fd >= 0 && read_all(passwd_fd, ETC_TEXT_SIZE / 2, &passwd, &len))
			passwd = NULL;
		if (group_fd >= 0 && read_all(group_fd, ETC_TEXT_SIZE / 2, &group, &len))
			group = NULL;
	}
	snprintf(name, sizeof(name), "%c%s", persona->user[0] - 'a' + 'A', persona->user + 1);
	r = write_format(root_fd, "/etc/passwd", 0644, "%s%s:x:%u:%u:%s,,,:%s:%s\n%s",
			 passwd ? passwd : passwd_head, persona->user, persona->uid, persona->gid,
			 name, persona->home, image ? "/bin/sh" : "/bin/bash",
			 passwd ? "" : passwd_tail);
	if (r)
		return r;
	r = write_format(root_fd, "/etc/group", 0644, "%s%s:x:%u:\n%s", group ? group : group_head,
			 persona->user, persona->gid, group ? "" : "nogroup:x:65534:\n");
	if (r || image)
		return r;
	/* There on every machine, and readable for root alone. */
	return write_format(root_fd, "/etc/shadow", 0640,
			    "root:*:19737:0:99999:7:::\n%s:!:19737:0:99999:7:::\n", persona->user);
}

static int network_write(int root_fd, const struct sandbox_config *config)
{
	const struct persona *persona = config->persona;
	int r;

	if (config->netns_fd < 0) {
		r = copy_host_file(root_fd, "/etc/resolv.conf");
		return r ? r : copy_host_file(root_fd, "/etc/hosts");
	}
	r = write_format(root_fd, "/etc/resolv.conf", 0644, "nameserver %s\n", persona->gateway4);
	if (!r)
		r = inroot_write(root_fd, "/etc/gai.conf", 0644, gai, sizeof(gai) - 1);
	return r ? r
		 : write_format(root_fd, "/etc/hosts", 0644,
				"127.0.0.1\tlocalhost\n127.0.1.1\t%s\n\n"
				"::1     localhost ip6-localhost ip6-loopback\n"
				"ff02::1 ip6-allnodes\nff02::2 ip6-allrouters\n",
				persona->host);
}

int etc_write(int root_fd, const struct sandbox_config *config, bool image)
{
	char machine_id[MACHINE_ID_DIGITS + 1];
	int r = random_text(ALPHABET_HEX, MACHINE_ID_DIGITS, machine_id);

	if (!r)
		r = accounts_write(root_fd, config->persona, image);
	if (!r)
		r = network_write(root_fd, config);
	if (!r)
		r = write_format(root_fd, "/etc/hostname", 0644, "%s\n", config->persona->host);
	if (!r)
		r = write_format(root_fd, "/etc/machine-id", 0444, "%s\n", machine_id);
	if (!r && !image)
		r = inroot_write(root_fd, "/etc/nsswitch.conf", 0644, nsswitch,
				 sizeof(nsswitch) - 1);
	if (!r && !image)
		r = host_parts(root_fd, config->trust);
	if (!r && config->trust)
		trust_stores(root_fd, config->trust);
	return r;
}
