/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of files that were removed lately.  What a client sent before it died, was cut off or was stopped may come when the
 * file is gone, and would make an object again that belongs to no file, and that nobody dares to remove.  A number is never
 * given to another file, so nothing is refused to one that lives.  It is remembered for a while only, since a name space that
 * was put back from a backup may have names of files that were removed since.
 */
#ifndef DDIO_GONE_H
#define DDIO_GONE_H

#include <stdbool.h>
#include <stdint.h>

/* So many are remembered, for so long. */
#define GONE_MOST 8192
#define GONE_NS (3600 * 1000000000ull)

struct gones;

/* Notes that a file is gone, at the time @now; *@gones NULL: none is yet.  Without memory it is not remembered. */
void gones_add(struct gones **gones, uint64_t id, uint64_t now);
/* Returns true if the file was noted lately. */
bool gones_has(const struct gones *gones, uint64_t id, uint64_t now);
void gones_free(struct gones *gones);

#endif /* DDIO_GONE_H */
