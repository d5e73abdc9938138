// SPDX-License-Identifier: GPL-2.0-only
/* The daemon's keys: read at its start, and again when it is asked to, without an end of what is connected. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/iop.h"
#include "keys.h"

int keys_load(const struct ddiod *d, struct ddio_key *key)
{
	char err[1024];
	int ret;

	memset(key, 0, sizeof(*key));
	if (!d->conf->key_file)
		return 0;
	ret = ddio_key_load(d->conf->key_file, ddio_conf_knows_users(d->conf), key, err,
			    sizeof(err));
	if (ret)
		say(d, DDIO_LOG_ERR, "%s", err);
	return ret;
}

int keys_load_servers(const struct ddiod *d, struct ddio_key *key)
{
	char err[1024];
	int ret;

	memset(key, 0, sizeof(*key));
	if (!ddio_conf_knows_users(d->conf))
		return 0;
	ret = ddio_key_load(d->conf->servers_key, false, key, err, sizeof(err));
	if (ret)
		say(d, DDIO_LOG_ERR, "%s", err);
	return ret;
}

/**
 * struct keys_post - new keys on their way to reactor 0
 */
struct keys_post {
	struct ddio_post post;
	const struct ddiod *d;
	struct ddio_key key;
};

static void keys_arrive(void *arg)
{
	struct keys_post *kp = arg;

	/* A node that has ended in the meantime needs none. */
	if (kp->d->iop)
		ddio_iop_set_key(kp->d->iop, &kp->key);
	explicit_bzero(&kp->key, sizeof(kp->key));
	free(kp);
}

static void keys_tell(const struct ddiod *d, const struct ddio_key *key)
{
	char one[DDIO_KEY_NAME], other[DDIO_KEY_NAME];

	if (!ddio_key_name(key, false, one))
		return;
	if (ddio_key_name(key, true, other))
		say(d, DDIO_LOG_INFO, "the key is %s, and %s is accepted as well", one, other);
	else
		say(d, DDIO_LOG_INFO, "the key is %s", one);
}

void keys_reload(struct ddiod *d)
{
	struct keys_post *kp;

	if (!d->conf->key_file)
		return;
	kp = calloc(1, sizeof(*kp));
	if (!kp || keys_load(d, &kp->key)) {
		say(d, DDIO_LOG_ERR, "the keys stay as they were");
		free(kp);
		return;
	}
	keys_tell(d, &kp->key);
	kp->d = d;
	kp->post.fn = keys_arrive;
	kp->post.arg = kp;
	ddio_env_post(d->envs[0], &kp->post);
}
