// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Splitting a group.  Colours and keys are gathered at rank 0 and come down as
 * one table, with all addresses, from which every member works out its new
 * group: its rank there, and the addresses that it needs.  The identifier of a
 * new group is a random number, the same for all, and the colour.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/group/fan/fan.h"
#include "cp/group/form/form.h"

enum { ENTRY = 12, SALT = DDIO_GROUP_ID_LEN - 4 };

struct split_entry {
	int32_t color, key;
	uint32_t rank;
};

struct split_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
	int color, key;
	struct form form;
	struct error error;
};

static void split_end(struct split_call *sc)
{
	call_end(&sc->call, &sc->error);
}

static void split_formed(struct form *form)
{
	struct split_call *sc = form->arg;

	sc->error = form->error;
	if (form->group && sc->group->patient_from && sc->turn.number >= sc->group->patient_from)
		form->group->patient_from = 1;
	split_end(sc);
}

static int entry_cmp(const void *a, const void *b)
{
	const struct split_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Selects the members of our colour, in their new order.  Returns their number. */
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

/* Returns the address of a member of the old group.  Rank 0 may not know its own. */
static const char *split_addr(const struct ddio_group *g, const struct ddio_msg_group_table *table,
			      uint32_t rank)
{
	return rank ? table->entry[rank].addr : addrs_find(&g->addrs, 0);
}

/* Collects the addresses that this member, @rank of @n in the new group, needs there. */
static int split_addrs(const struct ddio_group *g, const struct ddio_msg_group_table *table,
		       const struct split_entry *entry, uint32_t rank, uint32_t n,
		       struct addrs *addrs)
{
	uint32_t near[NEAR_MAX], count, i;
	int err = 0;

	if (!rank) {
		for (i = 0; i < n && !err; i++)
			err = addrs_add(addrs, i, split_addr(g, table, entry[i].rank));
		return err;
	}
	count = addrs_near(rank, n, near);
	for (i = 0; i < count && !err; i++)
		err = addrs_add(addrs, near[i], split_addr(g, table, entry[near[i]].rank));
	return err;
}

/* Decodes the addresses, which begin at @len; a group of one has none. */
static int split_table(const struct ddio_group *g, const uint8_t *data, size_t len, size_t all,
		       struct ddio_msg_group_table *table)
{
	int err = 0;

	memset(table, 0, sizeof(*table));
	if (g->size == 1)
		return all == len ? 0 : -EPROTO;
	if (all < len)
		return -EPROTO;
	err = ddio_get_group_table(data + len, all - len, table);
	if (!err && (table->n != g->size || table->size != g->size)) {
		free(table->entry);
		err = -EPROTO;
	}
	return err;
}

static int split_form(struct split_call *sc, const uint8_t *data, size_t len,
		      const struct ddio_msg_group_table *table)
{
	struct ddio_group *g = sc->group;
	uint8_t id[DDIO_GROUP_ID_LEN];
	struct addrs addrs = { 0 };
	struct split_entry *entry;
	uint32_t n, rank = 0;
	int err = 0;

	entry = calloc(g->size, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	n = split_select(sc, data + SALT, len - SALT, entry);
	while (rank < n && entry[rank].rank != g->rank)
		rank++;
	if (rank == n)
		err = -EPROTO;
	else if (n > 1)
		err = split_addrs(g, table, entry, rank, n, &addrs);
	free(entry);
	if (err) {
		addrs_free(&addrs);
		return err;
	}
	memcpy(id, data, SALT);
	bytes_put32(id + SALT, (uint32_t)sc->color);
	sc->form.session = sc->call.session;
	sc->form.done = split_formed;
	sc->form.arg = sc;
	form_begin(&sc->form, id, rank, n, &addrs);
	return 0;
}

static void split_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct split_call *sc = arg;
	size_t fixed = SALT + (size_t)sc->group->size * ENTRY;
	struct ddio_msg_group_table table;
	int err;

	sc->error = *error;
	turn_pass(&sc->turn);
	if (error->status || sc->color < 0) {
		split_end(sc);
		return;
	}
	err = split_table(sc->group, data, fixed, len, &table);
	if (!err) {
		/* May end the call, but has copied what it needs of the table. */
		err = split_form(sc, data, fixed, &table);
		free(table.entry);
	}
	if (err) {
		error_set(&sc->error, err, "split of a group: %s", strerror(-err));
		split_end(sc);
	}
}

/* Makes room for the entries, followed by the addresses.  Returns the length of both, or -errno. */
static ssize_t split_room(const struct ddio_group *g, size_t fixed, uint8_t **table)
{
	if (g->size > 1)
		return addrs_put(&g->addrs, g->id, g->size, fixed, table);
	*table = malloc(fixed);
	return *table ? (ssize_t)fixed : -ENOMEM;
}

static void split_root(void *arg, struct fan *fan)
{
	struct split_call *sc = arg;
	size_t fixed = SALT + (size_t)sc->group->size * ENTRY, at = 0, n, end = SALT;
	struct error error;
	const void *data;
	uint8_t *table;
	uint32_t rank;
	ssize_t len = split_room(sc->group, fixed, &table);

	error_clear(&error);
	if (table)
		ddio_env_random(sc->call.session->env, table, SALT);
	else
		error_set(&error, (int)len, "split of a group: %s", strerror((int)-len));
	while (table && fan_gathered(fan, &at, &rank, &data, &n)) {
		if (n != 8 || end + ENTRY > fixed)
			continue;
		memcpy(table + end, data, 8);
		bytes_put32(table + end + 8, rank);
		end += ENTRY;
	}
	fan_release(fan, &error, table, table ? (size_t)len : 0);
	free(table);
}

static void split_begin(struct turn *turn)
{
	struct split_call *sc = ddio_container_of(turn, struct split_call, turn);
	uint8_t own[8];
	const struct fan_in in = { .kind = FAN_KIND_SPLIT,
				   .gather = own,
				   .gather_len = sizeof(own),
				   .root = split_root,
				   .done = split_agreed,
				   .arg = sc };

	bytes_put32(own, (uint32_t)sc->color);
	bytes_put32(own + 4, (uint32_t)sc->key);
	fan_begin(sc->group, turn->number, STEP_FIRST, &in);
}

static void split_run(struct session_call *call)
{
	struct split_call *sc = ddio_container_of(call, struct split_call, call);

	sc->turn.begin = split_begin;
	turn_take(sc->group, &sc->turn);
}

int ddio_group_split(struct ddio_group *group, int color, int key, struct ddio_group **sub)
{
	struct split_call sc = { .group = group, .color = color < 0 ? -1 : color, .key = key };
	int err;

	if (!group)
		return -EINVAL;
	if (!sub)
		return session_fail(group->session, -EINVAL, "ddio_group_split: sub is NULL");
	*sub = NULL;
	err = call_run(group->session, &sc.call, split_run);
	*sub = sc.form.group;
	return err;
}
