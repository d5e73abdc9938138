// SPDX-License-Identifier: LGPL-2.1-or-later
/* Strided copies, with loops of their own for the common sizes of elements. */
#include <stdbool.h>
#include <string.h>
#include "map/copy.h"

/* An inner level of fewer pieces is swapped with a longer one outside it. */
#define SHORT_ROW 8

/*
 * memcpy() moves what is long by the processor's string moves.  Some processors take three times as long for these where the
 * destination lies less than 32 bytes after the source within a page, as memory from malloc() does when a block that begins a page is
 * copied to it: 16 bytes.  Moves of COPY_STEP bytes, which go by registers, do not.
 */
#define COPY_LONG 2048
#define COPY_PAGE 4096
#define COPY_AFTER 32
#define COPY_STEP 256
#define COPY_LINE 64

static bool is_close_after(const char *dst, const char *src)
{
	uintptr_t after = ((uintptr_t)dst - (uintptr_t)src) % COPY_PAGE;

	return after && after < COPY_AFTER;
}

static void copy_cached(char *dst, const char *src, uint64_t len)
{
	if (len >= COPY_LONG && is_close_after(dst, src))
		for (; len > COPY_STEP; len -= COPY_STEP) {
			memcpy(dst, src, COPY_STEP);
			dst += COPY_STEP;
			src += COPY_STEP;
		}
	memcpy(dst, src, len);
}

#ifdef __x86_64__
#include <immintrin.h>

#define AVX __attribute__((target("avx")))

AVX static void step_past(char *dst, const char *src)
{
	const __m256i *from = (const __m256i *)(const void *)src;
	__m256i *to = (__m256i *)(void *)dst, part[COPY_STEP / sizeof(__m256i)];
	unsigned int i;

	for (i = 0; i < COPY_STEP / sizeof(part[0]); i++)
		part[i] = _mm256_loadu_si256(from + i);
	for (i = 0; i < COPY_STEP / sizeof(part[0]); i++)
		_mm256_stream_si256(to + i, part[i]);
}

/*
 * By stores that go past the caches: what is overwritten is not fetched first, and nothing else has to leave them.  They are seen by
 * other threads from the fence on.  Stores of 32 bytes: with those of 16 some processors are no faster than without.
 */
AVX static void copy_past(char *dst, const char *src, uint64_t len)
{
	uint64_t head = -(uintptr_t)dst % COPY_LINE;

	memcpy(dst, src, head);
	for (len -= head, dst += head, src += head; len >= COPY_STEP; len -= COPY_STEP) {
		step_past(dst, src);
		dst += COPY_STEP;
		src += COPY_STEP;
	}
	memcpy(dst, src, len);
	_mm_sfence();
}

static bool can_go_past(void)
{
	return __builtin_cpu_supports("avx");
}
#else
#define copy_past copy_cached

static bool can_go_past(void)
{
	return false;
}
#endif

static void copy_bytes(char *dst, const char *src, uint64_t len, bool past)
{
	if (past && len >= COPY_LONG && can_go_past())
		copy_past(dst, src, len);
	else
		copy_cached(dst, src, len);
}

/*
 * A loop for pieces of one constant length: the copy becomes one or two moves.
 * Four at a time, because the moves of neighbours do not depend on each other.
 */
#define DEFINE_ROW(size)                                                                         \
	static void row_##size(char *dst, uint64_t ds, const char *src, uint64_t ss, uint64_t n) \
	{                                                                                        \
		for (; n >= 4; n -= 4) {                                                         \
			memcpy(dst, src, size);                                                  \
			memcpy(dst + ds, src + ss, size);                                        \
			memcpy(dst + 2 * ds, src + 2 * ss, size);                                \
			memcpy(dst + 3 * ds, src + 3 * ss, size);                                \
			dst += 4 * ds;                                                           \
			src += 4 * ss;                                                           \
		}                                                                                \
		for (; n; n--) {                                                                 \
			memcpy(dst, src, size);                                                  \
			dst += ds;                                                               \
			src += ss;                                                               \
		}                                                                                \
	}

DEFINE_ROW(1)
DEFINE_ROW(2)
DEFINE_ROW(4)
DEFINE_ROW(8)
DEFINE_ROW(12)
DEFINE_ROW(16)
DEFINE_ROW(24)
DEFINE_ROW(32)

static void row_any(char *dst, uint64_t ds, const char *src, uint64_t ss, uint64_t len, uint64_t n,
		    bool past)
{
	for (; n; n--) {
		copy_bytes(dst, src, len, past);
		dst += ds;
		src += ss;
	}
}

static void row(char *dst, uint64_t ds, const char *src, uint64_t ss, uint64_t len, uint64_t count,
		bool past)
{
	switch (len) {
	case 1:
		row_1(dst, ds, src, ss, count);
		break;
	case 2:
		row_2(dst, ds, src, ss, count);
		break;
	case 4:
		row_4(dst, ds, src, ss, count);
		break;
	case 8:
		row_8(dst, ds, src, ss, count);
		break;
	case 12:
		row_12(dst, ds, src, ss, count);
		break;
	case 16:
		row_16(dst, ds, src, ss, count);
		break;
	case 24:
		row_24(dst, ds, src, ss, count);
		break;
	case 32:
		row_32(dst, ds, src, ss, count);
		break;
	default:
		row_any(dst, ds, src, ss, len, count, past);
	}
}

void copy_row(char *dst, uint64_t ds, const char *src, uint64_t ss, uint64_t len, uint64_t count)
{
	row(dst, ds, src, ss, len, count, false);
}

static void copy_levels(const struct strided_copy *copy, const struct copy_level *level, uint32_t n,
			char *dst, const char *src)
{
	uint64_t i;

	if (n == 1) {
		row(dst, level->dst, src, level->src, copy->len, level->count, copy->past);
		return;
	}
	for (i = 0; i < level->count; i++) {
		copy_levels(copy, level + 1, n - 1, dst, src);
		dst += level->dst;
		src += level->src;
	}
}

void copy_run(const struct strided_copy *copy, void *dst, const void *src)
{
	uint32_t n = copy->nlevels;
	struct strided_copy turned;

	if (!n) {
		copy_bytes(dst, src, copy->len, copy->past);
		return;
	}
	if (n >= 2 && copy->level[n - 1].count < SHORT_ROW &&
	    copy->level[n - 2].count > copy->level[n - 1].count) {
		turned = *copy;
		turned.level[n - 1] = copy->level[n - 2];
		turned.level[n - 2] = copy->level[n - 1];
		copy = &turned;
	}
	copy_levels(copy, copy->level, n, dst, src);
}
