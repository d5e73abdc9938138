// SPDX-License-Identifier: GPL-2.0-or-later
/* Users of connections: munge says whose a credential is, and this machine's tables which groups that user has. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "munge/munge.h"
#include "vouch.h"

#define PASSWD_FIRST 16384u
#define PASSWD_MOST (16u << 20)

/* A user of no account here is found, too: without a name. */
static bool no_account(int err)
{
	return err == ENOENT || err == ESRCH || err == EBADF || err == EPERM;
}

/* Return: 0 and *@name, for free(), or NULL if this machine knows no such user; or -errno. */
static int find_name(uid_t uid, char **name)
{
	struct passwd pw, *found = NULL;
	size_t len = PASSWD_FIRST;
	char *buf;
	int err;

	*name = NULL;
	do {
		buf = malloc(len);
		if (!buf)
			return -ENOMEM;
		err = getpwuid_r(uid, &pw, buf, len, &found);
		if (!err && found) {
			*name = strdup(pw.pw_name);
			err = *name ? 0 : ENOMEM;
		}
		free(buf);
		len *= 2;
	} while (err == EINTR || (err == ERANGE && len <= PASSWD_MOST));
	return no_account(err) ? 0 : -err;
}

/* The tables may change between two looks: as often as there are more groups than there was room for. */
static int find_groups(const char *name, struct ddio_who *who)
{
	int n = 64, room;
	gid_t *groups;

	do {
		room = n;
		groups = calloc((size_t)room, sizeof(*groups));
		if (!groups)
			return -ENOMEM;
		if (getgrouplist(name, who->gid, groups, &n) >= 0) {
			who->groups = groups;
			who->ngroups = (uint32_t)n;
			return 0;
		}
		free(groups);
	} while (n > room && (uint32_t)n <= WHO_GROUPS_MAX);
	return n > room ? -E2BIG : -EIO;
}

void munge_vouch(struct ddio_vouch_job *job)
{
	uid_t uid = WHO_NOBODY;
	gid_t gid = WHO_NOBODY;
	char *name;

	job->err = ddio_munge_check(job->cred, job->tie, sizeof(job->tie), &uid, &gid, job->why,
				    sizeof(job->why));
	if (job->err)
		return;
	job->who = (struct ddio_who){ .uid = uid, .gid = gid };
	job->err = find_name(uid, &name);
	if (!job->err && name)
		job->err = find_groups(name, &job->who);
	free(name);
	if (job->err)
		snprintf(job->why, sizeof(job->why), "the groups of user %u cannot be found: %s",
			 (unsigned int)uid, strerror(-job->err));
}
