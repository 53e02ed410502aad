// SPDX-License-Identifier: Apache-2.0
/* Sockets by themselves: families and protocols out of the ordinary, names of sockets in
 * the file tree, and waiting for others to connect. */
#include "collector/decode_net.h"

#include "base/escape.h"

#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SOCKET_TYPE_MASK 0x0f

/* True once for each process and text. */
static int is_first(struct decoder *d, const struct step *step, const char *what)
{
	_cleanup_free_ char *key = NULL;
	int len = asprintf(&key, "%llx %s", (unsigned long long)step->process->serial, what);
	int r;

	if (len < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (map_get(&d->listens, key, (size_t)len))
		return 0;
	r = bounded(map_put(&d->listens, key, (size_t)len, 0));
	return r < 0 ? r : 1;
}

static int begin(struct decoder *d, const struct step *step, enum observation_kind kind,
		 struct observation *observation)
{
	int r = observation_begin(d, observation, kind, step->process, step->event->head.time_ns);

	if (r < 0)
		return r;
	observation->outcome = call_outcome(step->event);
	observation->blocked =
		step->event->call.flags & QP_CALL_BLOCKED ? TRISTATE_TRUE : TRISTATE_FALSE;
	observation->payload = TRISTATE_FALSE;
	r = observation_set_call(observation, step);
	if (r < 0)
		observation_clear(observation);
	return r;
}

static int finish(struct decoder *d, const struct step *step, struct observation *observation,
		  int r)
{
	if (r < 0) {
		observation_clear(observation);
		return r;
	}
	return bounded(observe_take(d, observation,
				    (struct note){.phase = (uint8_t)step->process->phase}, NULL));
}

static bool is_ordinary(unsigned int family, unsigned int type, unsigned int protocol)
{
	switch (family) {
	case AF_UNIX:
		return true;
	case AF_NETLINK: /* resolvers list the addresses of this host with it */
		return protocol == NETLINK_ROUTE;
	case AF_INET:
	case AF_INET6:
		return type != SOCK_RAW && (!protocol || protocol == IPPROTO_TCP ||
					    protocol == IPPROTO_UDP || protocol == IPPROTO_MPTCP);
	default:
		return false;
	}
}

int decode_socket(struct decoder *d, const struct step *step)
{
	const uint64_t *args = step->event->call.args;
	unsigned int family = (uint32_t)args[0], protocol = (uint32_t)args[2];
	unsigned int type = (uint32_t)args[1] & SOCKET_TYPE_MASK;
	struct observation observation;
	char what[64];
	int r;

	if (is_ordinary(family, type, protocol))
		return 0;
	if (type == SOCK_RAW)
		memset(d->odd_protocols, 0xff, sizeof(d->odd_protocols));
	else
		d->odd_protocols[protocol % 256 / 8] |= (uint8_t)(1 << protocol % 8);
	if (family == AF_PACKET || (type == SOCK_RAW && family != AF_NETLINK))
		return tamper_observe(d, step, NULL, -1);
	snprintf(what, sizeof(what), "socket %u %u %u %d", family, type, protocol,
		 call_outcome(step->event));
	r = is_first(d, step, what);
	if (r <= 0)
		return r;
	r = begin(d, step, OBSERVATION_NET_OTHER, &observation);
	if (r < 0)
		return r;
	if (observation_set(&observation, "family", json_integer(family)) < 0 ||
	    observation_set(&observation, "type", json_integer(type)) < 0 ||
	    observation_set(&observation, "protocol", json_integer(protocol)) < 0)
		r = -ENOMEM;
	return finish(d, step, &observation, r);
}

static const struct event_field *sockaddr_of(const struct kernel_event *event)
{
	for (size_t i = 0; i < event->fields_cnt; i++)
		if (event->fields[i].kind == QP_FIELD_SOCKADDR &&
		    !(event->fields[i].flags & QP_FIELD_FAULT))
			return &event->fields[i];
	return NULL;
}

static bool is_unix(const struct event_field *field)
{
	sa_family_t family;

	if (!field || field->len < sizeof(family))
		return false;
	memcpy(&family, field->data, sizeof(family));
	return family == AF_UNIX;
}

/* The place in the file tree; place->text NULL for an abstract name or none. */
static int unix_place(struct decoder *d, const struct step *step, const struct event_field *field,
		      struct place *ret_place)
{
	const char *name = (const char *)field->data + offsetof(struct sockaddr_un, sun_path);
	size_t len = field->len - offsetof(struct sockaddr_un, sun_path);
	_cleanup_free_ char *text = NULL, *whole = NULL;
	_cleanup_(way) struct way way = {0};
	int r;

	*ret_place = (struct place){0};
	if (!len || !name[0])
		return 0;
	text = strndup(name, len);
	if (!text)
		return -ENOMEM;
	if (text[0] != '/' && !step->process->cwd)
		return 0;
	whole = text[0] == '/' ? strdup(text) : path_join(step->process->cwd, text);
	if (!whole)
		return -ENOMEM;
	r = way_find(d, step, whole, true, &way);
	ret_place->certain = r == 0 && !way.through && text[0] == '/';
	ret_place->text = steal_ptr(way.text);
	return r;
}

static bool is_docker(const char *path)
{
	return text_matches("*/docker.sock", path) || text_matches("*/containerd.sock", path) ||
	       text_matches("*/podman.sock", path) || text_matches("*/crio.sock", path);
}

static int unix_observe(struct decoder *d, const struct step *step, const char *escaped,
			const struct place *place)
{
	struct observation observation;
	int r;

	if (step->event->call.ret == -ENOENT && place->text &&
	    text_matches("*/nscd/socket", place->text))
		return 0; /* every look-up of a user tries that */
	r = is_first(d, step, escaped);
	if (r <= 0)
		return r;
	if (place->text && is_docker(place->text)) {
		r = tamper_observe(d, step, place, -1);
		if (r < 0)
			return r;
	}
	r = begin(d, step, OBSERVATION_NET_UNIX, &observation);
	if (r < 0)
		return r;
	observation.path =
		place->text ? escape_bytes(place->text, strlen(place->text)) : strdup(escaped);
	return finish(d, step, &observation, observation.path ? 0 : -ENOMEM);
}

/* 1 when a local socket was connected or sent to: that is no flow. */
int decode_unix(struct decoder *d, const struct step *step)
{
	const struct event_field *field = sockaddr_of(step->event);
	_cleanup_(place) struct place place = {0};
	_cleanup_free_ char *escaped = NULL;
	size_t len;
	int r;

	if (!is_unix(field))
		return 0;
	len = field->len - sizeof(sa_family_t);
	if (len && field->data[sizeof(sa_family_t)]) /* of the file tree, not abstract */
		len = strnlen((const char *)field->data + sizeof(sa_family_t), len);
	escaped = escape_bytes(field->data + sizeof(sa_family_t), len);
	if (!escaped)
		return -ENOMEM;
	if (!escaped[0])
		return 1;
	r = unix_place(d, step, field, &place);
	if (r == 0)
		r = unix_observe(d, step, escaped, &place);
	return r < 0 ? r : 1;
}

static int listen_observe(struct decoder *d, const struct step *step, const struct endpoint *at,
			  bool udp)
{
	char text[ENDPOINT_TEXT_SIZE], address[INET6_ADDRSTRLEN], what[ENDPOINT_TEXT_SIZE + 16];
	struct observation observation;
	int r;

	endpoint_text(at, text);
	endpoint_address(at, address);
	snprintf(what, sizeof(what), "listen %d %u", udp, at->port);
	r = is_first(d, step, what);
	if (r <= 0)
		return r;
	r = begin(d, step, OBSERVATION_NET_LISTEN, &observation);
	if (r < 0)
		return r;
	observation.port = at->port;
	observation.proto = strdup(udp ? "udp" : "tcp");
	observation.dest = strdup(address);
	observation.orig_dest = strdup(text);
	if (!observation.proto || !observation.dest || !observation.orig_dest)
		r = -ENOMEM;
	return finish(d, step, &observation, r);
}

/* A bound local socket is a new file. */
static int bind_unix(struct decoder *d, const struct step *step, const struct event_field *field)
{
	_cleanup_(place) struct place place = {0};
	int r = unix_place(d, step, field, &place);

	return r < 0 || !place.text ? r
				    : file_observe(d, step, OBSERVATION_FILE_CREATE, &place, NULL);
}

int decode_bind(struct decoder *d, const struct step *step)
{
	const struct event_field *sock_field = event_field_find(step->event, QP_FIELD_SOCK, 0);
	const struct event_field *named = sockaddr_of(step->event);
	struct qp_sock sock = {0};
	struct endpoint at;

	if (step->info->kind == QP_KIND_BIND && is_unix(named))
		return bind_unix(d, step, named);
	if (step->info->kind == QP_KIND_LISTEN && step->event->call.call != QP_CALL_ID_listen)
		return 0; /* what is accepted was listened for */
	if (sock_field)
		sock = event_sock(sock_field);
	if (step->info->kind == QP_KIND_BIND) {
		/* Port 0 is "any": a client's socket says so too. */
		if (!endpoint_of_sockaddr(named, &at) || !at.port)
			return 0;
	} else if (sock.family != AF_INET && sock.family != AF_INET6) {
		return 0;
	} else {
		endpoint_of_bytes(sock.family, sock.saddr, sock.sport, &at);
	}
	return listen_observe(d, step, &at, sock.protocol == IPPROTO_UDP);
}
