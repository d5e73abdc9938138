/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32C (Castagnoli), the checksum of records on disk. */
#ifndef DDIO_CRC32C_H
#define DDIO_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of more bytes; @crc: 0 at first, then the result for the bytes before. */
uint32_t ddio_crc32c(uint32_t crc, const void *buf, size_t len);
/* Returns the same without the processor's instruction, for comparison. */
uint32_t crc32c_portable(uint32_t crc, const void *buf, size_t len);
/* The same with what every processor of that kind has, not with the newest. */
uint32_t crc32c_lanes(uint32_t crc, const void *buf, size_t len);
/* The same without AVX-512, also where there is that. */
uint32_t crc32c_mixed(uint32_t crc, const void *buf, size_t len);
/*
 * Copies, and returns the checksum of what it has stored, also of a source that others change meanwhile.  @past: nobody reads soon what is
 * written, which may go past the caches.
 */
uint32_t ddio_crc32c_copy(uint32_t crc, void *dst, const void *src, size_t len, bool past);
/* Returns the checksum of bytes of which the first part has @first, and the rest, of @len bytes, @second. */
uint32_t ddio_crc32c_join(uint32_t first, uint32_t second, uint64_t len);
/* Returns the same without the processor's multiplication, for comparison. */
uint32_t crc32c_join_portable(uint32_t first, uint32_t second, uint64_t len);

#endif /* DDIO_CRC32C_H */
