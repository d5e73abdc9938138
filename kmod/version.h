/* SPDX-License-Identifier: GPL-2.0-only */
/* Of both modules; the same as in the top Makefile, which names the package after it. */
#ifndef DDIO_MODULE_VERSION
#define DDIO_MODULE_VERSION "0.2.0"
#endif
