// SPDX-License-Identifier: Apache-2.0
/*
 * qp-sinkhole: the whole internet as a sandbox sees it. Options, the order of the start,
 * and what goes wrong in it; the work is done by the other files of this folder.
 */
#include "base/authority.h"
#include "base/log.h"
#include "base/options.h"
#include "sinkhole/link.h"
#include "sinkhole/netns.h"
#include "sinkhole/nft.h"
#include "sinkhole/privileges.h"
#include "sinkhole/conn.h"
#include "sinkhole/service.h"
#include "sinkhole/tls_session.h"

#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#define EXIT_BROKE	1
#define EXIT_USAGE	2
#define EXIT_UNABLE	3
#define OWN_DESCRIPTORS 64
#define DEFAULT_USER	65534
#define NUMBER_UNSET	UINT64_MAX

struct settings {
	const char *netns;
	uint64_t pid, netns_fd, user, decoys_fd, ca_fd;
	const char *out, *respond, *tls;
	bool ipv4_only, ipv6_only;
	struct link_config link;
	struct link_found found;
};

static const struct command_help help = {
	.usage = "qp-sinkhole --netns NAME | --pid PID | --netns-fd N [OPTION...]",
	.summary = "Be the whole network of a sandbox: answer, let nothing out, record everything.",
	.details =
		"Records are JSON lines on standard output, as docs/sinkhole-records.md has them.\n"
		"SIGTERM or SIGINT records what is open, writes the line `end` and ends.\n"
		"Status: 0 after a signal, 1 when records could not be written, 2 wrong usage,\n"
		"3 when this host or sandbox cannot have a sinkhole.",
	.example = "ip netns add box && qp-sinkhole --netns box --out box.jsonl",
};

static bool intercepts(const struct settings *settings)
{
	return !strcmp(settings->tls, "intercept");
}

static int settings_check(const struct settings *settings, struct qp_error *err)
{
	const char *interface = settings->link.interface;
	int named = (settings->netns != NULL) + (settings->pid != NUMBER_UNSET) +
		    (settings->netns_fd != NUMBER_UNSET);

	if (named != 1)
		return qp_error_set(err, -EINVAL,
				    "name the sandbox with one of --netns, --pid and --netns-fd");
	if (strlen(interface) >= IFNAMSIZ || strpbrk(interface, "/: %\t\n") ||
	    !strcmp(interface, "lo"))
		return qp_error_set(err, -EINVAL, "--interface %s: no name for an interface",
				    interface);
	if (settings->ipv4_only && settings->ipv6_only)
		return qp_error_set(err, -EINVAL,
				    "--ipv4-only and --ipv6-only leave no network at all");
	if (settings->ca_fd != NUMBER_UNSET && !intercepts(settings))
		return qp_error_set(err, -EINVAL, "--ca-fd is of use with --tls intercept only");
	return 0;
}

/* 0 with *ret_done when there is nothing more to do; -EINVAL. */
static int settings_read(int argc, char **argv, struct settings *settings, bool *ret_done,
			 struct qp_error *err)
{
	const struct option rows[] = {
		{"netns", OPTION_STRING, &settings->netns, "NAME",
		 "the sandbox's network namespace, as `ip netns` names it", 0, 0, NULL},
		{"pid", OPTION_NUMBER, &settings->pid, "PID", "the same, by a process in it", 1,
		 INT_MAX, NULL},
		{"netns-fd", OPTION_NUMBER, &settings->netns_fd, "N",
		 "the same, by an inherited descriptor", 0, INT_MAX, NULL},
		{"out", OPTION_STRING, &settings->out, "FILE",
		 "write records to this new file (default: standard output)", 0, 0, NULL},
		{"respond", OPTION_STRING, &settings->respond, "FILE",
		 "answer HTTP requests from this table (default: 403)", 0, 0, NULL},
		{"interface", OPTION_STRING, &settings->link.interface, "NAME",
		 "the sandbox's interface (default: eth0)", 0, 0, NULL},
		{"address", OPTION_STRING, &settings->link.address4, "A/LEN",
		 "its IPv4 address (default: 10.23.4.17/24)", 0, 0, NULL},
		{"gateway", OPTION_STRING, &settings->link.gateway4, "A",
		 "the next hop it sees (default: 10.23.4.1)", 0, 0, NULL},
		{"address6", OPTION_STRING, &settings->link.address6, "A/LEN",
		 "its IPv6 address (default: 2001:db8:17:4::11/64)", 0, 0, NULL},
		{"gateway6", OPTION_STRING, &settings->link.gateway6, "A",
		 "the next hop it sees (default: 2001:db8:17:4::1)", 0, 0, NULL},
		{"ipv4-only", OPTION_FLAG, &settings->ipv4_only, NULL, "give the sandbox no IPv6",
		 0, 0, NULL},
		{"ipv6-only", OPTION_FLAG, &settings->ipv6_only, NULL, "give the sandbox no IPv4",
		 0, 0, NULL},
		{"decoys-fd", OPTION_NUMBER, &settings->decoys_fd, "N",
		 "look for the values of this JSON object, read from descriptor N", 0, INT_MAX,
		 NULL},
		{"tls", OPTION_CHOICE, &settings->tls, "MODE",
		 "refuse TLS, or intercept it with an authority made for it (default: refuse)", 0,
		 0, "refuse|intercept"},
		{"ca-fd", OPTION_NUMBER, &settings->ca_fd, "N",
		 "that authority: its key and certificate, PEM, read from descriptor N", 0, INT_MAX,
		 NULL},
		{"user", OPTION_NUMBER, &settings->user, "ID",
		 "user and group to become (default: 65534)", 1, UINT32_MAX - 1, NULL},
		{},
	};
	bool wants_help = false;
	int operands = 0, r;

	r = options_parse(rows, argc, argv, false, &operands, &wants_help, err);
	if (r < 0)
		return r;
	*ret_done = wants_help;
	if (wants_help) {
		options_help(stdout, &help, rows);
		return 0;
	}
	if (operands)
		return qp_error_set(err, -EINVAL, "unexpected operand '%s'", argv[0]);
	if (settings->ipv4_only)
		settings->link.address6 = settings->link.gateway6 = NULL;
	if (settings->ipv6_only)
		settings->link.address4 = settings->link.gateway4 = NULL;
	return settings_check(settings, err);
}

/* Standard output, or the new file. */
static int out_open(const char *path, int *ret_fd, struct qp_error *err)
{
	*ret_fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600)
		       : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (*ret_fd < 0)
		return qp_error_set(err, -errno, "%s: %s", path ? path : "standard output",
				    errno == EEXIST ? "exists already; records go to a new file"
						    : strerror(errno));
	return 0;
}

/* Termination signals as a descriptor; a reader that went away as an error of write. */
static int signals_open(int *ret_fd, struct qp_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return qp_error_set(err, -errno, "signals: %s", strerror(errno));
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*ret_fd < 0)
		return qp_error_set(err, -errno, "signals: %s", strerror(errno));
	return 0;
}

/* The link, in a namespace of our own. */
static int network_setup(struct settings *settings, struct qp_error *err)
{
	_cleanup_close_ int sandbox = -1, own = -1;
	int r = netns_open(
		settings->netns, settings->pid == NUMBER_UNSET ? 0 : (pid_t)settings->pid,
		settings->netns_fd == NUMBER_UNSET ? -1 : (int)settings->netns_fd, &sandbox, err);

	if (r == 0)
		r = netns_new(&own, err);
	if (r == 0 && settings->link.address6 && access("/proc/sys/net/ipv6", F_OK) != 0) {
		if (settings->ipv6_only)
			return qp_error_set(err, -EAFNOSUPPORT,
					    "this kernel has no IPv6; leave out --ipv6-only");
		log_warning("this kernel has no IPv6; the sandbox gets IPv4 only");
		settings->link.address6 = settings->link.gateway6 = NULL;
	}
	if (r == 0)
		r = link_setup(&settings->link, own, sandbox, &settings->found, err);
	if (r < 0)
		return r;
	if (settings->found.default_route)
		log_warning("the sandbox has a default route already, which is left: only what it "
			    "sends by %s is seen",
			    settings->link.interface);
	if (json_array_size(settings->found.others))
		log_warning("the sandbox has other links, which are left: what it sends by them is "
			    "not seen; the record `ready` names them");
	return 0;
}

/* What is to be looked for; nothing when no descriptor was named. */
static int decoys_take(const struct settings *settings, struct decoys **ret_decoys,
		       struct qp_error *err)
{
	_cleanup_close_ int fd = -1;

	if (settings->decoys_fd == NUMBER_UNSET)
		return 0;
	fd = (int)settings->decoys_fd;
	return decoys_read(fd, ret_decoys, err);
}

/* Who answers TLS, and what clients must trust for it; nothing when it is refused. */
static int tls_setup(const struct settings *settings, struct tls_server **ret_server,
		     char **ret_pem, struct qp_error *err)
{
	_cleanup_authority_ struct authority *authority = NULL;
	_cleanup_close_ int fd = -1;
	int r;

	if (!intercepts(settings))
		return 0;
	if (settings->ca_fd == NUMBER_UNSET) {
		r = authority_make(&authority, err);
	} else {
		fd = (int)settings->ca_fd;
		r = authority_read(fd, &authority, err);
	}
	if (r < 0)
		return r;
	*ret_pem = authority_pem(authority);
	return *ret_pem ? tls_server_new(steal_ptr(authority), ret_server, err) : -ENOMEM;
}

static int service_setup(struct settings *settings, struct record_log *log,
			 const struct decoys *decoys, pid_t parent, struct service **ret_service,
			 struct qp_error *err)
{
	_cleanup_service_ struct service *service = NULL;
	struct listeners listeners = {-1, -1, -1, -1, 0, 0};
	size_t descriptors = descriptors_allow(CONNS_MAX + OWN_DESCRIPTORS);
	int signals = -1, r = network_setup(settings, err);

	if (r == 0)
		r = signals_open(&signals, err);
	if (r == 0)
		r = listeners_open(settings->link.address4 != NULL, settings->link.address6 != NULL,
				   &listeners, err);
	if (r == 0)
		r = service_new(&listeners, signals, log, decoys, descriptors - OWN_DESCRIPTORS,
				&service, err);
	if (r == 0)
		r = nft_install(SERVICE_NFLOG_GROUP, listeners.tcp_port, listeners.udp_port, err);
	/* The time zone and the seed of jansson's hashes come from files; none can be opened
	 * later. */
	tzset();
	json_object_seed(0);
	if (r == 0)
		r = privileges_drop((uint32_t)settings->user, parent, err);
	if (r == 0)
		*ret_service = steal_ptr(service);
	return r;
}

static int ready_write(const struct settings *settings, const char *pem, struct record_log *log)
{
	struct timespec now = record_now();
	struct record record = record_begin("ready", &now);
	const char *const given[] = {settings->link.address4, settings->link.address6};
	json_t *addresses = json_array();

	for (size_t i = 0; i < 2; i++)
		if (given[i] && json_array_append_new(
					addresses, json_stringn(given[i], strcspn(given[i], "/"))))
			record.failed = true;
	record_set(&record, "addresses", addresses);
	record_text(&record, "tls", settings->tls);
	if (json_array_size(settings->found.others))
		record_set(&record, "otherLinks", json_incref(settings->found.others));
	if (pem)
		record_text(&record, "ca", pem);
	return record_write(log, &record);
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.pid = NUMBER_UNSET,
		.netns_fd = NUMBER_UNSET,
		.user = DEFAULT_USER,
		.decoys_fd = NUMBER_UNSET,
		.ca_fd = NUMBER_UNSET,
		.tls = "refuse",
		.link = {"eth0", "10.23.4.17/24", "10.23.4.1", "2001:db8:17:4::11/64",
			 "2001:db8:17:4::1"},
	};
	_cleanup_decoys_ struct decoys *decoys = NULL;
	_cleanup_respond_ struct respond *respond = NULL;
	_cleanup_tls_server_ struct tls_server *tls = NULL;
	_cleanup_service_ struct service *service = NULL;
	_cleanup_free_ char *pem = NULL;
	_cleanup_close_ int out = -1;
	pid_t parent = getppid();
	struct record_log log = {};
	struct qp_error err = {};
	bool done = false;
	int r;

	log_set_program("qp-sinkhole");
	r = settings_read(argc, argv, &settings, &done, &err);
	if (r < 0) {
		log_qp_error(&err);
		return EXIT_USAGE;
	}
	if (done)
		return 0;
	r = geteuid() == 0 ? 0 : qp_error_set(&err, -EPERM, "needs root: run it with sudo");
	if (r == 0)
		r = out_open(settings.out, &out, &err);
	log.fd = out;
	if (r == 0)
		r = decoys_take(&settings, &decoys, &err);
	if (r == 0)
		r = respond_load(settings.respond, &respond, &err);
	if (r == 0)
		r = tls_setup(&settings, &tls, &pem, &err);
	if (r == 0)
		r = service_setup(&settings, &log, decoys, parent, &service, &err);
	if (r < 0) {
		log_qp_error(&err);
		return EXIT_UNABLE;
	}
	service_set_respond(service, respond);
	service_set_tls(service, tls);
	ready_write(&settings, pem, &log);
	json_decref(settings.found.others);
	r = service_run(service, &err);
	if (r < 0)
		log_qp_error(&err);
	return r < 0 ? EXIT_BROKE : 0;
}
