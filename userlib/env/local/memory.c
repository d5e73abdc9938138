// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include "env/env_ops.h"
#include "env/local/memory.h"

void ddio_memory_use(const struct ddio_env *env, struct ddio_memory_use *use)
{
	*use = (struct ddio_memory_use){ 0 };
	if (env->ops->memory_use)
		env->ops->memory_use(env, use);
}

bool ddio_memory_possible(const struct ddio_stream *stream)
{
	const struct ddio_env_ops *ops = stream->env->ops;

	return ops->memory_possible && ops->memory_possible(stream);
}

int ddio_memory_offer(struct ddio_stream **stream, const char *name,
		      const uint8_t token[MAILBOX_TOKEN])
{
	const struct ddio_env_ops *ops = (*stream)->env->ops;

	return ops->memory_offer ? ops->memory_offer(stream, name, token) : -EOPNOTSUPP;
}

int ddio_memory_take(struct ddio_stream **stream, struct ddio_mailbox *box)
{
	const struct ddio_env_ops *ops = (*stream)->env->ops;

	return ops->memory_take ? ops->memory_take(stream, box) : -EOPNOTSUPP;
}

void ddio_memory_write(struct ddio_stream *stream, uint64_t after)
{
	stream->vt->divert_out(stream, after);
}

void ddio_memory_read(struct ddio_stream *stream)
{
	stream->vt->divert_in(stream);
}
