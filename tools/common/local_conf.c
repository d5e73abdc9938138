// SPDX-License-Identifier: GPL-2.0-only
/* Writes the configuration of a local cluster. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/rand.h"
#include "cmd.h"
#include "env/addr.h"
#include "local.h"

enum { TRACK_SECTORS = 72 }; /* of an emulated HP 97560 */

static int local_write_key(const char *dir)
{
	uint8_t key[32];
	char path[4096], hex[2 * sizeof(key) + 2];
	size_t i;
	int fd, err = 0;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	for (i = 0; i < sizeof(key); i++)
		snprintf(hex + 2 * i, 3, "%02x", key[i]);
	hex[2 * sizeof(key)] = '\n';
	snprintf(path, sizeof(path), "%s/key", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, hex, sizeof(hex) - 1) != sizeof(hex) - 1)
		err = -EIO;
	close(fd);
	if (err)
		unlink(path);
	return err;
}

static void local_write_cluster(FILE *f, const struct local_spec *s)
{
	fprintf(f,
		"# A cluster on one machine: %u I/O processors with %u disk%s each.\n"
		"[cluster]\nname = local\nnamespace = io0\n",
		s->iops, s->disks, s->disks == 1 ? "" : "s");
	if (s->key)
		fprintf(f, "key_file = %s/key\n", s->dir);
	if (s->security)
		fprintf(f, "security = %s\n", s->security);
	if (s->block)
		fprintf(f, "block = %llu\n", (unsigned long long)s->block);
	if (s->timeout_ms)
		fprintf(f, "timeout = %ums\n", s->timeout_ms);
}

/* Sparse files and untouched memory cost nothing, so that these may be larger than the machine. */
static uint64_t local_disk_size(const struct local_spec *s)
{
	if (s->disk_size)
		return s->disk_size;
	return !strcmp(s->engine, "aio") ? 8ull << 30 : !strcmp(s->engine, "mem") ? 1ull << 30 : 0;
}

static void local_write_options(FILE *f, const struct local_spec *s, uint32_t number)
{
	bool given = s->options && *s->options;
	uint64_t angle = ddio_rand_mix(s->phases ^ (uint64_t)(number + 1) << 32) % TRACK_SECTORS;

	if (s->phases)
		fprintf(f, "options = %s%sphase=%u\n", given ? s->options : "", given ? "," : "",
			(unsigned int)angle);
	else if (given)
		fprintf(f, "options = %s\n", s->options);
}

static void local_write_disk(FILE *f, const struct local_spec *s, uint32_t node, uint32_t number)
{
	uint64_t size = local_disk_size(s);

	fprintf(f, "\n[disk d%u]\nnode = io%u\nengine = %s\n", number, node, s->engine);
	if (s->files || !strcmp(s->engine, "aio"))
		fprintf(f, "path = %s/d%u.img\n", s->dir, number);
	if (size)
		fprintf(f, "size = %llu\n", (unsigned long long)size);
	local_write_options(f, s, number);
	if (s->shared_bus)
		fprintf(f, "bus = io%u\n", node);
}

static void local_write_node(FILE *f, const struct local_spec *s, uint32_t node, uint16_t port)
{
	uint32_t d;

	fprintf(f, "\n[node io%u]\naddress = 127.0.0.1:%u\nmeta = %s/io%u\n", node, port, s->dir,
		node);
	if (s->cache)
		fprintf(f, "cache = %llu\n", (unsigned long long)s->cache);
	else
		fprintf(f, "cache = paper\n");
	if (s->buffers)
		fprintf(f, "buffers = %u\n", s->buffers);
	if (s->reactors)
		fprintf(f, "reactors = %u\n", s->reactors);
	if (s->fcfs)
		fprintf(f, "cscan = no\n");
	if (s->late_ahead)
		fprintf(f, "late_ahead = yes\n");
	if (s->install)
		fprintf(f, "install = yes\n");
	if (s->no_write_back)
		fprintf(f, "write_back = 0s\n");
	if (s->no_sync)
		fprintf(f, "sync_io = no\n");
	for (d = 0; d < s->disks; d++)
		local_write_disk(f, s, node, node * s->disks + d);
}

void local_print_conf(FILE *f, const struct local_spec *s, const uint16_t *port)
{
	uint32_t i;

	local_write_cluster(f, s);
	for (i = 0; i < s->iops; i++)
		local_write_node(f, s, i, port[i]);
}

static int local_write_conf(const struct local_spec *s, const uint16_t *port)
{
	char path[4096];
	int err, fd;
	FILE *f;

	snprintf(path, sizeof(path), "%s/ddio.conf", s->dir);
	/* Whatever the umask: ddio_conf_find() takes none that a group may write. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		unlink(path);
		return -ENOMEM;
	}
	local_print_conf(f, s, port);
	if (!fclose(f))
		return 0;
	err = -errno;
	unlink(path);
	return err;
}

/* Writes both, or none. */
static int local_write(const struct local_spec *s, const uint16_t *port)
{
	char path[4096];
	int err = s->key ? local_write_key(s->dir) : 0;

	if (err)
		return err;
	err = local_write_conf(s, port);
	if (err && s->key) {
		snprintf(path, sizeof(path), "%s/key", s->dir);
		unlink(path);
	}
	return err;
}

/* Whether a path can stand as a value in the configuration, where a line ends it, and a comment. */
static bool local_is_value(const char *path)
{
	const char *at;

	for (at = path; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f || (*at == ' ' && at[1] == ';'))
			return false;
	return true;
}

int local_configure(const char *command, const struct local_spec *given)
{
	struct local_spec s = *given;
	uint16_t *port = calloc(s.iops ? s.iops : 1, sizeof(*port));
	char *real = NULL;
	int err = port ? 0 : -ENOMEM;

	if (!err && mkdir(s.dir, 0700) && errno != EEXIST)
		err = -errno;
	if (!err) {
		real = realpath(s.dir, NULL);
		if (!real)
			err = -errno;
	}
	if (err) {
		cmd_fail(command, err, "%s", s.dir);
		goto out;
	}
	s.dir = real;
	if (!local_is_value(real)) {
		err = -EINVAL;
		cmd_fail(command, 0, "%s: no configuration can name such a directory", real);
		goto out;
	}
	err = ddio_ports_free(port, s.iops);
	if (!err)
		err = local_write(&s, port);
	if (err == -EEXIST)
		cmd_fail(command, 0, "%s already holds a cluster", s.dir);
	else if (err)
		cmd_fail(command, err, "cannot configure a cluster in %s", s.dir);
out:
	free(real);
	free(port);
	return err;
}
