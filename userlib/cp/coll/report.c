// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report of a transfer. */
#include <string.h>
#include "base/probe.h"
#include "cp/coll/op.h"

static uint64_t phase_ns(const struct ddio_op *op, enum phase from, enum phase to)
{
	return op->at[from] && op->at[to] > op->at[from] ? op->at[to] - op->at[from] : 0;
}

/* Sums up the disks' peaks, in bytes per second of real time; 0 if one is unknown. */
static double peak_sum(const struct ddio_op *op)
{
	const struct ddio_file_record *rec = &op->file->rec;
	double sum = 0;
	uint32_t i;

	for (i = 0; i < rec->ndisks; i++) {
		const struct cluster_disk *p = disk_look(op->session, rec->disks[i]);

		if (!p->known || !p->peak || !p->scale_ppm)
			return 0;
		sum += (double)p->peak * 1e6 / (double)p->scale_ppm;
	}
	return sum;
}

static uint32_t nodes_count(const struct ddio_op *op)
{
	struct ddio_session *s = op->session;
	uint64_t mark = ++s->mark;
	uint32_t i, n = 0;

	for (i = 0; i < op->file->rec.ndisks; i++)
		n += node_visit(s, s->conf->disks[op->file->rec.disks[i]].node, mark);
	return n;
}

/* Counts two messages per step with each neighbour in the tree. */
static uint64_t tree_messages(const struct ddio_op *op)
{
	const struct ddio_group *g = op->group;
	uint64_t neighbours = g->rank ? 1 : 0;
	unsigned int k;

	for (k = 0; group_child(g, k) != UINT32_MAX; k++)
		neighbours++;
	return 2 * neighbours * op->steps;
}

uint64_t op_due(const struct ddio_op *op)
{
	return op->writing ? ddio_map_put_size(op->map, op->rank, 0, DDIO_MAX_FILE)
			   : ddio_map_msg_size(op->map, op->rank, 0, DDIO_MAX_FILE);
}

/* Adds up, for the session, which way the bytes went. */
static void moved_add(struct ddio_op *op)
{
	const struct ddio_report *r = &op->report;
	uint64_t near = r->bytes_shared + r->bytes_scattered;

	op->session->moved.shared += r->bytes_shared;
	op->session->moved.scattered += r->bytes_scattered;
	op->session->moved.sent += r->bytes_moved > near ? r->bytes_moved - near : 0;
}

void report_fill(struct ddio_op *op)
{
	struct ddio_report *r = &op->report;
	double peak = peak_sum(op);

	r->method = op->method;
	r->sorted = op->method == DDIO_METHOD_DDS;
	r->bytes_share = op->share;
	r->bytes_moved = op->result.status ? 0 : op_due(op);
	if (r->bytes_moved && !op->writing)
		r->bytes_moved += ddio_map_again_size(op->map, op->rank);
	r->iops = nodes_count(op);
	if (op->m->report)
		op->m->report(op);
	r->messages = op->messages + tree_messages(op);
	r->elapsed_ns = phase_ns(op, PHASE_QUEUED, PHASE_OVER);
	if (op->at[PHASE_MOVING]) {
		r->wait_join_ns = phase_ns(op, PHASE_QUEUED, PHASE_MOVING);
		r->wait_io_ns = phase_ns(op, PHASE_MOVING, PHASE_ENDING);
		r->wait_end_ns = phase_ns(op, PHASE_ENDING, PHASE_OVER);
	}
	moved_add(op);
	DDIO_PROBE(transfer, op->file->rec.name, op->writing, op->result.status, r->bytes_share,
		   r->elapsed_ns, r->wait_io_ns);
	if (peak > 0 && r->elapsed_ns)
		r->peak_share = (uint32_t)((double)(r->disk_read + r->disk_written) * 1e12 /
						   ((double)r->elapsed_ns * peak) +
					   0.5);
}
