/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Probes for bpftrace, perf and SystemTap (USDT, provider "ddio"): places that say what happens there to whoever has asked, and
 * that are an empty instruction otherwise.  operating.rst lists them with their arguments, which stay as they are from
 * one release to the next; new ones come behind.
 */
#ifndef DDIO_PROBE_H
#define DDIO_PROBE_H

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
/* Arguments are numbers, pointers and names; they are computed always, so they should be at hand. */
#define DDIO_PROBE(name, ...) STAP_PROBEV(ddio, name, __VA_ARGS__)
#else
#define DDIO_PROBE(name, ...) ((void)0)
#endif

#endif /* DDIO_PROBE_H */
