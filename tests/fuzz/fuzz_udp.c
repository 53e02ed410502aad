// SPDX-License-Identifier: Apache-2.0
/* Datagrams to any port, QUIC among them: each has its own record, whatever is in it. The first
 * byte says to which port. */
#include "sinkhole/hidden_dns.h"
#include "sinkhole/udp.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint16_t ports[] = {53, 443, 853, 9999};
	static struct record_log log = {.fd = -1};
	static struct resolver resolver;
	const uint8_t address[4] = {203, 0, 113, 7};
	struct udp udp = {.resolver = &resolver};
	struct dns_exchange exchange = {.src = endpoint_make(AF_INET, address, 4000),
					.proto = "udp"};
	uint8_t refusal[DNS_HEADER_SIZE];
	uint32_t version;

	if (log.fd < 0) {
		log.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		resolver = (struct resolver){names_new(), &log, NULL};
	}
	if (!len)
		return 0;
	exchange.dst = endpoint_make(AF_INET, address, ports[data[0] % 4]);
	data++;
	len--;
	log.written = log.dropped = 0;
	udp_record(&udp, &exchange, data, len, len);
	require(log.error == 0 && log.written >= 1);
	/* Of a datagram that was cut when it was logged, nothing is guessed. */
	log.written = 0;
	udp_record(&udp, &exchange, data, len / 2, len + 1);
	require(log.written == 1);
	require(dns_refusal_build(data, len, refusal) <= sizeof(refusal));
	require(!quic_looks_like(data, len, &version) || !dns_looks_like_query(data, len) ||
		version != 1);
	return 0;
}
