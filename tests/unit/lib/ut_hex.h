/* SPDX-License-Identifier: GPL-2.0-only */
/* Golden bytes, written in hexadecimal; spaces stand between fields. */
#ifndef DDIO_UT_HEX_H
#define DDIO_UT_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of @hex, allocated with exactly their length. */
uint8_t *ut_hex(const char *hex, size_t *len);

/* Asserts that @len bytes at @got are those of @hex; prints @what and the bytes if they are not. */
void ut_hex_same(const char *what, const void *got, size_t len, const char *hex);

#endif /* DDIO_UT_HEX_H */
