/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Little-endian numbers at any address. */
#ifndef DDIO_BYTES_H
#define DDIO_BYTES_H

#include <stdint.h>

static inline void bytes_put32(uint8_t *p, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> i * 8);
}

static inline uint32_t bytes_get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void bytes_put64(uint8_t *p, uint64_t v)
{
	bytes_put32(p, (uint32_t)v);
	bytes_put32(p + 4, (uint32_t)(v >> 32));
}

static inline uint64_t bytes_get64(const uint8_t *p)
{
	return bytes_get32(p) | (uint64_t)bytes_get32(p + 4) << 32;
}

#endif /* DDIO_BYTES_H */
