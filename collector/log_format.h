/* SPDX-License-Identifier: Apache-2.0 */
/* What writer and reader of the evidence log share: docs/evidence-log.md in numbers. */
#ifndef QP_COLLECTOR_LOG_FORMAT_H
#define QP_COLLECTOR_LOG_FORMAT_H

#include "collector/log.h"

#include <errno.h>
#include <openssl/evp.h>

#define LOG_MAGIC	      "QPLOG\r\n\x1a"
#define LOG_MAGIC_BYTES	      8
#define LOG_VERSION	      1U
#define LOG_HEAD_BYTES	      (LOG_MAGIC_BYTES + 4)
#define LOG_RECORD_HEAD_BYTES 8

/* zlib's window bits for one gzip member and nothing else. */
#define LOG_ZLIB_GZIP_BITS (15 + 16)

static inline void put_le16(unsigned char *p, uint16_t value)
{
	p[0] = (unsigned char)value;
	p[1] = (unsigned char)(value >> 8);
}

static inline void put_le32(unsigned char *p, uint32_t value)
{
	put_le16(p, (uint16_t)value);
	put_le16(p + 2, (uint16_t)(value >> 16));
}

static inline uint16_t get_le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get_le32(const unsigned char *p)
{
	return get_le16(p) | (uint32_t)get_le16(p + 2) << 16;
}

/* Ends the digest and spells it in lowercase hex. 0 or -ENOMEM. */
static inline int sha256_finish_hex(EVP_MD_CTX *sha256, char ret_hex[static SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	if (EVP_DigestFinal_ex(sha256, digest, &len) != 1 || len * 2 + 1 != SHA256_HEX_SIZE)
		return -ENOMEM;
	for (unsigned int i = 0; i < len; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * len] = '\0';
	return 0;
}

#endif
