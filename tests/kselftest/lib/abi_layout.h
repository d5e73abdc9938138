/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a compiled program relies on, and what must be the same for 32-bit
 * programs.  Compiled for both by the Makefile; the numbers are never to change.
 */
#ifndef KT_ABI_LAYOUT_H
#define KT_ABI_LAYOUT_H

#include <linux/ddio.h>

#define KT_AT(type, member, at) \
	_Static_assert(__builtin_offsetof(struct type, member) == (at), #type "." #member)
#define KT_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define KT_CMD(name, nr) _Static_assert(name == ((0xdd << 8) | (nr)), #name)

KT_SIZE(ddio_info, 48);
KT_AT(ddio_info, out_members_max, 44);
KT_SIZE(ddio_disk_add, 48);
KT_AT(ddio_disk_add, out_bytes, 24);
KT_AT(ddio_disk_add, out_io_max, 40);
KT_SIZE(ddio_buffer_add, 32);
KT_AT(ddio_buffer_add, address, 8);
KT_AT(ddio_buffer_add, out_piece, 28);
KT_SIZE(ddio_ring_setup, 32);
KT_AT(ddio_ring_setup, out_length, 16);
KT_SIZE(ddio_event, 32);
KT_AT(ddio_event, collective, 16);
KT_AT(ddio_event, kind, 28);
KT_SIZE(ddio_slot, 8);
KT_SIZE(ddio_ring, 192);
KT_AT(ddio_ring, head, 64);
KT_AT(ddio_ring, events, 128);
KT_AT(ddio_ring, abi, 144);
KT_SIZE(ddio_destroy, 8);
KT_SIZE(ddio_block, 32);
KT_AT(ddio_block, where, 8);
KT_AT(ddio_block, first_run, 8);
KT_AT(ddio_block, length, 16);
KT_AT(ddio_block, buffer, 24);
KT_AT(ddio_block, nr_runs, 24);
KT_SIZE(ddio_run_level, 16);
KT_SIZE(ddio_run, 72);
KT_AT(ddio_run, level, 24);
KT_SIZE(ddio_submit, 120);
KT_AT(ddio_submit, blocks, 16);
KT_AT(ddio_submit, depth, 48);
KT_AT(ddio_submit, slot_offset, 56);
KT_AT(ddio_submit, joint_fd, 68);
KT_AT(ddio_submit, out_block, 96);
KT_AT(ddio_submit, out_error, 116);
KT_SIZE(ddio_wait, 64);
KT_AT(ddio_wait, deadline, 16);
KT_AT(ddio_wait, out_bytes, 56);
KT_SIZE(ddio_cancel, 16);
KT_SIZE(ddio_kick, 16);
KT_SIZE(ddio_joint_create, 16);
KT_SIZE(ddio_joint_join, 32);
KT_AT(ddio_joint_join, out_fd, 28);
KT_SIZE(ddio_joint_wait, 40);
KT_AT(ddio_joint_wait, out_error, 32);

KT_CMD(DDIO_INFO, 0x40);
KT_CMD(DDIO_DISK_ADD, 0x41);
KT_CMD(DDIO_BUFFER_ADD, 0x42);
KT_CMD(DDIO_RING_SETUP, 0x43);
KT_CMD(DDIO_DESTROY, 0x44);
KT_CMD(DDIO_SUBMIT, 0x45);
KT_CMD(DDIO_WAIT, 0x46);
KT_CMD(DDIO_CANCEL, 0x47);
KT_CMD(DDIO_KICK, 0x48);
KT_CMD(DDIO_JOINT_CREATE, 0x49);
KT_CMD(DDIO_JOINT_JOIN, 0x4a);
KT_CMD(DDIO_JOINT_WAIT, 0x4b);

#endif /* KT_ABI_LAYOUT_H */
