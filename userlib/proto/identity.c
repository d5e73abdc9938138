// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codec of what identifies disks. */
#include <errno.h>
#include <stdlib.h>
#include "proto/codec.h"

enum { DISK_ID_LEN = 60 + DDIO_MAC_LEN };

static void code_disk_id(struct ddio_coder *c, struct ddio_disk_id *id)
{
	uint32_t i;

	code_u32(c, &id->disk);
	code_flags(c, &id->flags, DDIO_DISK_FLAGS);
	code_bytes(c, id->uuid, sizeof(id->uuid));
	code_u64(c, &id->life);
	code_u32(c, &id->n);
	code_check(c, id->n <= DDIO_LIVES, -EINVAL);
	for (i = 0; i < id->n && coder_ok(c); i++)
		code_u64(c, &id->before[i]);
	code_u64(c, &id->names);
	code_u64(c, &id->change);
	code_u64(c, &id->lost);
	code_bytes(c, id->seal, sizeof(id->seal));
}

void code_disk_ids(struct ddio_coder *c, struct ddio_msg_disk_ids *x)
{
	uint32_t i;

	code_flags(c, &x->flags, DDIO_DISKS_NAMES);
	code_u32(c, &x->n);
	code_u64(c, &x->names);
	code_u64(c, &x->change);
	code_check(c, x->n <= DDIO_MAX_DISKS, -EMSGSIZE);
	if (c->reading)
		x->ids = code_alloc(c, x->n, sizeof(*x->ids), DISK_ID_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++)
		code_disk_id(c, &x->ids[i]);
}
CODEC_OWNING(disk_ids, ddio_msg_disk_ids, ddio_msg_disk_ids_free)

void ddio_msg_disk_ids_free(struct ddio_msg_disk_ids *x)
{
	free(x->ids);
	x->ids = NULL;
	x->n = 0;
}
