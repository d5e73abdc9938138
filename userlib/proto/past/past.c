// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages as what differs from earlier ones.  The first number says from which: FORGET and WHOLE: from none, and the message
 * follows; else the entry.  Then come steps: bytes to copy, to leave out, and to insert, and the latter; what is left of the
 * entry is copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "proto/codec.h"
#include "proto/past/past.h"

/* The first number: forget everything, then as WHOLE; a message from nothing; one from entry 0, ... */
enum { FORGET = 0, WHOLE = 1, ENTRIES = 2 };

/* So many bytes that are equal end a step: their copying is worth its numbers. */
enum { EQUAL_MIN = 4 };

/* A message that differs from an entry by less than one part in so many is its next form, and takes its place. */
enum { NEXT_FORM = 16 };

void ddio_past_clear(struct ddio_past *past)
{
	uint32_t i;

	for (i = 0; i < past->n; i++)
		free(past->entry[i].data);
	free(past->long_one);
	memset(past, 0, sizeof(*past));
}

static void entry_remove(struct ddio_past *past, uint32_t i)
{
	past->bytes -= past->entry[i].len;
	past->n--;
	memmove(&past->entry[i], &past->entry[i + 1], (past->n - i) * sizeof(past->entry[0]));
}

static void entry_first(struct ddio_past *past, struct ddio_past_entry entry)
{
	memmove(&past->entry[1], &past->entry[0], past->n * sizeof(past->entry[0]));
	past->entry[0] = entry;
	past->n++;
	past->bytes += entry.len;
}

static void entry_drop(struct ddio_past *past, uint32_t i)
{
	free(past->entry[i].data);
	entry_remove(past, i);
}

/*
 * Remembers a message, whose bytes become the memory's.  @from: the entry from which it was made, or at least @past->n;
 * @script: the length of what was sent
 */
static void past_note(struct ddio_past *past, struct ddio_past_entry entry, uint32_t from,
		      size_t script)
{
	if (from < past->n && script <= entry.len / NEXT_FORM)
		entry_drop(past, from);
	while (past->n == DDIO_PAST_ENTRIES || past->bytes + entry.len > DDIO_PAST_BYTES)
		entry_drop(past, past->n - 1);
	entry_first(past, entry);
}

/* The entry was sent again as it is. */
static void past_again(struct ddio_past *past, uint32_t i)
{
	struct ddio_past_entry entry = past->entry[i];

	entry_remove(past, i);
	entry_first(past, entry);
}

/*
 * Writing
 */
struct scripting {
	struct ddio_coder c;
	const uint8_t *data;
	size_t copied; /* bytes of the entry that are dealt with */
};

static void script_number(struct scripting *s, uint64_t v)
{
	code_number(&s->c, &v);
}

/* Adds the step that replaces bytes [@at, @at + @drop) of the entry by @n bytes of the message, which stand at the same place. */
static void script_step(struct scripting *s, size_t at, size_t drop, size_t n)
{
	script_number(s, at - s->copied);
	script_number(s, drop);
	script_number(s, n);
	ddio_wr_bytes(&s->c.w, s->data + at, n);
	s->copied = at + drop;
}

static size_t equal_from(const uint8_t *a, const uint8_t *b, size_t at, size_t end)
{
	size_t i = at;

	while (i < end && a[i] == b[i])
		i++;
	return i - at;
}

/* Returns how many bytes are equal at the ends of both, at most @most. */
static size_t equal_ends(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, size_t most)
{
	size_t n = 0;

	while (n < most && a[na - n - 1] == b[nb - n - 1])
		n++;
	return n;
}

/* Says how entry @i becomes the message.  Returns the length, or 0: it is too long. */
static size_t script_put(const struct ddio_past *past, uint32_t i, const uint8_t *data, size_t len,
			 uint8_t *buf, size_t cap)
{
	const struct ddio_past_entry *e = &past->entry[i];
	struct scripting s = { .c = coder_writing(buf, cap), .data = data };
	size_t least = e->len < len ? e->len : len, at, end, run, equal;
	ssize_t n;

	script_number(&s, ENTRIES + i);
	at = equal_from(e->data, data, 0, least);
	/* Where both have the same number of bytes before the ends, they are compared one by one. */
	end = least - equal_ends(e->data, e->len, data, len, least - at);
	while (at < end && !s.c.w.over) {
		for (run = 1, equal = 0; at + run + equal < end && equal < EQUAL_MIN;) {
			if (e->data[at + run + equal] == data[at + run + equal]) {
				equal++;
			} else {
				run += equal + 1;
				equal = 0;
			}
		}
		if (at + run + equal == end && e->len != len)
			break;
		script_step(&s, at, run, run);
		at += run;
		at += equal_from(e->data, data, at, end);
	}
	if (e->len != len)
		script_step(&s, at, e->len - least + end - at, len - least + end - at);
	n = ddio_wr_end(&s.c.w);
	return n < 0 || (size_t)n > cap ? 0 : (size_t)n;
}

/* Makes the shortest script; returns the entry, or @past->n: none is shorter than the message. */
static uint32_t script_best(const struct ddio_past *past, const uint8_t *data, size_t len,
			    struct ddio_past_code *code)
{
	uint8_t buf[DDIO_PAST_SCRIPT];
	uint32_t i, best = past->n;
	size_t n;

	code->len = sizeof(buf) < len ? sizeof(buf) + 1 : len + 1;
	for (i = 0; i < past->n; i++) {
		n = script_put(past, i, data, len, buf, sizeof(buf));
		if (!n || n >= code->len)
			continue;
		memcpy(code->bytes, buf, n);
		code->len = n;
		best = i;
	}
	return best;
}

static bool entry_is(const struct ddio_past_entry *entry, const void *data, size_t len)
{
	return entry->len == len && (!len || !memcmp(entry->data, data, len));
}

void ddio_past_put(struct ddio_past *past, const void *data, size_t len,
		   struct ddio_past_code *code)
{
	struct ddio_past_entry entry = { .len = len };
	uint32_t from = script_best(past, data, len, code);

	code->whole = from == past->n;
	if (code->whole) {
		code->bytes[0] = past->n ? WHOLE : FORGET;
		code->len = 1;
	} else if (entry_is(&past->entry[from], data, len)) {
		past_again(past, from);
		return;
	}
	if (len > DDIO_PAST_BYTES)
		return;
	entry.data = malloc(len ? len : 1);
	if (!entry.data) {
		/* What is sent next makes the other end forget, too. */
		ddio_past_clear(past);
		return;
	}
	if (len)
		memcpy(entry.data, data, len);
	past_note(past, entry, from, code->len);
}

/*
 * Reading
 */

/* Takes the steps, twice: without @out only their result's length is computed. */
static size_t script_run(struct ddio_coder *c, const struct ddio_past_entry *e, uint8_t *out)
{
	uint64_t copy, drop, insert;
	size_t at = 0, len = 0;
	const uint8_t *p;

	while (coder_ok(c) && c->r.left) {
		code_number(c, &copy);
		code_number(c, &drop);
		code_number(c, &insert);
		code_check(c, coder_ok(c) && copy <= e->len - at && drop <= e->len - at - copy,
			   -EPROTO);
		p = ddio_rd_room(&c->r, coder_ok(c) ? insert : 0);
		if (!coder_ok(c))
			return 0;
		if (out && copy)
			memcpy(out + len, e->data + at, copy);
		if (out && insert)
			memcpy(out + len + copy, p, insert);
		len += copy + insert;
		at += copy + drop;
	}
	if (out && e->len > at)
		memcpy(out + len, e->data + at, e->len - at);
	return len + e->len - at;
}

/* Makes the message that the steps in @c make of the entry. */
static int past_make(struct ddio_coder c, const struct ddio_past_entry *from,
		     struct ddio_past_entry *entry)
{
	struct ddio_coder again = c;

	entry->len = script_run(&c, from, NULL);
	if (!coder_ok(&c))
		return c.r.err;
	if (entry->len > DDIO_MAX_PAYLOAD)
		return -EMSGSIZE;
	entry->data = malloc(entry->len ? entry->len : 1);
	if (!entry->data)
		return -ENOMEM;
	script_run(&again, from, entry->data);
	return 0;
}

static int past_copy(const struct ddio_coder *c, struct ddio_past_entry *entry)
{
	entry->len = c->r.left;
	entry->data = malloc(entry->len ? entry->len : 1);
	if (!entry->data)
		return -ENOMEM;
	if (entry->len)
		memcpy(entry->data, c->r.p, entry->len);
	return 0;
}

/* Remembers what was read, if it is not too long. */
static void past_keep(struct ddio_past *past, struct ddio_past_entry entry, uint32_t from,
		      size_t script)
{
	if (entry.len > DDIO_PAST_BYTES)
		past->long_one = entry.data;
	else
		past_note(past, entry, from, script);
}

static int past_take(struct ddio_past *past, struct ddio_coder c, uint64_t head, size_t script,
		     struct ddio_past_entry *entry)
{
	uint32_t from = head < ENTRIES ? past->n : (uint32_t)head - ENTRIES;
	int err;

	if (head == FORGET)
		ddio_past_clear(past);
	if (head >= ENTRIES && !c.r.left) {
		past_again(past, from);
		*entry = past->entry[0];
		return 0;
	}
	if (head < ENTRIES && c.r.left > DDIO_PAST_BYTES) {
		entry->data = (uint8_t *)c.r.p;
		entry->len = c.r.left;
		return 0;
	}
	err = head < ENTRIES ? past_copy(&c, entry) : past_make(c, &past->entry[from], entry);
	if (!err)
		past_keep(past, *entry, head < ENTRIES ? past->n : from, script);
	return err;
}

int ddio_past_get(struct ddio_past *past, const void *buf, size_t len, const void **data,
		  size_t *data_len)
{
	struct ddio_coder c = coder_reading(buf, len);
	struct ddio_past_entry entry;
	uint64_t head;
	int err;

	free(past->long_one);
	past->long_one = NULL;
	code_number(&c, &head);
	/* What the other end had sent before it heard of that is made of what was lost. */
	if (past->lost && coder_ok(&c) && head != FORGET)
		return -ENOMEM;
	code_check(&c, coder_ok(&c) && head < ENTRIES + past->n, -EPROTO);
	code_check(&c, head < ENTRIES || len <= DDIO_PAST_SCRIPT, -EPROTO);
	if (!coder_ok(&c))
		return c.r.err;
	err = past_take(past, c, head, len, &entry);
	if (err == -ENOMEM) {
		ddio_past_clear(past);
		past->lost = true;
	}
	if (err)
		return err;
	*data = entry.data;
	*data_len = entry.len;
	return 0;
}
