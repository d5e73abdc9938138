// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>
#include "base/crc32c.h"

/* The remainders of the 16 values of half a byte, for the reflected polynomial 0x82f63b78. */
static const uint32_t table[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_portable(uint32_t crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

#ifdef __x86_64__
/* Uses the instruction that every x86 processor has had since 2008. */
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *p,
							       size_t len)
{
	uint64_t word, sum = (uint32_t)~crc;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = __builtin_ia32_crc32di(sum, word);
	}
	for (; len; len--)
		sum = __builtin_ia32_crc32qi((uint32_t)sum, *p++);
	return ~(uint32_t)sum;
}

uint32_t ddio_crc32c(uint32_t crc, const void *buf, size_t len)
{
	if (__builtin_cpu_supports("sse4.2"))
		return crc32c_sse42(crc, buf, len);
	return crc32c_portable(crc, buf, len);
}
#else
uint32_t ddio_crc32c(uint32_t crc, const void *buf, size_t len)
{
	return crc32c_portable(crc, buf, len);
}
#endif
