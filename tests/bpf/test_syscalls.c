// SPDX-License-Identifier: Apache-2.0
/* That the table's numbers are those of the kernel's own headers. */
#include "bpf/syscalls.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	int x86_64, aarch64, i386;
};

static const struct row rows[] = {
#define QP_CALL(name, kind, x86_64, aarch64, i386, ...) {#name, x86_64, aarch64, i386},
#include "bpf/syscalls.def"
#undef QP_CALL
};

#define ROW_CNT (sizeof(rows) / sizeof(rows[0]))

/* "#define __NR_name 5" or "__NR3264_name 5"; false for any other line. */
static bool parse_line(const char *line, char *name, int *nr)
{
	if (sscanf(line, "#define __NR_%63s %d", name, nr) == 2)
		return true;
	return sscanf(line, "#define __NR3264_%63s %d", name, nr) == 2;
}

/* Each number that the header gives to a name of the table; @column picks the table's.
 * 403 to 423 are for 32-bit machines only, which the generic header serves too. */
static void compare(const char *header, size_t column)
{
	FILE *file = fopen(header, "re");
	char line[256], name[64];
	size_t cnt = 0;
	int nr;

	if (!file) {
		cr_assert(!getenv("QP_MUST_RUN"), "%s is missing", header);
		cr_skip("%s is missing", header);
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		if (!parse_line(line, name, &nr) || (column == 1 && nr >= 403 && nr <= 423))
			continue;
		for (size_t i = 0; i < ROW_CNT; i++) {
			const int numbers[] = {rows[i].x86_64, rows[i].aarch64, rows[i].i386};

			if (strcmp(rows[i].name, name) != 0)
				continue;
			cr_expect_eq(numbers[column], nr, "%s: %d here, %d in %s", name,
				     numbers[column], nr, header);
			cnt++;
		}
	}
	fclose(file);
	cr_expect_gt(cnt, 90);
}

#ifdef __x86_64__
Test(syscalls, has_the_numbers_of_x86_64)
{
	compare("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0);
}

Test(syscalls, has_the_numbers_of_i386)
{
	compare("/usr/include/x86_64-linux-gnu/asm/unistd_32.h", 2);
}
#endif

Test(syscalls, has_the_numbers_of_aarch64)
{
	compare("/usr/include/asm-generic/unistd.h", 1);
}

Test(syscalls, names_each_number_once)
{
	for (size_t i = 0; i < ROW_CNT; i++) {
		for (size_t j = 0; j < i; j++) {
			cr_expect(rows[i].x86_64 < 0 || rows[i].x86_64 != rows[j].x86_64, "%s, %s",
				  rows[i].name, rows[j].name);
			cr_expect(rows[i].aarch64 < 0 || rows[i].aarch64 != rows[j].aarch64,
				  "%s, %s", rows[i].name, rows[j].name);
			cr_expect(rows[i].i386 < 0 || rows[i].i386 != rows[j].i386, "%s, %s",
				  rows[i].name, rows[j].name);
		}
	}
}
