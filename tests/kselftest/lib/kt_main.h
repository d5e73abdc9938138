/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last line of a test that uses the kernel's harness: its main(), which makes the
 * devices by the test's own kt_prepare() before the harness begins.
 */
#ifndef KT_MAIN_H
#define KT_MAIN_H

#include <stdio.h>

#include "lib/kt.h"

/* Emulated machines are slow and debugging kernels slower; the runner has the real limit. */
#define KT_TEST(fixture, name) TEST_F_TIMEOUT(fixture, name, 900)

#ifdef KT_MAIN
static void kt_prepare(void);

#define main kt_harness_main
TEST_HARNESS_MAIN
#undef main

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	kt_begin();
	kt_prepare();
	return kt_harness_main(argc, argv);
}
#endif

#endif /* KT_MAIN_H */
