// SPDX-License-Identifier: GPL-2.0-only
/* A test program's begin: what it cannot do without, or a reason to skip. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/kt.h"

#define KT_EXIT_SKIP 4

void kt_skip_all(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("TAP version 13\n1..0 # SKIP ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	exit(KT_EXIT_SKIP);
}

uint64_t kt_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t kt_seed(void)
{
	uint64_t seed = kt_env("DDIO_SEED", 1);

	printf("# DDIO_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

static void kt_mounted(const char *type, const char *path, const char *probe)
{
	if (access(probe, F_OK) && mount(type, path, type, 0, NULL) && errno != EBUSY)
		printf("# no %s: %s\n", type, strerror(errno));
}

int kt_modprobe(const char *module, const char *parameters)
{
	char command[256];
	int status;

	snprintf(command, sizeof(command), "modprobe -q %s %s >/dev/null 2>&1", module, parameters);
	status = system(command);
	if (status == -1)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENODEV;
}

static void kt_killed(int signal)
{
	kt_devs_free();
	_exit(128 + signal);
}

void kt_begin(void)
{
	static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = kt_killed };
	size_t i;

	if (geteuid())
		kt_skip_all("only root may make devices");
	kt_mounted("debugfs", "/sys/kernel/debug", "/sys/kernel/debug/block");
	kt_modprobe("configfs", "");
	kt_mounted("configfs", "/sys/kernel/config", "/sys/kernel/config/nullb");
	if (access("/dev/ddio", F_OK))
		kt_modprobe("ddio", "");
	if (access("/dev/ddio", F_OK))
		kt_skip_all("no /dev/ddio here");
	kt_devs_begin();
	atexit(kt_devs_free);
	for (i = 0; i < KT_ARRAY_SIZE(deadly); i++)
		sigaction(deadly[i], &action, NULL);
}
