// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <ddio/ddio.h>
#include "tools/common/cmd.h"
#include "place.h"

/**
 * struct name_question - a request about names that is waited for
 */
struct name_question {
	sem_t done;
	int err;
	char text[512];
	struct ddio_fs_attr attr;
};

static void answered(void *arg, const struct ddio_fs_reply *reply)
{
	struct name_question *q = arg;

	q->err = reply->err;
	snprintf(q->text, sizeof(q->text), "%s", reply->text ? reply->text : strerror(-reply->err));
	if (!reply->err && reply->attr)
		q->attr = *reply->attr;
	sem_post(&q->done);
}

/* Makes the request @call, whose last arguments are answered and q.  Return: 0 or -errno. */
#define ASK(q, call)                         \
	({                                   \
		sem_init(&(q)->done, 0, 0);  \
		call;                        \
		while (sem_wait(&(q)->done)) \
			continue;            \
		sem_destroy(&(q)->done);     \
		(q)->err;                    \
	})

static int look_up(struct place *p, const char *name, struct name_question *q)
{
	return ASK(q, ddio_fs_lookup(p->fs, p->dir, name, answered, q));
}

/* Steps into the directories of the name, all but its last part. */
static int walk(struct place *p, const char *command)
{
	char part[DDIO_FS_NAME_MAX + 1], *at = p->name, *slash;
	struct name_question q;
	int n;

	for (; (slash = strchr(at, '/')); at = slash + 1) {
		n = snprintf(part, sizeof(part), "%.*s", (int)(slash - at), at);
		if (!n)
			continue;
		if (n >= (int)sizeof(part))
			return cmd_fail(command, -ENAMETOOLONG, "%s", p->name), -ENAMETOOLONG;
		if (look_up(p, part, &q))
			return cmd_fail(command, 0, "%s: %s", p->name, q.text), q.err;
		if (!S_ISDIR(q.attr.mode))
			return cmd_fail(command, -ENOTDIR, "%.*s", (int)(slash - p->name), p->name),
			       -ENOTDIR;
		p->dir = q.attr.ino;
	}
	p->last = at;
	return 0;
}

static int look(struct place *p, const char *command, bool replace)
{
	struct name_question q;
	int err = look_up(p, p->last, &q);

	if (err == -ENOENT)
		return 0;
	if (err) {
		cmd_fail(command, 0, "%s: %s", p->name, q.text);
	} else if (S_ISDIR(q.attr.mode)) {
		err = -EISDIR;
		cmd_fail(command, 0, "%s is a directory: with a slash at its end it takes the file",
			 p->name);
	} else if (!replace) {
		err = -EEXIST;
		cmd_fail(command, 0, "%s exists: --force replaces it", p->name);
	}
	/* Every link has all permissions: they are none of a file's. */
	p->there = !err && S_ISREG(q.attr.mode);
	/* No permissions would mean the usual ones, which let everybody read it. */
	p->mode = q.attr.mode & 0777 ? q.attr.mode & 0777 : 0400;
	return err;
}

static int temp_name(struct place *p, const char *command)
{
	const int dir = (int)(p->last - p->name);
	uint64_t number;
	int err = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		err = -EIO;
	else if (snprintf(p->temp, sizeof(p->temp), "%.*s.ddio-%016" PRIx64, dir, p->name,
			  number) >= (int)sizeof(p->temp))
		err = -ENAMETOOLONG;
	p->temp_last = p->temp + dir;
	return err ? cmd_fail(command, err, "%s", p->name), err : 0;
}

int place_open(struct place *p, const char *command, struct ddio_session *session, const char *conf,
	       const char *name, const char *file, bool replace)
{
	const struct ddio_fs_opts opts = { .struct_size = sizeof(opts),
					   .conf = conf,
					   .threads = 1 };
	const bool into = name[0] && name[strlen(name) - 1] == '/';
	char why[512];
	int err;

	memset(p, 0, sizeof(*p));
	p->session = session;
	p->dir = DDIO_FS_ROOT;
	if (snprintf(p->name, sizeof(p->name), "%s%s", name, into ? file : "") >=
	    (int)sizeof(p->name))
		return cmd_fail(command, -ENAMETOOLONG, "%s", name), -ENAMETOOLONG;
	err = ddio_fs_open(&opts, &p->fs, why, sizeof(why));
	if (err)
		return cmd_fail(command, 0, "cannot connect: %s", why), err;
	err = walk(p, command);
	if (!err)
		err = look(p, command, replace);
	if (!err)
		err = temp_name(p, command);
	return err;
}

static int change_name(struct place *p, uint32_t flags, struct name_question *q)
{
	return ASK(q, ddio_fs_rename(p->fs, p->dir, p->temp_last, p->dir, p->last, flags, answered,
				     q));
}

/* Without an answer nothing is removed: which of the two has the name will be known later. */
static int names_sync(struct place *p, const char *command)
{
	struct name_question q = { .err = 0 };

	if (!ASK(&q, ddio_fs_sync_names(p->fs, answered, &q)))
		return 0;
	cmd_fail(command, 0, "%s may be the old file again if the name server ends now: %s",
		 p->name, q.text);
	p->temp[0] = '\0';
	return q.err;
}

/* Changes places with the old file, which then has the temporary name. */
static int change_places(struct place *p, const char *command)
{
	struct name_question q;
	int err = change_name(p, RENAME_EXCHANGE, &q);

	if (err == -ENOENT)
		return err;
	if (err)
		return cmd_fail(command, 0, "%s: %s", p->name, q.text), err;
	/* Until the change is durable the old file must keep its data: the name may come back to it. */
	err = names_sync(p, command);
	if (err)
		return err;
	err = ddio_remove(p->session, p->temp);
	if (err)
		cmd_fail_session(command, p->session, err, p->temp);
	return err;
}

static int take_free(struct place *p, const char *command, bool replace)
{
	struct name_question q;
	int err = change_name(p, RENAME_NOREPLACE, &q);

	if (err == -EEXIST && replace)
		return err;
	if (err)
		return cmd_fail(command, 0, "%s: %s", p->name, q.text), err;
	return names_sync(p, command);
}

int place_take(struct place *p, const char *command, bool replace)
{
	int err, tries;

	/* Others may make and remove the name at the same time. */
	for (tries = 0; tries < 100; tries++) {
		err = take_free(p, command, replace);
		if (err != -EEXIST || !replace)
			return err;
		err = change_places(p, command);
		if (err != -ENOENT)
			return err;
	}
	return cmd_fail(command, err, "%s", p->name), err;
}

void place_close(struct place *p)
{
	if (p->fs)
		ddio_fs_close(p->fs);
	p->fs = NULL;
}
