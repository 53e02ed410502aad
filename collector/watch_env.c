// SPDX-License-Identifier: Apache-2.0
/* Finds the C libraries beneath a root folder and puts the probes on their getenv. */
#include "collector/capture.h"

#include "base/cleanup.h"

#include "capture.skel.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIBRARY_BYTES_MAX (64 << 20)
#define SYMBOLS_MAX	  (1 << 20)

/* Where distributions have them: Debian's multiarch, lib64, lib; musl is its own loader. */
static const char *const library_paths[] = {
#ifdef __x86_64__
	"lib/x86_64-linux-gnu/libc.so.6",
	"usr/lib/x86_64-linux-gnu/libc.so.6",
	"lib/ld-musl-x86_64.so.1",
	"usr/lib/ld-musl-x86_64.so.1",
	"lib/x86_64-linux-musl/libc.so",
	"usr/lib/x86_64-linux-musl/libc.so",
#else
	"lib/aarch64-linux-gnu/libc.so.6",
	"usr/lib/aarch64-linux-gnu/libc.so.6",
	"lib/ld-musl-aarch64.so.1",
	"usr/lib/ld-musl-aarch64.so.1",
	"lib/aarch64-linux-musl/libc.so",
	"usr/lib/aarch64-linux-musl/libc.so",
#endif
	"lib64/libc.so.6",
	"usr/lib64/libc.so.6",
	"lib/libc.so.6",
	"usr/lib/libc.so.6",
};

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define LIBRARIES_CNT (sizeof(library_paths) / sizeof(library_paths[0]))

static const char *const functions[] = {"getenv", "secure_getenv"};

#define FUNCTIONS_CNT (sizeof(functions) / sizeof(functions[0]))

DEFINE_CLEANUP(elf, Elf *, elf_end);

/* The files that were seen already: many of the paths name the same one. */
struct files_seen {
	struct stat stats[LIBRARIES_CNT];
	size_t cnt;
};

static bool seen_already(struct files_seen *seen, const struct stat *st)
{
	for (size_t i = 0; i < seen->cnt; i++)
		if (seen->stats[i].st_dev == st->st_dev && seen->stats[i].st_ino == st->st_ino)
			return true;
	seen->stats[seen->cnt++] = *st;
	return false;
}

/* A link in there leads where it leads in there. */
static int open_beneath(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* From an address of the program to its place in the file; 0 when it is in no segment. */
static uint64_t file_offset(Elf *elf, uint64_t address)
{
	size_t cnt;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &cnt) < 0)
		return 0;
	for (size_t i = 0; i < cnt && i < INT32_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	return 0;
}

/* Fills in where each of the functions begins in the file; 0 for one that is not there. */
static void section_search(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			   uint64_t offsets[FUNCTIONS_CNT])
{
	Elf_Data *data = elf_getdata(section, NULL);
	uint64_t cnt = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (uint64_t i = 0; data && i < cnt && i < SYMBOLS_MAX; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		for (size_t f = 0; name && f < FUNCTIONS_CNT; f++)
			if (!strcmp(name, functions[f]))
				offsets[f] = file_offset(elf, symbol.st_value);
	}
}

static int functions_find(int fd, uint64_t offsets[FUNCTIONS_CNT])
{
	_cleanup_(elf) Elf *elf = NULL;
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	GElf_Shdr header;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	/* A library of another ABI passes its arguments in another way. */
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &file) ||
	    file.e_machine != MACHINE)
		return -ENOEXEC;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			section_search(elf, section, &header, offsets);
	return offsets[0] ? 0 : -ENOENT;
}

static int probe_attach(struct collector *collector, int fd, const char *path, size_t function,
			uint64_t offset, struct qp_error *err)
{
	struct bpf_link **links =
		realloc(collector->links, (collector->link_cnt + 1) * sizeof(struct bpf_link *));
	struct bpf_link *link;
	char file[32];

	if (!links)
		return -ENOMEM;
	collector->links = links;
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	link = bpf_program__attach_uprobe(collector->skel->progs.on_getenv, false, -1, file,
					  offset);
	if (!link)
		return qp_error_set(err, -errno, "cannot watch %s of %s: %s", functions[function],
				    path, strerror(errno));
	links[collector->link_cnt++] = link;
	return 0;
}

/* 1 when the file is a library that is now watched, 0 when it is none. */
static int library_watch(struct collector *collector, int fd, const char *path,
			 struct qp_error *err)
{
	uint64_t offsets[FUNCTIONS_CNT] = {0};
	int r = functions_find(fd, offsets);

	if (r)
		return 0;
	for (size_t i = 0; i < FUNCTIONS_CNT; i++) {
		r = offsets[i] ? probe_attach(collector, fd, path, i, offsets[i], err) : 0;
		if (r)
			return r;
	}
	return 1;
}

int collector_watch_env(struct collector *collector, int root_fd, json_t **ret_libraries,
			struct qp_error *err)
{
	json_t *libraries = json_array();
	struct files_seen seen = {0};

	for (size_t i = 0; libraries && i < LIBRARIES_CNT; i++) {
		_cleanup_close_ int fd = open_beneath(root_fd, library_paths[i]);
		struct stat st;
		int r;

		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		    st.st_size > LIBRARY_BYTES_MAX || seen_already(&seen, &st))
			continue;
		r = library_watch(collector, fd, library_paths[i], err);
		if (r == 1)
			r = json_array_append_new(libraries, json_sprintf("/%s", library_paths[i]))
				    ? -ENOMEM
				    : 0;
		if (r) {
			json_decref(libraries);
			return r;
		}
	}
	*ret_libraries = libraries;
	return libraries ? 0 : -ENOMEM;
}
