// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include "base/bytes.h"
#include "cp/coll/tally.h"

static void sum(struct coll_tally *tally, const struct coll_tally *x)
{
	tally->needed += x->needed;
	tally->read += x->read;
	tally->written += x->written;
	tally->requests += x->requests;
	if (x->buffers > tally->buffers)
		tally->buffers = x->buffers;
}

void tally_add(struct coll_tally *tally, const struct ddio_msg_coll_done *done)
{
	sum(tally, &(struct coll_tally){ .needed = done->bytes_needed,
					 .read = done->disk_read,
					 .written = done->disk_written,
					 .requests = done->disk_requests,
					 .buffers = done->buffers });
}

void tally_put(const struct coll_tally *tally, uint8_t buf[TALLY_LEN])
{
	bytes_put64(buf, tally->needed);
	bytes_put64(buf + 8, tally->read);
	bytes_put64(buf + 16, tally->written);
	bytes_put64(buf + 24, tally->requests);
	bytes_put64(buf + 32, tally->buffers);
}

void tally_get(struct coll_tally *tally, const uint8_t buf[TALLY_LEN])
{
	tally->needed = bytes_get64(buf);
	tally->read = bytes_get64(buf + 8);
	tally->written = bytes_get64(buf + 16);
	tally->requests = bytes_get64(buf + 24);
	tally->buffers = bytes_get64(buf + 32);
}

bool tally_any(const struct coll_tally *tally)
{
	return tally->needed || tally->read || tally->written || tally->requests || tally->buffers;
}

bool tally_sum(struct coll_tally *tally, const void *gathered, size_t len)
{
	const uint8_t *at = gathered;
	struct coll_tally one;

	*tally = (struct coll_tally){ 0 };
	if (len % TALLY_LEN)
		return false;
	for (; len; len -= TALLY_LEN, at += TALLY_LEN) {
		tally_get(&one, at);
		sum(tally, &one);
	}
	return true;
}

void *tally_join(struct ddio_group *group, const void *gathered, size_t len, size_t *joined)
{
	struct coll_tally all;
	uint8_t *buf;

	(void)group;
	if (len <= TALLY_LEN || !tally_sum(&all, gathered, len))
		return NULL;
	buf = malloc(TALLY_LEN);
	if (!buf)
		return NULL;
	tally_put(&all, buf);
	*joined = TALLY_LEN;
	return buf;
}

void tally_report(const struct coll_tally *tally, struct ddio_report *report)
{
	report->bytes_needed = tally->needed;
	report->disk_read = tally->read;
	report->disk_written = tally->written;
	report->disk_requests = tally->requests;
	report->buffers = (uint32_t)tally->buffers;
}
