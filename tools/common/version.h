/* SPDX-License-Identifier: GPL-2.0-only */
/* What this build is: the one file that is compiled anew for each commit knows. */
#ifndef TOOLS_VERSION_H
#define TOOLS_VERSION_H

extern const char tool_version[]; /* "0.2.0" */
extern const char tool_commit[];  /* the commit's short name, or "unknown" */

#endif /* TOOLS_VERSION_H */
