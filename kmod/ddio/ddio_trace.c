// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints' code. */
#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#endif
#include "ddio_trace.h"
