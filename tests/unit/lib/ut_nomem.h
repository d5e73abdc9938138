/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An allocator that fails when it is told to, for what is compiled in behind this: sources whose every
 * allocation is to fail once.
 */
#ifndef UT_NOMEM_H
#define UT_NOMEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Which allocation from now on fails, 1: the next one, 0: none; how many did; how many were asked for. */
static uint64_t nomem_countdown, nomem_failures, nomem_allocs;

/* The allocation that is due fails, and only that. */
static inline bool nomem_due(void)
{
	nomem_allocs++;
	if (!nomem_countdown || --nomem_countdown)
		return false;
	nomem_failures++;
	return true;
}

#define malloc(n) (nomem_due() ? NULL : malloc(n))
#define calloc(n, size) (nomem_due() ? NULL : calloc(n, size))
#define realloc(p, n) (nomem_due() ? NULL : realloc(p, n))
#define reallocarray(p, n, size) (nomem_due() ? NULL : reallocarray(p, n, size))
#define strdup(s) (nomem_due() ? NULL : strdup(s))
#define strndup(s, n) (nomem_due() ? NULL : strndup(s, n))

#endif /* UT_NOMEM_H */
