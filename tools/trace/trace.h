/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces of collectives: I/O processors record what happens to one, a tool asks them for it and writes it down, for
 * Perfetto or as a picture.
 */
#ifndef TOOLS_TRACE_H
#define TOOLS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "proto/proto.h"

struct ddio_session;
struct opt_cmd;

/**
 * struct trace_want - which collectives
 * @job, @file: whose, and of which file; "": of any
 * @first: none of a lower number within its group
 * @most: this many, one after the other, 1 to TRACE_MOST
 */
struct trace_want {
	const char *job, *file;
	uint64_t first;
	uint32_t most;
};
/* Nodes begin to record one after the other, so that some may see collectives that others have missed. */
#define TRACE_AHEAD 4u
#define TRACE_MOST (DDIO_TRACE_COLLS - TRACE_AHEAD)

/**
 * struct trace_part - what one reactor has recorded
 * @skew: to be added to its times, so that they are those of this process's clock; 0 if the clocks may be the same one;
 *	half of @trip, the time of the quickest answer, is the largest error
 */
struct trace_part {
	uint32_t node, reactor;
	int64_t skew;
	uint64_t trip;
	struct ddio_trace_coll *coll;
	uint32_t ncolls;
	struct ddio_trace_event *event;
	uint32_t n;
	uint64_t lost;
};

/**
 * struct trace_line - an event
 * @at: nanoseconds since the first one; @part: whose; @number: among those
 * @prev, @next: of the same thing: of a collective, of a slot, of its next block, or of its requests of the disk
 */
struct trace_line {
	uint64_t at;
	uint32_t part, number;
	struct ddio_trace_event e;
	const struct trace_line *prev, *next;
};

/**
 * struct trace - what all reactors have recorded
 * @session: knows the names of nodes and disks
 * @part: by node, then reactor
 * @line: after trace_pick(): the events, by time; @ncolls: collectives that they are of; @span: the last one's time
 */
struct trace_all {
	struct ddio_session *session;
	struct trace_part *part;
	uint32_t nparts;
	struct trace_line *line;
	uint32_t n, ncolls;
	uint64_t span, lost;
};

/* collect.c: 0, or a negative errno after a message of the command. */
/* Has all nodes record; one that is down records nothing. */
int trace_begin(const char *command, struct ddio_session *s, const struct trace_want *want);
/* Asks for all that was recorded; @heads: for collectives only, without events. */
int trace_fetch(const char *command, struct ddio_session *s, bool heads, struct trace_all *t);
void trace_end(struct ddio_session *s);
void trace_all_free(struct trace_all *t);

/*
 * pick.c
 */
/*
 * Returns true if the collectives that trace_pick() would pick are over: @most of the group of the first event, from the
 * first that all reactors of it have recorded.
 */
bool trace_is_over(const struct trace_all *t, uint32_t most);
/* Picks their events, and sorts them: 0, -ENOENT if there is none, -ENOMEM. */
int trace_pick(struct trace_all *t, uint32_t most);
/* Returns true if the part's collective was picked. */
bool trace_picked(const struct trace_all *t, const struct trace_part *part, uint32_t coll);

/*
 * write.c
 */
/* Writes it, as the name's end says: .svg, .png, else JSON.  Return: 0, or a negative errno after a message. */
int trace_save(const char *command, const char *path, const struct trace_all *t);
/* json.c: trace events as Perfetto and chrome://tracing read them. */
void trace_json(FILE *out, const struct trace_all *t);
/* names.c */
/* Of an event that is a state of a collective, a slot or its next block: its name; whether it is that of nothing to do. */
const char *trace_state_name(const struct ddio_trace_event *e);
/* Of a message: the way of its member's connection. */
const char *trace_way_name(const struct ddio_trace_event *e);
bool trace_is_nothing(const struct ddio_trace_event *e);
/* Copies text of which every byte is fit to print: valid UTF-8 stays, anything else becomes '?'.  Return: @to */
const char *trace_text(const char *from, char *to, size_t size);

/* command.c: ddio trace. */
int cmd_trace(int argc, char **argv);
extern const struct opt_cmd opts_trace;

#endif /* TOOLS_TRACE_H */
