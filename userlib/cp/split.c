// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Splitting: colours and keys are gathered at rank 0 and come down as one
 * table, from which every member works out its new group.  The identifier of a
 * new group is a random number, the same for all, and the colour.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/bytes.h"
#include "cp/fan.h"
#include "cp/form.h"

enum { ENTRY = 12, SALT = DDIO_GROUP_ID_LEN - 4 };

struct split_entry {
	int32_t color, key;
	uint32_t rank;
};

struct split_call {
	struct ddio_call call;
	struct ddio_group *group;
	struct ddio_turn turn;
	int color, key;
	struct ddio_form form;
	struct ddio_error error;
};

static void split_end(struct split_call *sc)
{
	ddio_call_end(&sc->call, &sc->error);
}

static void split_formed(struct ddio_form *form)
{
	struct split_call *sc = form->arg;

	sc->error = form->error;
	split_end(sc);
}

static int entry_cmp(const void *a, const void *b)
{
	const struct split_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those of our colour, in order.  Return: their number. */
static uint32_t split_select(const struct split_call *sc, const uint8_t *data, size_t len,
			     struct split_entry *entry)
{
	uint32_t n = 0;
	size_t at;

	for (at = 0; at + ENTRY <= len; at += ENTRY) {
		entry[n].color = (int32_t)bytes_get32(data + at);
		entry[n].key = (int32_t)bytes_get32(data + at + 4);
		entry[n].rank = bytes_get32(data + at + 8);
		if (entry[n].color == sc->color && entry[n].rank < sc->group->size)
			n++;
	}
	qsort(entry, n, sizeof(*entry), entry_cmp);
	return n;
}

static int split_form(struct split_call *sc, const uint8_t *data, size_t len)
{
	struct ddio_group *g = sc->group;
	uint8_t id[DDIO_GROUP_ID_LEN];
	char(*addr)[DDIO_MAX_ADDR];
	struct split_entry *entry;
	uint32_t n, i, rank = 0;

	entry = calloc(g->size, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	n = split_select(sc, data + SALT, len - SALT, entry);
	addr = calloc(n, sizeof(*addr));
	if (!addr) {
		free(entry);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		if (entry[i].rank == g->rank)
			rank = i;
		if (g->addr)
			memcpy(addr[i], g->addr[entry[i].rank], sizeof(addr[i]));
	}
	free(entry);
	memcpy(id, data, SALT);
	bytes_put32(id + SALT, (uint32_t)sc->color);
	sc->form.session = sc->call.session;
	sc->form.done = split_formed;
	sc->form.arg = sc;
	ddio_form_begin(&sc->form, id, rank, n, addr);
	return 0;
}

static void split_agreed(void *arg, const struct ddio_error *error, const void *data, size_t len)
{
	struct split_call *sc = arg;
	int err = 0;

	sc->error = *error;
	ddio_turn_pass(sc->group, &sc->turn);
	if (error->status || sc->color < 0) {
		split_end(sc);
		return;
	}
	if (len != SALT + (size_t)sc->group->size * ENTRY)
		err = -EPROTO;
	if (!err)
		err = split_form(sc, data, len);
	if (err) {
		ddio_error_set(&sc->error, err, "split of a group: %s", strerror(-err));
		split_end(sc);
	}
}

static void split_root(void *arg, struct ddio_fan *fan)
{
	struct split_call *sc = arg;
	size_t len = SALT + (size_t)sc->group->size * ENTRY, at = 0, n, end = SALT;
	struct ddio_error error;
	uint8_t *table = malloc(len);
	const void *data;
	uint32_t rank;

	ddio_error_clear(&error);
	if (!table) {
		ddio_error_set(&error, -ENOMEM, "out of memory");
		len = 0;
	} else {
		ddio_env_random(sc->call.session->env, table, SALT);
	}
	while (table && ddio_fan_gathered(fan, &at, &rank, &data, &n)) {
		if (n != 8 || end + ENTRY > len)
			continue;
		memcpy(table + end, data, 8);
		bytes_put32(table + end + 8, rank);
		end += ENTRY;
	}
	ddio_fan_release(fan, &error, table, len);
	free(table);
}

static void split_begin(struct ddio_turn *turn)
{
	struct split_call *sc = ddio_container_of(turn, struct split_call, turn);
	uint8_t own[8];
	const struct ddio_fan_in in = { .kind = DDIO_FAN_SPLIT,
					.gather = own,
					.gather_len = sizeof(own),
					.root = split_root,
					.done = split_agreed,
					.arg = sc };

	bytes_put32(own, (uint32_t)sc->color);
	bytes_put32(own + 4, (uint32_t)sc->key);
	ddio_fan_begin(sc->group, turn->number, DDIO_STEP_FIRST, &in);
}

static void split_run(struct ddio_call *call)
{
	struct split_call *sc = ddio_container_of(call, struct split_call, call);

	sc->turn.begin = split_begin;
	ddio_turn_take(sc->group, &sc->turn);
}

int ddio_group_split(struct ddio_group *group, int color, int key, struct ddio_group **sub)
{
	struct split_call sc = { .group = group, .color = color < 0 ? -1 : color, .key = key };
	int err;

	if (!group)
		return -EINVAL;
	if (!sub)
		return ddio_session_fail(group->session, -EINVAL,
					 "ddio_group_split: no place for the result");
	*sub = NULL;
	err = ddio_call_run(group->session, &sc.call, split_run);
	*sub = sc.form.group;
	return err;
}
