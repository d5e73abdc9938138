// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How a file is spread over disks, as extended attributes: "ddio.stripe" (bytes of a block), "ddio.layout"
 * (its name) and "ddio.disks" (numbers and ranges).  Files and directories made in a directory inherit
 * its attributes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

static const char *const layouts[] = {
	[DDIO_LAYOUT_CONTIGUOUS_W] = "contiguous",
	[DDIO_LAYOUT_RANDOM_BLOCKS_W] = "random-blocks",
	[DDIO_LAYOUT_RANDOM_TRACKS_W] = "random-tracks",
};

enum { NLAYOUTS = DDIO_LAYOUT_MAX_W, TEXT_MAX = 4096 };

bool ns_stripe_is(const char *name)
{
	return !strcmp(name, "ddio.stripe") || !strcmp(name, "ddio.layout") ||
	       !strcmp(name, "ddio.disks");
}

uint64_t ns_seed(struct ns *ns)
{
	uint64_t seed = 0;

	while (!seed)
		ddio_env_random(ns->env, &seed, sizeof(seed));
	return seed;
}

int ns_stripe_new(struct ns *ns, const struct inode *dir, struct stripe *stripe)
{
	int ret = stripe_copy(stripe, &dir->stripe);

	if (!stripe->block)
		stripe->block = ns->block;
	if (!stripe->ndisks)
		stripe->ndisks = ns->ndisks;
	stripe->seed = ns_seed(ns);
	return ret;
}

/* Formats disks as numbers and ranges. */
static int disks_text(const struct stripe *s, uint32_t ndisks, char **text)
{
	size_t cap = 24ull * (s->disks ? ndisks : 1), len = 0;
	uint32_t i, from, to;

	*text = malloc(cap);
	if (!*text)
		return -ENOMEM;
	if (!s->disks)
		return snprintf(*text, cap, ndisks > 1 ? "0-%u" : "0", ndisks - 1);
	for (i = 0; i < ndisks; i++) {
		from = to = s->disks[i];
		while (i + 1 < ndisks && s->disks[i + 1] == to + 1) {
			to++;
			i++;
		}
		len += (size_t)snprintf(*text + len, cap - len, "%s%u", len ? "," : "", from);
		if (to > from)
			len += (size_t)snprintf(*text + len, cap - len, "-%u", to);
	}
	return (int)len;
}

int ns_stripe_get(struct ns *ns, const struct inode *in, const char *name, char **text)
{
	const struct stripe *s = &in->stripe;
	int len;

	*text = NULL;
	if (!S_ISREG(in->mode) && !S_ISDIR(in->mode))
		return -ENODATA;
	if (!strcmp(name, "ddio.disks")) {
		len = disks_text(s, s->ndisks ? s->ndisks : ns->ndisks, text);
	} else {
		if (!strcmp(name, "ddio.stripe"))
			len = asprintf(text, "%u", s->block ? s->block : ns->block);
		else
			len = asprintf(text, "%s", layouts[s->layout]);
		if (len < 0) {
			*text = NULL;
			len = -ENOMEM;
		}
	}
	if (len > (int)DDIO_FS_XATTR_MAX) {
		free(*text);
		*text = NULL;
		return -E2BIG;
	}
	return len;
}

static int parse_block(const char *text, uint32_t *block)
{
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k') {
		n <<= 10;
		end++;
	} else if (*end == 'M' || *end == 'm') {
		n <<= 20;
		end++;
	}
	if (errno || *end || n < DDIO_MIN_BLOCK || n > DDIO_MAX_BLOCK || n & (n - 1))
		return -EINVAL;
	*block = (uint32_t)n;
	return 0;
}

static int parse_layout(const char *text, uint32_t *layout)
{
	for (*layout = 0; *layout < NLAYOUTS; ++*layout)
		if (!strcmp(text, layouts[*layout]))
			return 0;
	return -EINVAL;
}

static int parse_number(const char **text, uint32_t below, uint32_t *n)
{
	unsigned long value;
	char *end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno || value >= below)
		return -EINVAL;
	*n = (uint32_t)value;
	*text = end;
	return 0;
}

/* @disks and @seen have room for every disk of the cluster; none may be named twice. */
static int parse_disks(const char *text, uint32_t below, uint32_t *disks, bool *seen, uint32_t *n)
{
	uint32_t from, to;

	for (*n = 0;; text++) {
		if (parse_number(&text, below, &from))
			return -EINVAL;
		to = from;
		if (*text == '-') {
			text++;
			if (parse_number(&text, below, &to) || to < from)
				return -EINVAL;
		}
		for (; from <= to; from++) {
			if (seen[from])
				return -EINVAL;
			seen[from] = true;
			disks[(*n)++] = from;
		}
		if (!*text)
			return 0;
		if (*text != ',')
			return -EINVAL;
	}
}

static bool in_order(const uint32_t *disks, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (disks[i] != i)
			return false;
	return true;
}

static int set_disks(struct ns *ns, struct stripe *s, const char *text)
{
	uint32_t *disks = calloc(ns->ndisks, sizeof(*disks)), n = 0;
	bool *seen = calloc(ns->ndisks, sizeof(*seen));
	int ret = disks && seen ? parse_disks(text, ns->ndisks, disks, seen, &n) : -ENOMEM;

	free(seen);
	if (ret) {
		free(disks);
		return ret;
	}
	free(s->disks);
	s->disks = disks;
	s->ndisks = n;
	if (in_order(disks, n)) {
		free(disks);
		s->disks = NULL;
	}
	return 0;
}

/* A file's stripe may change only if it never had data and nobody holds its record. */
static int may_set(struct ns *ns, const struct inode *in)
{
	if (S_ISDIR(in->mode))
		return 0;
	if (!S_ISREG(in->mode))
		return -EPERM;
	return in->flags & INODE_DATA || ns_is_open(ns, in->ino) ? -EBUSY : 0;
}

int ns_stripe_set(struct ns *ns, struct inode *in, const char *name, const char *value, size_t len)
{
	char text[TEXT_MAX];
	int ret = may_set(ns, in);

	if (ret)
		return ret;
	if (!len || len >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, len);
	text[len] = '\0';
	if (strlen(text) != len)
		return -EINVAL;
	if (!strcmp(name, "ddio.stripe"))
		return parse_block(text, &in->stripe.block);
	if (!strcmp(name, "ddio.disks"))
		return set_disks(ns, &in->stripe, text);
	return parse_layout(text, &in->stripe.layout);
}

int ns_stripe_unset(struct inode *in, const char *name)
{
	if (!S_ISDIR(in->mode))
		return -EPERM;
	if (!strcmp(name, "ddio.stripe")) {
		in->stripe.block = 0;
	} else if (!strcmp(name, "ddio.layout")) {
		in->stripe.layout = 0;
	} else {
		free(in->stripe.disks);
		in->stripe.disks = NULL;
		in->stripe.ndisks = 0;
	}
	return 0;
}
