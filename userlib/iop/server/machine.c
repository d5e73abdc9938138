// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which run of the machine this is: what was written and not flushed does not outlive it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "iop/server/priv.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

void server_machine_name(const char *given, char name[SERVER_MACHINE_LEN])
{
	ssize_t n;
	int fd;

	if (given) {
		snprintf(name, SERVER_MACHINE_LEN, "%s", given);
		return;
	}
	name[0] = '\0';
	fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, name, SERVER_MACHINE_LEN - 1);
	name[n > 0 ? n : 0] = '\0';
	close(fd);
}
