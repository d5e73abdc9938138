// SPDX-License-Identifier: LGPL-2.1-or-later
/* The configuration's entrance: reads a file or memory into a checked struct ddio_conf. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/priv.h"

enum { MOUNT_BLOCK = 32768 };

static void node_fini(struct ddio_conf_node *node)
{
	free(node->name);
	free(node->address);
	free(node->meta);
}

static void disk_fini(struct ddio_conf_disk *disk)
{
	free(disk->name);
	free(disk->engine);
	free(disk->path);
	free(disk->options);
	free(disk->bus);
}

void ddio_conf_free(struct ddio_conf *conf)
{
	uint32_t i;

	if (!conf)
		return;
	for (i = 0; i < conf->nnodes; i++)
		node_fini(&conf->nodes[i]);
	for (i = 0; i < conf->ndisks; i++)
		disk_fini(&conf->disks[i]);
	free(conf->nodes);
	free(conf->disks);
	free(conf->path);
	free(conf->cluster);
	free(conf->key_file);
	free(conf->servers_key);
	free(conf->no_root_squash);
	free(conf);
}

/* Frees a section with the strings that have not moved to the result. */
static void section_free(struct conf_section *section)
{
	switch (section->kind) {
	case CONF_CLUSTER:
		free(section->cluster.conf.cluster);
		free(section->cluster.conf.key_file);
		free(section->cluster.conf.servers_key);
		free(section->cluster.conf.no_root_squash);
		free(section->cluster.ns_node);
		break;
	case CONF_NODE:
		node_fini(&section->node);
		break;
	default:
		disk_fini(&section->disk.disk);
		free(section->disk.node);
	}
	free(section->name);
	free(section);
}

static void parser_fini(struct conf_parser *parser)
{
	size_t i;

	for (i = 0; i < parser->nsections; i++)
		section_free(parser->sections[i]);
	free(parser->sections);
}

static int check_required(struct conf_parser *parser, const struct conf_section *section)
{
	const struct ddio_opt *options = conf_options[section->kind];
	int i;

	for (i = 0; options[i].name; i++)
		if (options[i].required && !section->lines[i])
			return conf_fail(parser, -EINVAL, section->line, "[%s%s%s] has no '%s'",
					 conf_kind_names[section->kind], *section->name ? " " : "",
					 section->name, options[i].name);
	return 0;
}

/* Counts nodes and disks, and finds what is missing. */
static struct conf_section *survey(struct conf_parser *parser, struct ddio_conf *conf)
{
	struct conf_section *cluster = NULL;
	size_t i;

	for (i = 0; i < parser->nsections; i++) {
		struct conf_section *section = parser->sections[i];

		if (check_required(parser, section))
			return NULL;
		if (section->kind == CONF_CLUSTER)
			cluster = section;
		else if (section->kind == CONF_NODE)
			conf->nnodes++;
		else
			conf->ndisks++;
	}
	if (!cluster)
		conf_fail(parser, -EINVAL, 1, "there is no [cluster]");
	else if (!conf->nnodes)
		conf_fail(parser, -EINVAL, cluster->line, "there is no [node NAME]");
	else if (!conf->ndisks)
		conf_fail(parser, -EINVAL, cluster->line, "there is no [disk NAME]");
	else if (conf->nnodes > CONF_MAX_SECTIONS || conf->ndisks > CONF_MAX_SECTIONS)
		conf_fail(parser, -EINVAL, cluster->line, "more than %u nodes or disks",
			  CONF_MAX_SECTIONS);
	return parser->ret ? NULL : cluster;
}

static void move_cluster(struct conf_section *section, struct ddio_conf *conf)
{
	struct ddio_conf *from = &section->cluster.conf;

	conf->cluster = from->cluster;
	conf->key_file = from->key_file;
	conf->block = from->block;
	conf->mount_block = from->mount_block;
	if (!conf->mount_block)
		conf->mount_block = conf->block < MOUNT_BLOCK ? conf->block : MOUNT_BLOCK;
	conf->timeout_ns = from->timeout_ns;
	conf->checksums = from->checksums;
	conf->scrub_ns = from->scrub_ns;
	conf->scrub_rate = from->scrub_rate;
	conf->wire_checksums = from->wire_checksums;
	conf->share = from->share;
	conf->channels = from->channels;
	conf->broker = from->broker;
	conf->kernel_tls = from->kernel_tls;
	conf->users = from->users;
	conf->servers_key = from->servers_key;
	conf->no_root_squash = from->no_root_squash;
	conf->grant_ns = from->grant_ns;
	from->cluster = NULL;
	from->key_file = NULL;
	from->servers_key = NULL;
	from->no_root_squash = NULL;
}

static void move_node(struct conf_section *section, struct ddio_conf_node *node)
{
	*node = section->node;
	memset(&section->node, 0, sizeof(section->node));
	node->name = section->name;
	node->line = section->line;
	section->name = NULL;
}

static void move_disk(struct conf_section *section, struct ddio_conf_disk *disk)
{
	*disk = section->disk.disk;
	memset(&section->disk.disk, 0, sizeof(section->disk.disk));
	disk->name = section->name;
	disk->line = section->line;
	section->name = NULL;
}

static int disk_node(struct conf_parser *parser, const struct ddio_conf *conf,
		     const struct conf_section *section)
{
	int node = ddio_conf_find_node(conf, section->disk.node);

	if (node < 0)
		conf_fail(parser, -EINVAL, conf_line_of(section, "node"),
			  "bad value '%s' of 'node' in [disk %s]: there is no [node %s]",
			  section->disk.node, section->name, section->disk.node);
	return node;
}

/* Nodes come first, since disks name them and may stand before them. */
static int assemble_nodes(struct conf_parser *parser, struct ddio_conf *conf,
			  const struct conf_section *cluster)
{
	const char *ns_node = cluster->cluster.ns_node;
	uint32_t n = 0;
	size_t i;
	int ns = 0;

	for (i = 0; i < parser->nsections; i++)
		if (parser->sections[i]->kind == CONF_NODE)
			move_node(parser->sections[i], &conf->nodes[n++]);
	if (ns_node)
		ns = ddio_conf_find_node(conf, ns_node);
	if (ns < 0)
		return conf_fail(parser, -EINVAL, conf_line_of(cluster, "namespace"),
				 "bad value '%s' of 'namespace' in [cluster]: there is no "
				 "[node %s]",
				 ns_node, ns_node);
	conf->ns_node = (uint32_t)ns;
	return 0;
}

static int assemble_disks(struct conf_parser *parser, struct ddio_conf *conf)
{
	uint32_t n = 0;
	size_t i;
	int node;

	for (i = 0; i < parser->nsections; i++) {
		if (parser->sections[i]->kind != CONF_DISK)
			continue;
		node = disk_node(parser, conf, parser->sections[i]);
		if (node < 0)
			return node;
		move_disk(parser->sections[i], &conf->disks[n]);
		conf->disks[n++].node = (uint32_t)node;
	}
	return 0;
}

/* A cluster that other machines reach, and that has a key, is closed to strangers unless it is said otherwise. */
static int settle_security(struct conf_parser *parser, struct ddio_conf *conf,
			   const struct conf_section *cluster)
{
	if (!cluster->cluster.secured)
		conf->tls = conf->key_file && conf_is_reached(conf);
	else
		conf->tls = cluster->cluster.security == CONF_SECURITY_TLS;
	if (conf->tls && !conf->key_file)
		return conf_fail(parser, -EINVAL, conf_line_of(cluster, "security"),
				 "security = tls in [cluster] needs a key: give key_file, too");
	return 0;
}

static int check_users(struct conf_parser *parser, const struct ddio_conf *conf,
		       const struct conf_section *cluster)
{
	if (!ddio_conf_knows_users(conf) || conf->servers_key)
		return 0;
	return conf_fail(parser, -EINVAL, conf_line_of(cluster, "users"),
			 "users = munge in [cluster] needs a key that nodes alone have: give "
			 "servers_key, too");
}

static int assemble(struct conf_parser *parser, struct ddio_conf *conf)
{
	struct conf_section *cluster = survey(parser, conf);

	if (!cluster)
		return parser->ret;
	conf->path = strdup(parser->name);
	conf->nodes = calloc(conf->nnodes, sizeof(*conf->nodes));
	conf->disks = calloc(conf->ndisks, sizeof(*conf->disks));
	if (!conf->path || !conf->nodes || !conf->disks)
		return conf_fail(parser, -ENOMEM, 1, "out of memory");
	move_cluster(cluster, conf);
	if (assemble_nodes(parser, conf, cluster) || assemble_disks(parser, conf) ||
	    settle_security(parser, conf, cluster) || check_users(parser, conf, cluster))
		return parser->ret;
	return conf_check(parser, conf);
}

int ddio_conf_parse(const char *name, const char *text, size_t len, struct ddio_conf **result,
		    char *err, size_t err_len)
{
	struct conf_parser parser = { .name = name, .err = err, .err_len = err_len };
	struct ddio_conf *conf = NULL;

	*result = NULL;
	if (err && err_len)
		*err = '\0';
	if (!conf_read(&parser, text, len)) {
		conf = calloc(1, sizeof(*conf));
		if (!conf)
			conf_fail(&parser, -ENOMEM, 1, "out of memory");
		else if (assemble(&parser, conf)) {
			if (!conf->nodes || !conf->disks)
				conf->nnodes = conf->ndisks = 0;
			ddio_conf_free(conf);
			conf = NULL;
		}
	}
	parser_fini(&parser);
	*result = conf;
	return parser.ret;
}

/* Reads all of a file; the caller frees *text. */
static int read_all(int fd, char **text, size_t *len)
{
	size_t cap = 0;
	char *grown;
	ssize_t n;

	*text = NULL;
	*len = 0;
	do {
		if (*len == cap) {
			cap = cap ? cap * 2 : 65536;
			grown = cap > CONF_MAX_TEXT * 2ul ? NULL : realloc(*text, cap);
			if (!grown)
				return cap > CONF_MAX_TEXT * 2ul ? -EFBIG : -ENOMEM;
			*text = grown;
		}
		n = read(fd, *text + *len, cap - *len);
		if (n > 0)
			*len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

int ddio_conf_load(const char *path, struct ddio_conf **conf, char *err, size_t err_len)
{
	char *text = NULL;
	size_t len = 0;
	int fd, ret;

	*conf = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : read_all(fd, &text, &len);
	if (fd >= 0)
		close(fd);
	if (ret) {
		if (err && err_len)
			snprintf(err, err_len, "%s: %s", path, strerror(-ret));
	} else {
		ret = ddio_conf_parse(path, text, len, conf, err, err_len);
	}
	free(text);
	return ret;
}

int ddio_conf_find_node(const struct ddio_conf *conf, const char *name)
{
	uint32_t i;

	for (i = 0; i < conf->nnodes; i++)
		if (!strcmp(conf->nodes[i].name, name))
			return (int)i;
	return -ENOENT;
}

int ddio_conf_set_broker(struct ddio_conf *conf, const char *word)
{
	unsigned int i;

	for (i = 0; conf_brokers[i]; i++)
		if (!strcmp(word, conf_brokers[i])) {
			conf->broker = i;
			return 0;
		}
	return -EINVAL;
}
