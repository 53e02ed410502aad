// SPDX-License-Identifier: Apache-2.0
/* The one table of limits. A line goes when a test shows that it no longer holds. */
#include "rules/limitations.h"

#include <string.h>

/* Where it holds: everywhere, in one tier, or where reads of the environment were watched, or not.
 */
enum limited { ALWAYS, BASE, KERNEL_OBJECT, ENV_WATCHED, ENV_UNWATCHED };

struct limitation {
	enum limited where;
	const char *tls; /* of runs with this mode of TLS only; NULL: of all */
	const char *text;
};

static const struct limitation limitations[] = {
	{ALWAYS, NULL,
	 "Behaviour kept for later: one install and one import are one observation. Code that "
	 "waits longer than the run, runs only when a function is called, needs a browser, or "
	 "stays quiet because it finds itself watched, shows nothing."},
	{ALWAYS, NULL,
	 "The harness and the package share a process: what happens in it is attributed to the "
	 "package, and the package can claim there to have been loaded when it was not."},
	{ENV_WATCHED, NULL,
	 "Reads of environment variables are observed where a program in the sandbox asks its C "
	 "library (getenv, secure_getenv), as node does for process.env. What a shell expands, and "
	 "what a program finds by looking through its environment itself, is not observed; a "
	 "program can find the probe in the library's code and go around it. The "
	 "sandbox's variables hold no secret."},
	{ENV_UNWATCHED, NULL,
	 "Reads of environment variables are not observed: no C library of the watched programs "
	 "was known before they ran. That none is told says nothing."},
	{ALWAYS, NULL,
	 "A decoy credential's value is recognised where it leaves as it is, reversed, in hex, "
	 "base64 or base32, with percent or JSON escapes, in gzip or deflate, over the labels of a "
	 "name or the segments of a connection (rule c2). Encrypted, packed twice, or spread over "
	 "several datagrams, names or connections it is not."},
	{ALWAYS, "refuse",
	 "TLS bodies are not inspected: the sinkhole records SNI and ALPN from the ClientHello and "
	 "refuses the handshake."},
	{ALWAYS, "intercept",
	 "TLS bodies are inspected where the client trusts the authority of the run, which the "
	 "stores that network.tls names were given. Of a client with its own idea of whom to trust "
	 "(a pinned certificate, a store that it brings) only the ClientHello and the refusal are "
	 "recorded, as of TLS within TLS and of QUIC."},
	{ALWAYS, NULL,
	 "Data in the labels of DNS names is told by their length, by looking like encoded bytes, "
	 "or by a decoy in them; shorter pieces, or pieces that look like words, are judged as a "
	 "network attempt."},
	{ALWAYS, NULL,
	 "UDP payloads are recorded by size and first bytes and judged as a network attempt, "
	 "whatever they hold but for the value of a decoy."},
	{ALWAYS, NULL,
	 "Sinkhole memory bound: when more than 128 MiB are held across open connections, the one "
	 "that holds the most is recorded early with what it had sent by then."},
	{ALWAYS, NULL,
	 "Side channels (timing, load, what /proc shows of other processes) are not observed."},
	{ALWAYS, NULL, "Reads of files are observed for the places that hold credentials only."},
	{ALWAYS, NULL,
	 "What npm and the sandbox's own programs change within the allowed areas is not listed; "
	 "of the package's changes there, the first 2000 are listed and the rest counted."},
	{ALWAYS, NULL,
	 "io_uring is denied to the sandbox. Where it is not (qp-collect), a request is told as "
	 "the system call that does the same. One that asks for no result when it succeeds is "
	 "undetermined; what several results of one request send is counted by the last."},
	{ALWAYS, NULL,
	 "The download runs with the network and is not limited to the registry's addresses; no "
	 "code of the package runs in it."},
	{ALWAYS, NULL,
	 "A kernel bug that lets an unprivileged process take over the kernel would defeat sandbox "
	 "and observation alike."},
	{ALWAYS, NULL,
	 "The evidence log is the word of whoever ran qp: a receipt says exactly what its "
	 "log shows "
	 "and cannot prove that the log is of this run."},
	{BASE, NULL,
	 "Paths of calls that take no descriptor (mkdir, rename, unlink, link, chmod) are copied "
	 "from "
	 "the program's memory, which another thread may change meanwhile: they are read at entry "
	 "and at exit, and a difference makes the outcome undetermined."},
	{KERNEL_OBJECT, NULL,
	 "Paths of calls that fail before the kernel has found what they are to act on, and of "
	 "mounts and chroot, are copied from the program's memory, which another thread may change "
	 "meanwhile: such an attempt may be told under another path."},
};

json_t *limitations_json(const char *tier, const char *tls, bool env)
{
	enum limited other_tier = tier && !strcmp(tier, "kernel-object") ? BASE : KERNEL_OBJECT;
	enum limited other_env = env ? ENV_UNWATCHED : ENV_WATCHED;
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(limitations) / sizeof(limitations[0]); i++) {
		if (limitations[i].where == other_tier || limitations[i].where == other_env)
			continue;
		if (limitations[i].tls && strcmp(limitations[i].tls, tls) != 0)
			continue;
		if (json_array_append_new(list, json_string(limitations[i].text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
