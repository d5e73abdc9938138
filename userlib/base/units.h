/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers, sizes and times as text: one grammar for the command line, the mount's options, the
 * configuration and the options of disk engines.
 *
 *	number = digits [ "." digits ] [ "e" [ "+" | "-" ] digits ]  |  "0x" hexadecimal digits
 *	size   = number [ blanks ] [ "B" | K | M | G | T | P ]    powers of 1024; "K", "KB" and "KiB" are
 *	                                                          the same, in either case of letters
 *	time   = number [ blanks ] [ "ms" | "s" | "m" | "min" | "h" | "d" ]   seconds without a unit
 *
 * No sign, no blanks in front.  What is left below the smallest unit is cut off: "1.1K" are 1126 bytes.
 */
#ifndef DDIO_UNITS_H
#define DDIO_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole number, decimal or hexadecimal, without point and exponent.  Return: 0 or -EINVAL. */
int parse_u64(const char *text, uint64_t *number);
/* Reads a size in bytes.  Return: 0 or -EINVAL, also for more than UINT64_MAX. */
int ddio_parse_size(const char *text, uint64_t *bytes);
/* Reads a time in nanoseconds.  Return: 0 or -EINVAL, also for more than UINT64_MAX. */
int parse_time(const char *text, uint64_t *ns);
/* Writes the shortest text that is read as this number of bytes: "64K", "1000". */
void print_size(char *text, size_t len, uint64_t bytes);
/* Writes the same for nanoseconds, in whole milliseconds: "1ms", "30s". */
void print_time(char *text, size_t len, uint64_t ns);

#endif /* DDIO_UNITS_H */
