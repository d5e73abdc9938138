// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks whether the parts fit together.  Two nodes on one machine must not share an address or a
 * directory, and two disks of one machine not a file or device.  Nodes with the same host in their
 * address, or with loopback addresses, are taken to be on one machine; of other pairs nothing is
 * known here.
 *
 * Reading a configuration compares paths as texts: it touches none, since a client may well run where a
 * disk's path does not answer.  A daemon resolves those of its machine, too.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "conf/priv.h"

static bool host_is_loopback(const char *host, size_t len)
{
	return (len >= 4 && !strncmp(host, "127.", 4)) ||
	       (len == 5 && !strncmp(host, "[::1]", 5)) ||
	       (len == 9 && !strncasecmp(host, "localhost", 9));
}

static bool same_machine(const struct ddio_conf_node *a, const struct ddio_conf_node *b)
{
	size_t alen = (size_t)(strrchr(a->address, ':') - a->address);
	size_t blen = (size_t)(strrchr(b->address, ':') - b->address);

	if (alen == blen && !strncasecmp(a->address, b->address, alen))
		return true;
	return host_is_loopback(a->address, alen) && host_is_loopback(b->address, blen);
}

static bool port_is_any(const char *address)
{
	return strtoul(strrchr(address, ':') + 1, NULL, 10) == 0;
}

/**
 * struct conf_path - a file or directory that must not be named twice
 * @real: the path without double slashes and dots, and if resolved without links, as far as it exists here
 * @dev, @ino: of the file; of a block device, its number and 0
 */
struct conf_path {
	const char *text;
	char *real;
	bool known;
	dev_t dev;
	ino_t ino;
};

/* Resolves a path; of a file that does not exist yet, its directory. */
static char *real_path(const char *path)
{
	char *real = realpath(path, NULL), *dir, *joined = NULL;
	const char *slash = strrchr(path, '/');
	size_t len;

	if (real)
		return real;
	dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	if (!dir)
		return NULL;
	real = realpath(dir, NULL);
	free(dir);
	if (!real)
		return strdup(path);
	len = strlen(real) + strlen(path) + 2;
	joined = malloc(len);
	if (joined)
		snprintf(joined, len, "%s/%s", strcmp(real, "/") ? real : "",
			 slash ? slash + 1 : path);
	free(real);
	return joined;
}

/* Copies a path without double slashes and single dots. */
static char *plain_path(const char *path)
{
	char *plain = malloc(strlen(path) + 1), *to = plain;

	for (; plain && *path; path++) {
		if (path[0] == '/' && path[1] == '/')
			continue;
		if (path[0] == '/' && path[1] == '.' && (path[2] == '/' || !path[2]))
			path++;
		else
			*to++ = *path;
	}
	if (plain)
		*to = '\0';
	return plain;
}

/* @resolve: looks at the file system; otherwise only at the text. */
static int path_init(struct conf_path *entry, const char *path, bool resolve)
{
	struct stat st;

	entry->text = path;
	entry->real = resolve ? real_path(path) : plain_path(path);
	if (!entry->real)
		return -ENOMEM;
	if (!resolve)
		return 0;
	entry->known = !stat(path, &st) && !S_ISCHR(st.st_mode);
	if (entry->known) {
		entry->dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
		entry->ino = S_ISBLK(st.st_mode) ? 0 : st.st_ino;
	}
	return 0;
}

static bool path_same(const struct conf_path *a, const struct conf_path *b)
{
	return !strcmp(a->real, b->real) ||
	       (a->known && b->known && a->dev == b->dev && a->ino == b->ino);
}

static void paths_free(struct conf_path *paths, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		free(paths[i].real);
	free(paths);
}

static int clash_of_disks(struct conf_parser *parser, const struct ddio_conf *conf,
			  const struct conf_path *paths, uint32_t i)
{
	const struct ddio_conf_disk *disk = &conf->disks[i], *other;
	uint32_t j;

	for (j = 0; paths[i].text && j < i; j++) {
		other = &conf->disks[j];
		if (!paths[j].text ||
		    !same_machine(&conf->nodes[disk->node], &conf->nodes[other->node]))
			continue;
		if (path_same(&paths[i], &paths[j]))
			return conf_fail(parser, -EINVAL, disk->line,
					 "[disk %s] and [disk %s] of line %d are the same "
					 "file or device: %s, %s",
					 disk->name, other->name, other->line, disk->path,
					 other->path);
	}
	return 0;
}

/* Whether paths of @node are resolved: it is on the machine of @here, which may be NULL. */
static bool resolved(const struct ddio_conf_node *here, const struct ddio_conf_node *node)
{
	return here && (here == node || same_machine(here, node));
}

static int check_disk_paths(struct conf_parser *parser, const struct ddio_conf *conf,
			    const struct ddio_conf_node *here)
{
	struct conf_path *paths = calloc(conf->ndisks, sizeof(*paths));
	uint32_t i;
	int ret = paths ? 0 : -ENOMEM;

	for (i = 0; i < conf->ndisks && !ret; i++)
		if (conf->disks[i].path)
			ret = path_init(&paths[i], conf->disks[i].path,
					resolved(here, &conf->nodes[conf->disks[i].node]));
	if (ret)
		conf_fail(parser, ret, 1, "out of memory");
	for (i = 0; i < conf->ndisks && !ret; i++)
		ret = clash_of_disks(parser, conf, paths, i);
	if (paths)
		paths_free(paths, conf->ndisks);
	return ret;
}

static int clash_of_nodes(struct conf_parser *parser, const struct ddio_conf *conf,
			  const struct conf_path *paths, uint32_t i)
{
	const struct ddio_conf_node *node = &conf->nodes[i], *other;
	uint32_t j;

	for (j = 0; j < i; j++) {
		other = &conf->nodes[j];
		if (!port_is_any(node->address) && !strcasecmp(node->address, other->address))
			return conf_fail(parser, -EINVAL, node->line,
					 "[node %s] and [node %s] of line %d have the same "
					 "address %s",
					 node->name, other->name, other->line, node->address);
		if (same_machine(node, other) && path_same(&paths[i], &paths[j]))
			return conf_fail(parser, -EINVAL, node->line,
					 "[node %s] and [node %s] of line %d have the same "
					 "meta directory: %s, %s",
					 node->name, other->name, other->line, node->meta,
					 other->meta);
	}
	return 0;
}

static int check_nodes(struct conf_parser *parser, const struct ddio_conf *conf,
		       const struct ddio_conf_node *here)
{
	struct conf_path *paths = calloc(conf->nnodes, sizeof(*paths));
	uint32_t i;
	int ret = paths ? 0 : -ENOMEM;

	for (i = 0; i < conf->nnodes && !ret; i++)
		ret = path_init(&paths[i], conf->nodes[i].meta, resolved(here, &conf->nodes[i]));
	if (ret)
		conf_fail(parser, ret, 1, "out of memory");
	for (i = 0; i < conf->nnodes && !ret; i++)
		ret = clash_of_nodes(parser, conf, paths, i);
	if (paths)
		paths_free(paths, conf->nnodes);
	return ret;
}

static int check_nodes_have_disks(struct conf_parser *parser, const struct ddio_conf *conf)
{
	bool *has = calloc(conf->nnodes, sizeof(*has));
	uint32_t i;
	int ret = 0;

	if (!has)
		return conf_fail(parser, -ENOMEM, 1, "out of memory");
	for (i = 0; i < conf->ndisks; i++)
		has[conf->disks[i].node] = true;
	for (i = 0; i < conf->nnodes && !ret; i++)
		if (!has[i])
			ret = conf_fail(parser, -EINVAL, conf->nodes[i].line,
					"[node %s] has no disk: no [disk NAME] says node = %s",
					conf->nodes[i].name, conf->nodes[i].name);
	free(has);
	return ret;
}

bool conf_is_reached(const struct ddio_conf *conf)
{
	const char *address;
	uint32_t i;

	for (i = 0; i < conf->nnodes; i++) {
		address = conf->nodes[i].address;
		if (!host_is_loopback(address, (size_t)(strrchr(address, ':') - address)))
			return true;
	}
	return false;
}

int conf_check(struct conf_parser *parser, const struct ddio_conf *conf)
{
	int ret = check_nodes_have_disks(parser, conf);

	if (!ret)
		ret = check_nodes(parser, conf, NULL);
	return ret ? ret : check_disk_paths(parser, conf, NULL);
}

int ddio_conf_check_files(const struct ddio_conf *conf, uint32_t node, char *err, size_t err_len)
{
	struct conf_parser parser = { .name = conf->path, .err = err, .err_len = err_len };
	int ret = check_nodes(&parser, conf, &conf->nodes[node]);

	return ret ? ret : check_disk_paths(&parser, conf, &conf->nodes[node]);
}
