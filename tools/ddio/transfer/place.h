/* SPDX-License-Identifier: GPL-2.0-only */
/* Where in the cluster a file is to be: it is written beside its place, and takes it when it is whole. */
#ifndef TOOLS_DDIO_PLACE_H
#define TOOLS_DDIO_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <ddio/fs.h>

struct ddio_session;

/**
 * struct place - a name, and what it is written as until then
 * @session: connected
 * @fs: the same cluster, for names
 * @dir: the directory's inode
 * @name: the whole name
 * @last: its last part
 * @temp: the name beside it, @temp_last its last part
 * @there: a file has the name; @mode: its permissions
 */
struct place {
	struct ddio_session *session;
	struct ddio_fs *fs;
	uint64_t dir;
	char name[4096], temp[4096];
	const char *last, *temp_last;
	bool there;
	uint32_t mode;
};

/**
 * place_open - look where a name leads
 * @p: receives the place
 * @command: says what is wrong
 * @session: connected to the cluster of @conf
 * @name: in the cluster; with a slash at its end the directory for @file
 * @file: name of what is put there, in that case
 * @replace: a file that has the name is to be replaced
 *
 * Return: 0, or -errno after a message
 */
int place_open(struct place *p, const char *command, struct ddio_session *session, const char *conf,
	       const char *name, const char *file, bool replace);
/**
 * place_take - give the name to what was written as @temp, and remove what had it
 *
 * It is durable on return.  After an error the name is what it was, and @temp is there still, unless the connection with the name
 * server was lost: then it is the old file's, or the new one's.
 *
 * Return: 0, or -errno after a message
 */
int place_take(struct place *p, const char *command, bool replace);
void place_close(struct place *p);

#endif /* TOOLS_DDIO_PLACE_H */
