// SPDX-License-Identifier: Apache-2.0
/* A made-up user, machine and network place, such as a developer's computer has. */
#include "tools/sandbox/sandbox.h"

#include "tools/sandbox/random.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#define UID_FIRST    20000
#define UID_CNT	     40000
#define TRIES_MAX    64
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

static const char *const users[] = {
	"anna",	 "ben",	   "carla", "daniel", "elena", "felix", "greta", "hugo",   "ines",
	"jakob", "karin",  "lukas", "marta",  "niko",  "olga",	"paul",	 "rosa",   "simon",
	"tess",	 "victor", "wanda", "yara",   "milan", "nora",	"oskar", "judith",
};

/* Machines named for their user, and others. */
static const char *const user_hosts[] = {"%s-laptop", "%s-pc", "%s-thinkpad", "%s-xps"};
static const char *const plain_hosts[] = {"dev", "ws", "build", "desk"};

static int host_make(struct persona *persona)
{
	uint32_t kind, number;
	char digits[5];
	int r = random_below(COUNT(user_hosts) + COUNT(plain_hosts), &kind);

	if (!r)
		r = random_below(98, &number);
	if (!r)
		r = random_text(ALPHABET_HEX, sizeof(digits) - 1, digits);
	if (r)
		return r;
	if (kind < COUNT(user_hosts)) {
		/* The patterns are the constants above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(persona->host, sizeof(persona->host), user_hosts[kind], persona->user);
#pragma GCC diagnostic pop
	} else if (number % 2) {
		snprintf(persona->host, sizeof(persona->host), "%s-%s",
			 plain_hosts[kind - COUNT(user_hosts)], digits);
	} else {
		snprintf(persona->host, sizeof(persona->host), "%s%02u",
			 plain_hosts[kind - COUNT(user_hosts)], number + 1);
	}
	return 0;
}

static int addresses_make(struct persona *persona)
{
	uint32_t net, host, subnet;
	unsigned char prefix[5];
	int r = random_below(254, &net);

	if (!r)
		r = random_below(200, &host);
	if (!r)
		r = random_below(2, &subnet);
	if (!r)
		r = random_bytes(prefix, sizeof(prefix));
	if (r)
		return r;
	snprintf(persona->gateway4, sizeof(persona->gateway4),
		 subnet ? "10.0.%u.1" : "192.168.%u.1", net + 1);
	snprintf(persona->address4, sizeof(persona->address4),
		 subnet ? "10.0.%u.%u" : "192.168.%u.%u", net + 1, host + 20);
	/* RFC 4193: fd, forty random bits, a subnet. The first octet of each group is kept above
	 * zero so that the text has one spelling. */
	snprintf(persona->gateway6, sizeof(persona->gateway6), "fd%02x:%x:%x::1", prefix[0],
		 (prefix[1] | 0x10) << 8 | prefix[2], (prefix[3] | 0x10) << 8 | prefix[4]);
	snprintf(persona->address6, sizeof(persona->address6), "fd%02x:%x:%x::%x", prefix[0],
		 (prefix[1] | 0x10) << 8 | prefix[2], (prefix[3] | 0x10) << 8 | prefix[4],
		 host + 20);
	return 0;
}

/* A number that is no user and no group of the host, so that nothing of theirs is its own. */
static int uid_make(struct persona *persona)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		uint32_t value;
		int r = random_below(UID_CNT, &value);

		if (r)
			return r;
		value += UID_FIRST;
		if (getpwuid(value) || getgrgid(value))
			continue;
		persona->uid = persona->gid = value;
		return 0;
	}
	return -EAGAIN;
}

int persona_make(struct persona *ret_persona)
{
	struct persona persona = {0};
	uint32_t name;
	int r = random_below(COUNT(users), &name);

	if (r)
		return r;
	snprintf(persona.user, sizeof(persona.user), "%s", users[name]);
	snprintf(persona.home, sizeof(persona.home), "/home/%s", persona.user);
	r = host_make(&persona);
	if (!r)
		r = addresses_make(&persona);
	if (!r)
		r = uid_make(&persona);
	if (r)
		return r;
	*ret_persona = persona;
	return 0;
}
