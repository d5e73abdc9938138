// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codecs of the opening exchange. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "proto/cursor.h"
#include "proto/proto.h"

enum { WELCOME_DISK_LEN = 40, MAX_SECTOR = 1u << 20 };

ssize_t ddio_put_hello(void *buf, size_t cap, const struct ddio_msg_hello *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u16(&w, x->min_version);
	ddio_wr_u16(&w, x->max_version);
	ddio_wr_u32(&w, x->role);
	ddio_wr_u64(&w, x->features);
	ddio_wr_u32(&w, x->reactor);
	ddio_wr_u32(&w, x->rank);
	ddio_wr_bytes(&w, x->nonce, sizeof(x->nonce));
	ddio_wr_bytes(&w, x->group, sizeof(x->group));
	ddio_wr_str(&w, x->cluster, sizeof(x->cluster));
	return ddio_wr_end(&w);
}

int ddio_get_hello(const void *buf, size_t len, struct ddio_msg_hello *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->min_version = ddio_rd_u16(&r);
	x->max_version = ddio_rd_u16(&r);
	x->role = ddio_rd_u32(&r);
	x->features = ddio_rd_u64(&r);
	x->reactor = ddio_rd_u32(&r);
	x->rank = ddio_rd_u32(&r);
	ddio_rd_bytes(&r, x->nonce, sizeof(x->nonce));
	ddio_rd_bytes(&r, x->group, sizeof(x->group));
	ddio_rd_str(&r, x->cluster, sizeof(x->cluster));
	ddio_rd_check(&r, x->min_version && x->min_version <= x->max_version, -EINVAL);
	ddio_rd_check(&r, x->role >= DDIO_ROLE_CLIENT && x->role <= DDIO_ROLE_ADMIN, -EINVAL);
	ddio_rd_check(&r, x->rank < DDIO_MAX_MEMBERS, -EMSGSIZE);
	return ddio_rd_end(&r);
}

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

ssize_t ddio_put_challenge(void *buf, size_t cap, const struct ddio_msg_challenge *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u16(&w, x->version);
	ddio_wr_u16(&w, x->keyed);
	ddio_wr_u32(&w, 0);
	ddio_wr_u64(&w, x->features);
	ddio_wr_bytes(&w, x->nonce, sizeof(x->nonce));
	ddio_wr_bytes(&w, x->proof, sizeof(x->proof));
	return ddio_wr_end(&w);
}

int ddio_get_challenge(const void *buf, size_t len, struct ddio_msg_challenge *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->version = ddio_rd_u16(&r);
	x->keyed = ddio_rd_u16(&r);
	ddio_rd_reserved(&r);
	x->features = ddio_rd_u64(&r);
	ddio_rd_bytes(&r, x->nonce, sizeof(x->nonce));
	ddio_rd_bytes(&r, x->proof, sizeof(x->proof));
	ddio_rd_check(&r, x->version && x->keyed <= 1, -EINVAL);
	return ddio_rd_end(&r);
}

ssize_t ddio_put_proof(void *buf, size_t cap, const struct ddio_msg_proof *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_bytes(&w, x->proof, sizeof(x->proof));
	return ddio_wr_end(&w);
}

int ddio_get_proof(const void *buf, size_t len, struct ddio_msg_proof *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	ddio_rd_bytes(&r, x->proof, sizeof(x->proof));
	return ddio_rd_end(&r);
}

static void put_welcome_disk(struct ddio_wr *w, const struct ddio_welcome_disk *d)
{
	ddio_wr_u32(w, d->disk);
	ddio_wr_u32(w, d->reactor);
	ddio_wr_u32(w, d->sector);
	ddio_wr_u32(w, d->reserved);
	ddio_wr_u64(w, d->size);
	ddio_wr_u64(w, d->peak);
	ddio_wr_u64(w, d->scale_ppm);
}

static void get_welcome_disk(struct ddio_rd *r, struct ddio_welcome_disk *d, uint32_t nreactors)
{
	d->disk = ddio_rd_u32(r);
	d->reactor = ddio_rd_u32(r);
	d->sector = ddio_rd_u32(r);
	d->reserved = ddio_rd_u32(r);
	d->size = ddio_rd_u64(r);
	d->peak = ddio_rd_u64(r);
	d->scale_ppm = ddio_rd_u64(r);
	ddio_rd_check(r, d->reserved == 0, -EPROTO);
	ddio_rd_check(r, d->reactor < nreactors && d->size <= DDIO_MAX_FILE, -EINVAL);
	ddio_rd_check(r, d->sector && d->sector <= MAX_SECTOR && !(d->sector & (d->sector - 1)),
		      -EINVAL);
}

ssize_t ddio_put_welcome(void *buf, size_t cap, const struct ddio_msg_welcome *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);
	uint32_t i;

	ddio_wr_u32(&w, x->node);
	ddio_wr_u32(&w, x->nreactors);
	ddio_wr_u32(&w, x->reactor);
	ddio_wr_u32(&w, x->ndisks);
	ddio_wr_u64(&w, x->boot);
	ddio_wr_str(&w, x->name, sizeof(x->name));
	for (i = 0; i < x->ndisks; i++)
		put_welcome_disk(&w, &x->disks[i]);
	return ddio_wr_end(&w);
}

static void get_welcome_disks(struct ddio_rd *r, struct ddio_msg_welcome *x)
{
	uint32_t i;

	ddio_rd_check(r, x->ndisks <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (!ddio_rd_fits(r, x->ndisks, WELCOME_DISK_LEN) || !x->ndisks)
		return;
	x->disks = calloc(x->ndisks, sizeof(*x->disks));
	if (!x->disks) {
		ddio_rd_fail(r, -ENOMEM);
		return;
	}
	for (i = 0; i < x->ndisks; i++)
		get_welcome_disk(r, &x->disks[i], x->nreactors);
}

int ddio_get_welcome(const void *buf, size_t len, struct ddio_msg_welcome *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	int err;

	memset(x, 0, sizeof(*x));
	x->node = ddio_rd_u32(&r);
	x->nreactors = ddio_rd_u32(&r);
	x->reactor = ddio_rd_u32(&r);
	x->ndisks = ddio_rd_u32(&r);
	x->boot = ddio_rd_u64(&r);
	ddio_rd_str(&r, x->name, sizeof(x->name));
	/* A compute process has no reactors to choose from and says 0 or 1. */
	ddio_rd_check(&r, x->reactor < x->nreactors || (!x->reactor && !x->nreactors), -EINVAL);
	get_welcome_disks(&r, x);
	err = ddio_rd_end(&r);
	if (err)
		ddio_welcome_free(x);
	return err;
}

void ddio_welcome_free(struct ddio_msg_welcome *w)
{
	free(w->disks);
	w->disks = NULL;
	w->ndisks = 0;
}

ssize_t ddio_put_refuse(void *buf, size_t cap, const struct ddio_msg_refuse *x)
{
	struct ddio_wr w = ddio_wr_begin(buf, cap);

	ddio_wr_u32(&w, x->status);
	ddio_wr_str(&w, x->text, sizeof(x->text));
	return ddio_wr_end(&w);
}

/* A later version may refuse with a status that this one does not know. */
int ddio_get_refuse(const void *buf, size_t len, struct ddio_msg_refuse *x)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	x->status = ddio_rd_u32(&r);
	ddio_rd_str(&r, x->text, sizeof(x->text));
	ddio_rd_check(&r, x->status != DDIO_ST_OK, -EINVAL);
	return ddio_rd_end(&r);
}
