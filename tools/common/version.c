// SPDX-License-Identifier: GPL-2.0-only
#include "version.h"

const char tool_version[] = DDIO_VERSION_TEXT;
const char tool_commit[] = DDIO_COMMIT;
