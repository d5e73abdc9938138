// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions: one of this process for each cluster, until the process ends. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpiio/team/team.h"

struct mpiio_cluster {
	struct ddio_session *session;
	struct mpiio_cluster *next;
	char conf[];
};

static struct mpiio_cluster *clusters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char why[256];

static int cluster_add(const char *conf)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts),
					  .conf = *conf ? conf : NULL };
	struct mpiio_cluster *c = calloc(1, sizeof(*c) + strlen(conf) + 1);
	int ret;

	if (!c)
		return -ENOMEM;
	strcpy(c->conf, conf);
	ret = ddio_connect(&opts, &c->session);
	if (ret) {
		snprintf(why, sizeof(why), "%s", ddio_last_error(NULL));
		free(c);
		return ret;
	}
	c->next = clusters;
	clusters = c;
	return 0;
}

static struct mpiio_cluster *cluster_of(const char *conf)
{
	struct mpiio_cluster *c;

	for (c = clusters; c && strcmp(c->conf, conf); c = c->next)
		;
	return c;
}

int cluster_get(const char *conf, struct mpiio_cluster **cluster)
{
	int ret = 0;

	why[0] = 0;
	pthread_mutex_lock(&lock);
	if (!cluster_of(conf))
		ret = cluster_add(conf);
	*cluster = ret ? NULL : cluster_of(conf);
	pthread_mutex_unlock(&lock);
	return ret;
}

const char *cluster_why(void)
{
	return why;
}

struct ddio_session *cluster_session(struct mpiio_cluster *c)
{
	return c->session;
}
