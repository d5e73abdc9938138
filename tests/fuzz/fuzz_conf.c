// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a configuration: read or refused with one line, never both nor neither. */
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks the promises of a configuration that was accepted. */
static void look(const struct ddio_conf *conf)
{
	uint32_t i;

	if (!conf->nnodes || !conf->ndisks || conf->ns_node >= conf->nnodes || !conf->cluster)
		abort();
	for (i = 0; i < conf->ndisks; i++)
		if (conf->disks[i].node >= conf->nnodes || !conf->disks[i].name)
			abort();
	for (i = 0; i < conf->nnodes; i++)
		if (!strrchr(conf->nodes[i].address, ':') ||
		    ddio_conf_find_node(conf, conf->nodes[i].name) != (int)i)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ddio_conf *conf;
	char err[300] = "";
	uint64_t bytes;
	char text[64];
	int ret;

	ret = ddio_conf_parse("f", (const char *)data, size, &conf, err, sizeof(err));
	if (!ret != (conf != NULL) || !ret != !*err || strchr(err, '\n'))
		abort();
	if (conf)
		look(conf);
	ddio_conf_free(conf);
	if (size < sizeof(text)) {
		memcpy(text, data, size);
		text[size] = '\0';
		ddio_parse_size(text, &bytes);
		parse_time(text, &bytes);
		parse_u64(text, &bytes);
	}
	return 0;
}
