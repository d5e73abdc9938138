// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of the opening exchange, of users and of what they may do. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "proto/codec.h"

enum { WELCOME_DISK_LEN = 40, ENDS_LEN = 8, MAX_SECTOR = 1u << 20 };

static inline void code_hello(struct ddio_coder *c, struct ddio_msg_hello *x)
{
	code_u16(c, &x->min_version);
	code_u16(c, &x->max_version);
	code_u32(c, &x->role);
	code_u32(c, &x->options);
	code_u32(c, &x->features);
	code_u32(c, &x->reactor);
	code_u32(c, &x->rank);
	code_bytes(c, x->nonce, sizeof(x->nonce));
	code_bytes(c, x->group, sizeof(x->group));
	code_str(c, x->cluster, sizeof(x->cluster));
	code_check(c, x->min_version && x->min_version <= x->max_version, -EINVAL);
	code_check(c, x->role >= DDIO_ROLE_CLIENT && x->role <= DDIO_ROLE_BROKER, -EINVAL);
	code_check(c, x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
}
CODEC(hello, ddio_msg_hello)

void ddio_hello_session_set(struct ddio_msg_hello *x, uint64_t session, uint64_t number)
{
	const uint64_t v[2] = { htole64(session), htole64(number) };

	memcpy(x->group, v, sizeof(v));
}

void ddio_hello_session_get(const struct ddio_msg_hello *x, uint64_t *session, uint64_t *number)
{
	uint64_t v[2];

	memcpy(v, x->group, sizeof(v));
	*session = le64toh(v[0]);
	*number = le64toh(v[1]);
}

static inline void code_challenge(struct ddio_coder *c, struct ddio_msg_challenge *x)
{
	code_u16(c, &x->version);
	code_u16(c, &x->keyed);
	code_u32(c, &x->options);
	code_u32(c, &x->features);
	code_bytes(c, x->nonce, sizeof(x->nonce));
	code_bytes(c, x->proof, sizeof(x->proof));
	code_check(c, x->version && x->keyed <= 1, -EINVAL);
}
CODEC(challenge, ddio_msg_challenge)

static inline void code_proof(struct ddio_coder *c, struct ddio_msg_proof *x)
{
	code_bytes(c, x->proof, sizeof(x->proof));
}
CODEC(proof, ddio_msg_proof)

static void code_welcome_disk(struct ddio_coder *c, struct ddio_welcome_disk *d, uint32_t nreactors)
{
	code_u32(c, &d->disk);
	code_u32(c, &d->reactor);
	code_u32(c, &d->sector);
	code_reserved(c, &d->reserved);
	code_u64(c, &d->size);
	code_u64(c, &d->peak);
	code_u64(c, &d->scale_ppm);
	code_check(c, d->reactor < nreactors && d->size <= DDIO_MAX_FILE, -EINVAL);
	code_check(c, d->sector && d->sector <= MAX_SECTOR && !(d->sector & (d->sector - 1)),
		   -EINVAL);
}

static void code_ends(struct ddio_coder *c, struct ddio_ends *x)
{
	uint32_t known = x->known, i;

	code_flags(c, &known, 1);
	if (c->reading)
		x->known = known;
	code_u32(c, &x->n);
	code_check(c, x->n <= (x->known ? DDIO_ENDS : 0), -EINVAL);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		code_u64(c, &x->boot[i]);
		code_check(c, x->boot[i], -EINVAL);
	}
}

static void code_all_ends(struct ddio_coder *c, struct ddio_msg_welcome *x)
{
	struct ddio_ends none = { 0 };
	uint32_t i;

	code_ends(c, &x->names_ends);
	if (c->reading)
		x->ends = code_alloc(c, x->ids.n, sizeof(*x->ends), ENDS_LEN);
	for (i = 0; i < x->ids.n && coder_ok(c); i++)
		code_ends(c, x->ends ? &x->ends[i] : &none);
}

static inline void code_welcome(struct ddio_coder *c, struct ddio_msg_welcome *x)
{
	uint32_t i;

	code_u32(c, &x->node);
	code_u32(c, &x->nreactors);
	code_u32(c, &x->reactor);
	code_u32(c, &x->ndisks);
	code_u64(c, &x->boot);
	code_str(c, x->name, sizeof(x->name));
	/* A compute process has no reactors to choose from and says 0 or 1. */
	code_check(c, x->reactor < x->nreactors || (!x->reactor && !x->nreactors), -EINVAL);
	code_check(c, x->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (c->reading)
		x->disks = code_alloc(c, x->ndisks, sizeof(*x->disks), WELCOME_DISK_LEN);
	for (i = 0; i < x->ndisks && coder_ok(c); i++)
		code_welcome_disk(c, &x->disks[i], x->nreactors);
	code_disk_ids(c, &x->ids);
	code_all_ends(c, x);
}
CODEC_OWNING(welcome, ddio_msg_welcome, ddio_welcome_free)

void ddio_ends_add(struct ddio_ends *ends, uint64_t boot)
{
	if (ends->n < DDIO_ENDS)
		ends->n++;
	memmove(ends->boot + 1, ends->boot, (ends->n - 1) * sizeof(*ends->boot));
	ends->boot[0] = boot;
}

bool ddio_ends_has(const struct ddio_ends *ends, uint64_t boot)
{
	uint32_t i;

	for (i = 0; i < ends->n; i++)
		if (ends->boot[i] == boot)
			return true;
	return false;
}

void ddio_welcome_free(struct ddio_msg_welcome *w)
{
	free(w->disks);
	w->disks = NULL;
	w->ndisks = 0;
	free(w->ends);
	w->ends = NULL;
	ddio_msg_disk_ids_free(&w->ids);
}

/* A later version may refuse with a status that this one does not know. */
static inline void code_refuse(struct ddio_coder *c, struct ddio_msg_refuse *x)
{
	code_u32(c, &x->status);
	code_str(c, x->text, sizeof(x->text));
	code_check(c, x->status != DDIO_ST_OK, -EINVAL);
}
CODEC(refuse, ddio_msg_refuse)

static inline void code_user(struct ddio_coder *c, struct ddio_msg_user *x)
{
	code_u32(c, &x->kind);
	code_u32(c, &x->len);
	code_check(c, x->kind == DDIO_USER_MUNGE || x->kind == DDIO_USER_SERVER, -EPROTO);
	code_check(c, x->len && x->len <= DDIO_MAX_CREDENTIAL, -EMSGSIZE);
	code_outside(c, &x->cred, x->len);
}
CODEC(user, ddio_msg_user)

static inline void code_grant(struct ddio_coder *c, struct ddio_msg_grant *x)
{
	code_u64(c, &x->file);
	code_flags(c, &x->rights, DDIO_GRANT_RIGHTS);
	code_u32(c, &x->uid);
	code_u64(c, &x->until_ns);
	code_bytes(c, x->mac, sizeof(x->mac));
	code_check(c, x->file && x->rights, -EINVAL);
}
CODEC(grant, ddio_msg_grant)
