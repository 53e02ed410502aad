// SPDX-License-Identifier: Apache-2.0
/* rules/default.json inside the program: the assembler reads the file, see the Makefile. */
#include "rules/ruleset.h"

__asm__(".pushsection .rodata\n"
	"ruleset_default_bytes:\n"
	".incbin \"rules/default.json\"\n"
	".byte 0\n"
	".popsection\n");

extern const char ruleset_default_bytes[] __attribute__((visibility("hidden")));

const char *ruleset_default_text(void)
{
	return ruleset_default_bytes;
}
