// SPDX-License-Identifier: Apache-2.0
/*
 * Acts by path, in the current folder. `paths act` spells one place in many ways and ends
 * with errors of each sort; `paths flip N` removes N files while another thread changes the
 * name that the call is given, and prints for each which of two names is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void make(const char *path)
{
	close(open(path, O_RDWR | O_CREAT, 0600));
}

/* What both tiers know for certain. */
static void act_plainly(void)
{
	int folder;

	mkdir("plain", 0700);
	make("plain/a");
	link("plain/a", "plain/b");
	rename("plain/b", "plain/./../plain//c");
	chmod("plain/a", 0640);
	chown("plain/a", -1, -1);
	utimensat(AT_FDCWD, "plain/c", NULL, 0);
	truncate("plain/c", 100);
	mknod("plain/fifo", S_IFIFO | 0600, 0);
	unlink("plain/fifo");
	folder = open("plain", O_PATH);
	mkdirat(folder, "new\nline", 0700);
	unlinkat(folder, "new\nline", AT_REMOVEDIR);
	unlinkat(folder, "../plain/a", 0);
	unlinkat(folder, "c", 0);
	close(folder);
	rmdir("plain");
}

/* Over links of this run and of /proc. */
static void act_over_links(void)
{
	mkdir("real", 0700);
	symlink("real", "link");
	make("link/a");
	chmod("link/a", 0640);
	link("link/a", "link/b");
	rename("link/b", "link/../real/c");
	mkdir("link/folder", 0700);
	rmdir("/proc/self/cwd/link/folder");
	symlink("c", "link/c-too");
	chmod("link/c-too", 0600);
	lchown("link/c-too", -1, -1);
	truncate("link/c-too", 3);
	unlink("link/c-too");
	unlink("/proc/self/cwd/real/c");
	unlink("link/a");
	unlink("link");
	rmdir("real");
}

/* What fails: before the kernel has an object (ENOENT, EROFS, EEXIST), and after. */
static void act_in_vain(void)
{
	mkdir("full", 0700);
	make("full/a");
	unlink("nothing");
	rmdir("full");
	unlink("full");
	rename("full", "full/inside");
	rename("full/a", "/etc/taken");
	link("full/a", "/etc/taken");
	mkdir("/etc/folder", 0700);
	chmod("/etc/passwd", 0666);
	truncate("/etc/passwd", 0);
	unlink("/etc/passwd");
	symlink("x", "full");
	unlink("full/a");
	rmdir("full");
}

/* Over a link after names changed places, which only the kernel can follow beyond doubt. */
static void act_after_exchange(void)
{
	mkdir("one", 0700);
	mkdir("two", 0700);
	symlink("one", "way");
	syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE);
	mkdir("way/folder", 0700);
	rmdir("way/folder");
	unlink("way");
	rmdir("two");
	rmdir("one");
}

static char name[32];
static volatile bool flips_end;

static void *flip(void *nothing)
{
	/* An emulated CPU is interrupted at branches only: without one between the two it would
	 * always be found at 'b'. */
	while (!flips_end) {
		*(volatile char *)name = 'a';
		if (flips_end)
			break;
		*(volatile char *)name = 'b';
	}
	return nothing;
}

static int flip_all(int cnt)
{
	pthread_t thread;

	strcpy(name, "a-0000");
	if (pthread_create(&thread, NULL, flip, NULL))
		return 1;
	for (int i = 0; i < cnt; i++) {
		char a[32], b[32];

		snprintf(a, sizeof(a), "a-%04d", i);
		snprintf(b, sizeof(b), "b-%04d", i);
		make(a);
		make(b);
		memcpy(name + 2, a + 2, 4);
		/* Now and then see to it that the other thread is at it. */
		while (i % 16 == 0 && *(volatile char *)name != (i & 16 ? 'a' : 'b'))
			usleep(10);
		if (syscall(SYS_unlinkat, AT_FDCWD, name, 0) < 0)
			return 1;
		puts(access(b, F_OK) < 0 ? b : a);
	}
	flips_end = true;
	pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "flip"))
		return flip_all(atoi(argv[2]));
	if (argc != 2 || strcmp(argv[1], "act") != 0)
		return 2;
	act_plainly();
	act_over_links();
	act_in_vain();
	act_after_exchange();
	/* The collector looks up in the base tier while there is a process to look at. */
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	return 0;
}
