// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codec of a list of requests. */
#include <stdlib.h>
#include "proto/codec.h"

enum { TAG_LEN = 8 };

static inline void code_tags(struct ddio_coder *c, struct ddio_msg_tags *x)
{
	uint32_t i;

	code_u32(c, &x->n);
	code_padding(c);
	code_check(c, x->n <= DDIO_MAX_BATCH, -EMSGSIZE);
	if (c->reading)
		x->tags = code_alloc(c, x->n, sizeof(*x->tags), TAG_LEN);
	for (i = 0; i < x->n && coder_ok(c); i++) {
		code_u64(c, &x->tags[i]);
		code_check(c, !i || x->tags[i - 1] < x->tags[i], -EPROTO);
	}
}
CODEC_OWNING(tags, ddio_msg_tags, ddio_msg_tags_free)

void ddio_msg_tags_free(struct ddio_msg_tags *x)
{
	free(x->tags);
	x->tags = NULL;
	x->n = 0;
}
