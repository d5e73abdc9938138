/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the modules are built for, 6.1 and
 * later; no other file asks for a version.
 */
#ifndef DDIO_COMPAT_H
#define DDIO_COMPAT_H

#include <linux/version.h>

#endif /* DDIO_COMPAT_H */
