/* SPDX-License-Identifier: GPL-2.0-only */
/* What is compiled in behind this has its memory: the end of what ut_nomem.h began. */
#ifndef UT_NOMEM_END_H
#define UT_NOMEM_END_H

#undef malloc
#undef calloc
#undef realloc
#undef reallocarray
#undef strdup
#undef strndup

#endif /* UT_NOMEM_END_H */
