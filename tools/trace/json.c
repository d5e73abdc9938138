// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace events as Perfetto and chrome://tracing read them: a process for each node, in which are a thread for each reactor
 * (the collective's states) and for each slot (its states, and those of its next block's pieces), asynchronous slices for the
 * requests of each disk and a counter for the place of its arm; and a process for the members, in which are the messages.
 */
#include "cp/file/trace.h"
#include "trace.h"

#define TEXT_MAX 512
/* Numbers of threads: of reactors, of slots, of their pieces. */
enum { TID_REACTOR = 1, TID_DISK = 10000, TID_STRIDE = 130, TID_PIECES = 65 };

/**
 * struct json - the writing of a trace
 * @members: number of the members' process
 */
struct json {
	FILE *out;
	const struct trace_all *t;
	uint32_t members;
	bool some;
};

static const char *quoted(const char *text, char to[TEXT_MAX])
{
	char clean[TEXT_MAX / 2];
	size_t n = 0, i;

	trace_text(text, clean, sizeof(clean));
	for (i = 0; clean[i]; i++) {
		if (clean[i] == '"' || clean[i] == '\\')
			to[n++] = '\\';
		to[n++] = clean[i];
	}
	to[n] = '\0';
	return to;
}

/* Begins an event of the phase @ph: at @at, or without a time. */
static void begin(struct json *j, const char *ph, uint32_t pid, uint64_t tid)
{
	fprintf(j->out, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%llu", j->some ? "," : "", ph, pid,
		(unsigned long long)tid);
	j->some = true;
}

static void stamp(struct json *j, const char *key, uint64_t ns)
{
	fprintf(j->out, ",\"%s\":%llu.%03llu", key, (unsigned long long)(ns / 1000),
		(unsigned long long)(ns % 1000));
}

static void named(struct json *j, const char *what, uint32_t pid, uint64_t tid, const char *name)
{
	char text[TEXT_MAX];

	begin(j, "M", pid, tid);
	fprintf(j->out, ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}", what, quoted(name, text));
}

static uint32_t pid_of(const struct json *j, const struct trace_line *l)
{
	return j->t->part[l->part].node + 1;
}

static uint64_t tid_of(const struct json *j, const struct trace_line *l)
{
	const struct ddio_trace_event *e = &l->e;
	uint64_t disk = TID_DISK + (uint64_t)e->disk * TID_STRIDE;

	switch (e->kind) {
	case DDIO_TRACE_SLOT:
		return disk + e->slot;
	case DDIO_TRACE_ASK:
		return disk + TID_PIECES + e->slot;
	default:
		return TID_REACTOR + j->t->part[l->part].reactor;
	}
}

/* A state lasts until the same thing has another, or to the end. */
static void state(struct json *j, const struct trace_line *l)
{
	const struct ddio_trace_coll *c = &j->t->part[l->part].coll[l->e.coll];

	if (trace_is_nothing(&l->e))
		return;
	begin(j, "X", pid_of(j, l), tid_of(j, l));
	stamp(j, "ts", l->at);
	stamp(j, "dur", (l->next ? l->next->at : j->t->span) - l->at);
	fprintf(j->out, ",\"name\":\"%s\",\"args\":{\"collective\":%llu", trace_state_name(&l->e),
		(unsigned long long)c->op);
	if (l->e.kind != DDIO_TRACE_STATE)
		fprintf(j->out, ",\"block\":%llu", (unsigned long long)l->e.place);
	fprintf(j->out, "}}");
}

/*
 * The request of a slot is one at a time, so its name is the slot's; one that is only known to have ended, since the disk
 * has chosen it from a list, or it went past the slots, is an instant.
 */
static void request(struct json *j, const struct trace_line *l)
{
	const struct ddio_trace_event *e = &l->e;
	bool end = e->kind == DDIO_TRACE_DISK_END;
	bool begun = l->prev && l->prev->e.kind == DDIO_TRACE_DISK;
	const char *disk = ddio_trace_disk_name(j->t->session, e->disk);
	char text[TEXT_MAX];

	begin(j, !end ? "b" : begun ? "e" : "n", pid_of(j, l), 0);
	stamp(j, "ts", l->at);
	fprintf(j->out,
		",\"cat\":\"disk %s\",\"id\":\"%u.%u\",\"name\":\"%s\",\"args\":{\"byte\":%llu,\"len\":%u}}",
		quoted(disk, text), e->disk, e->slot, e->what ? "write" : "read",
		(unsigned long long)e->place, e->len);
	if (!end)
		return;
	begin(j, "C", pid_of(j, l), 0);
	stamp(j, "ts", l->at);
	fprintf(j->out, ",\"name\":\"arm of %s\",\"args\":{\"byte\":%llu}}", text,
		(unsigned long long)(e->place + e->len));
}

static void message(struct json *j, const struct trace_line *l)
{
	const struct ddio_trace_event *e = &l->e;
	bool many = e->what != DDIO_OP_COLL_DATA && e->what != DDIO_OP_COLL_PIECE;
	char text[TEXT_MAX];

	begin(j, "i", j->members, e->rank);
	stamp(j, "ts", l->at);
	fprintf(j->out,
		",\"s\":\"t\",\"cat\":\"message\",\"name\":\"%s %s\",\"args\":{\"%s\":\"%s\",\"%s\":%llu,\"len\":%u,\"way\":\"%s\"}}",
		ddio_opcode_name(e->what), e->kind == DDIO_TRACE_SENT ? "to it" : "from it",
		e->kind == DDIO_TRACE_SENT ? "from" : "to",
		quoted(ddio_trace_node_name(j->t->session, j->t->part[l->part].node), text),
		many ? "blocks" : "block", (unsigned long long)e->place, e->len, trace_way_name(e));
}

static void names(struct json *j)
{
	const struct trace_all *t = j->t;
	char text[TEXT_MAX];
	uint32_t i;

	for (i = 0; i < t->nparts; i++) {
		if (!i || t->part[i].node != t->part[i - 1].node)
			named(j, "process_name", t->part[i].node + 1, 0,
			      ddio_trace_node_name(t->session, t->part[i].node));
		snprintf(text, sizeof(text), "reactor %u", t->part[i].reactor);
		named(j, "thread_name", t->part[i].node + 1, TID_REACTOR + t->part[i].reactor,
		      text);
	}
	named(j, "process_name", j->members, 0, "members");
}

/* A slot gets its name with its first state. */
static void slot_name(struct json *j, const struct trace_line *l, bool pieces)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "disk %s %s %u",
		 ddio_trace_disk_name(j->t->session, l->e.disk), pieces ? "next of slot" : "slot",
		 l->e.slot);
	named(j, "thread_name", pid_of(j, l), tid_of(j, l), text);
}

static void event(struct json *j, const struct trace_line *l)
{
	switch (l->e.kind) {
	case DDIO_TRACE_SLOT:
	case DDIO_TRACE_ASK:
		if (!l->prev)
			slot_name(j, l, l->e.kind == DDIO_TRACE_ASK);
		/* fall through */
	case DDIO_TRACE_STATE:
		state(j, l);
		break;
	case DDIO_TRACE_DISK:
	case DDIO_TRACE_DISK_END:
		request(j, l);
		break;
	case DDIO_TRACE_SENT:
	case DDIO_TRACE_CAME:
		message(j, l);
		break;
	default:
		break;
	}
}

static void collective(FILE *out, const struct trace_all *t, const struct trace_part *p,
		       const struct ddio_trace_coll *c, bool first)
{
	char node[TEXT_MAX], file[TEXT_MAX], job[TEXT_MAX];

	fprintf(out,
		"%s\n{\"node\":\"%s\",\"reactor\":%u,\"number\":%llu,\"file\":\"%s\",\"job\":\"%s\","
		"\"writes\":%s,\"over\":%s,\"status\":%u,\"processes\":%u,\"block\":%u,",
		first ? "" : ",", quoted(ddio_trace_node_name(t->session, p->node), node),
		p->reactor, (unsigned long long)c->op, quoted(c->file, file), quoted(c->job, job),
		c->flags & DDIO_TRACE_WRITE ? "true" : "false",
		c->flags & DDIO_TRACE_ENDED ? "true" : "false", c->status, c->nprocs, c->block);
	fprintf(out,
		"\"bytes\":%llu,\"disk_requests\":%llu,\"disk_read\":%llu,\"disk_written\":%llu,"
		"\"messages\":%llu,\"wait_disk_ns\":%llu,\"wait_members_ns\":%llu}",
		(unsigned long long)c->bytes_needed, (unsigned long long)c->disk_requests,
		(unsigned long long)c->disk_read, (unsigned long long)c->disk_written,
		(unsigned long long)c->messages, (unsigned long long)c->wait_disk_ns,
		(unsigned long long)c->wait_members_ns);
}

static void collectives(FILE *out, const struct trace_all *t)
{
	bool first = true;
	uint32_t i, k;

	for (i = 0; i < t->nparts; i++)
		for (k = 0; k < t->part[i].ncolls; k++)
			if (trace_picked(t, &t->part[i], k)) {
				collective(out, t, &t->part[i], &t->part[i].coll[k], first);
				first = false;
			}
}

void trace_json(FILE *out, const struct trace_all *t)
{
	struct json j = { .out = out, .t = t, .members = ddio_trace_nodes(t->session) + 1 };
	uint32_t i;

	fprintf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	names(&j);
	for (i = 0; i < t->n; i++)
		event(&j, &t->line[i]);
	fprintf(out, "\n],\"otherData\":{\"lost\":%llu,\"collectives\":[",
		(unsigned long long)t->lost);
	collectives(out, t);
	fprintf(out, "\n]}}\n");
}
