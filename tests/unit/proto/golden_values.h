/* SPDX-License-Identifier: GPL-2.0-only */
/* One message of each kind, no two fields of it alike: the values behind golden.h's bytes. */
#ifndef DDIO_TEST_GOLDEN_VALUES_H
#define DDIO_TEST_GOLDEN_VALUES_H

#include "proto/proto.h"
#include "proto/query/query.h"

/* Numbers whose bytes all differ. */
#define N16(n) (0x1200u + (n))
#define N32(n) (0x12345600u + (n))
#define N64(n) (0x123456789abcde00ull + (n))
#define BYTES16(n)                                                   \
	{                                                            \
		n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 \
	}
#define BYTES32(n)                                                                                \
	{                                                                                         \
		n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, \
			23, 24, 25, 26, 27, 28, 29, 30, 31                                        \
	}

/*
 * What several messages contain
 */
static const uint32_t few_disks[] = { 7, 3, N32(5) };
static const struct ddio_file_record a_record = {
	.ref = { .id = N64(1), .seed = N64(2), .block = 8192, .layout = 2 },
	.size = N64(3),
	.ctime_ns = N64(4),
	.mtime_ns = N64(5),
	.dying = 1,
	.ndisks = 3,
	.disks = (uint32_t *)few_disks,
	.name = "matrix",
};
static const struct ddio_array an_array = {
	.file_offset = N64(1),
	.elem_size = N64(2),
	.ndims = 2,
	.dim = { { .size = N64(3),
		   .start = N64(4),
		   .count = N64(5),
		   .stride = N64(6),
		   .procs = N64(7),
		   .k = N64(8),
		   .dist = DDIO_CYCLIC },
		 { .size = N64(9),
		   .start = N64(10),
		   .count = N64(11),
		   .stride = N64(12),
		   .procs = N64(13),
		   .k = N64(14),
		   .dist = DDIO_BLOCK } },
};
static const struct ddio_strided some_strided[] = {
	{ .offset = N64(1),
	  .len = N64(2),
	  .nlevels = 2,
	  .level = { { N64(3), N64(4) }, { N64(5), N64(6) } } },
	{ .offset = N64(7), .len = N64(8) },
};
static const struct ddio_extent some_extents[] = { { N64(1), N64(2) }, { N64(3), N64(4) } };
static const struct ddio_part array_part = { .kind = DDIO_PART_ARRAY, .array = &an_array };
static const struct ddio_part strided_part = { .kind = DDIO_PART_STRIDED,
					       .n = 2,
					       .strided = some_strided };
static const struct ddio_part list_part = { .kind = DDIO_PART_LIST, .n = 2, .list = some_extents };
static const struct ddio_tree_node tree_nodes[] = {
	{ .kind = DDIO_TREE_LEAF, .n = N64(1) },
	{ .kind = DDIO_TREE_REPEAT, .n = N64(2), .stride = -(int64_t)N64(3) },
	{ .kind = DDIO_TREE_SEQUENCE, .n = 2 },
};
static const struct ddio_tree_child tree_children[] = { { N64(4), 1 }, { -2, 0 } };
static const struct ddio_tree some_tree = { 3, tree_nodes, 2, tree_children };
static const struct ddio_view some_views[] = {
	{ &some_tree, N64(1), N64(2), N64(3), N64(4) },
	{ &some_tree, N64(5), N64(6), N64(7), N64(8) },
};
static const struct ddio_part view_part = { .kind = DDIO_PART_VIEW, .n = 2, .view = some_views };

/*
 * The opening exchange
 */
static const struct ddio_msg_hello hello = {
	.min_version = N16(1),
	.max_version = N16(2),
	.role = DDIO_ROLE_ADMIN,
	.options = N32(3),
	.features = N32(7),
	.reactor = N32(4),
	.rank = 0x12345,
	.nonce = BYTES32(5),
	.group = BYTES16(6),
	.cluster = "cluster",
};
static const struct ddio_msg_challenge challenge = {
	.version = N16(1),
	.keyed = 1,
	.options = N32(2),
	.features = N32(5),
	.nonce = BYTES32(3),
	.proof = BYTES32(4),
};
static const struct ddio_msg_proof proof = { .proof = BYTES32(9) };
static const struct ddio_welcome_disk welcome_disks[] = {
	{ .disk = N32(1),
	  .reactor = 2,
	  .sector = 512,
	  .size = N64(3),
	  .peak = N64(4),
	  .scale_ppm = N64(5) },
	{ .disk = N32(6),
	  .reactor = 7,
	  .sector = 4096,
	  .size = N64(8),
	  .peak = N64(9),
	  .scale_ppm = N64(10) },
};
static const struct ddio_msg_welcome welcome = {
	.node = N32(1),
	.nreactors = N32(2),
	.reactor = N32(0),
	.ndisks = 2,
	.boot = N64(4),
	.disks = (struct ddio_welcome_disk *)welcome_disks,
	.name = "node",
};
static const struct ddio_disk_id disk_id_list[] = {
	{ .disk = N32(1),
	  .flags = DDIO_DISK_KNOWN,
	  .uuid = BYTES16(2),
	  .life = N64(3),
	  .n = 2,
	  .before = { N64(4), N64(8) },
	  .names = N64(5),
	  .change = N64(9),
	  .lost = N64(6),
	  .seal = BYTES32(8) },
};
static const struct ddio_msg_disk_ids disk_ids = {
	.flags = DDIO_DISKS_NAMES,
	.n = 1,
	.names = N64(7),
	.change = N64(8),
	.ids = (struct ddio_disk_id *)disk_id_list,
};
static const uint64_t tag_list[] = { 0x0000000100000001ull, 0x0000000200000003ull };
static const struct ddio_msg_tags tags = { .n = 2, .tags = (uint64_t *)tag_list };
static struct ddio_ends ends_list[] = { { .known = true, .n = 2, .boot = { N64(1), N64(2) } } };
static const struct ddio_msg_welcome welcome_ends = {
	.node = N32(1),
	.nreactors = N32(2),
	.boot = N64(4),
	.ids = { .n = 1, .names = N64(7), .ids = (struct ddio_disk_id *)disk_id_list },
	.ends = ends_list,
	.name = "node",
};
static const struct ddio_msg_refuse refuse = { .status = N32(1), .text = "not you" };

/*
 * Files
 */
static const struct ddio_msg_ns_create ns_create = {
	.flags = DDIO_NS_DIR,
	.mode = 0640,
	.uid = N32(1),
	.gid = N32(2),
	.rec = { .ref = { .seed = N64(3), .block = 4096, .layout = 1 },
		 .size = N64(4),
		 .ndisks = 3,
		 .disks = (uint32_t *)few_disks },
	.path = "a/b",
};
static const struct ddio_msg_ns_name ns_name = { .id = N64(1), .path = "a/b/c" };
static const struct ddio_msg_ns_size ns_size = { .id = N64(1), .size = N64(2) };
static const struct ddio_msg_ns_epoch ns_epoch = {
	.id = N64(1), .epoch = N64(2), .settled = N64(3), .size = N64(4), .flags = DDIO_EPOCH_OPEN
};
static struct ddio_msg_ns_epoch two_epochs[] = {
	{ .id = N64(1), .epoch = N64(2), .size = N64(3) },
	{ .id = N64(4), .epoch = N64(5), .size = N64(6) },
};
static const struct ddio_msg_ns_epochs ns_epochs = { .n = 2,
						     .flags = DDIO_EPOCH_GIVE_UP,
						     .epochs = two_epochs };
static const struct ddio_msg_ns_clone ns_clone = { .id = N64(1),
						   .size = N64(2),
						   .flags = DDIO_CLONE_SNAP,
						   .uid = N32(3),
						   .gid = N32(4),
						   .path = "a/b" };
static const struct ddio_msg_ns_list ns_list = {
	.max = 99,
	.flags = DDIO_NS_ALL,
	.after_id = N64(1),
	.dir = "dir",
	.after = "behind",
};
static const struct ddio_file_record two_records[] = {
	{ .ref = { .id = N64(1), .seed = N64(2), .block = 512, .layout = 2 },
	  .size = N64(3),
	  .ctime_ns = N64(4),
	  .mtime_ns = N64(5),
	  .ndisks = 1,
	  .disks = (uint32_t *)few_disks,
	  .name = "one" },
	{ .ref = { .id = N64(6), .seed = N64(7), .block = 1024, .layout = 1 },
	  .size = N64(8),
	  .ctime_ns = N64(9),
	  .mtime_ns = N64(10),
	  .dying = 1,
	  .ndisks = 2,
	  .disks = (uint32_t *)few_disks },
};
static const struct ddio_msg_ns_listing ns_listing = {
	.n = 2, .more = 1, .recs = (struct ddio_file_record *)two_records
};

/*
 * Objects
 */
static const struct ddio_msg_obj obj = {
	.file = { .id = N64(1), .seed = N64(2), .block = 65536, .layout = 2 },
	.disk = N32(3),
	.flags = DDIO_OBJ_ZERO | DDIO_OBJ_ALL,
	.offset = N64(4),
	.len = N64(5),
};
static const struct ddio_msg_obj obj_of_stream = {
	.file = { .id = N64(1), .seed = N64(2), .block = 65536, .layout = 1 },
	.disk = N32(3),
	.flags = DDIO_OBJ_STREAM,
	.offset = N64(4),
	.len = N64(5),
	.stream = N64(6),
};
static const struct ddio_msg_obj_data obj_data = { .len = 0x1234567,
						   .hit = 1,
						   .disk_reqs = N32(1) };
static const struct ddio_wire_extent wire_extents[] = {
	{ .block = 0x123456789abc1, .start = N64(2), .count = 0x123456789abc3, .flags = 1 },
	{ .block = 0x123456789abc4, .start = N64(5), .count = 0x123456789abc6 },
};
static const struct ddio_msg_extents extents = { .n = 2,
						 .more = 1,
						 .ext = (struct ddio_wire_extent *)wire_extents };
static const uint64_t ids[] = { N64(1), N64(2), N64(3) };
static const struct ddio_msg_obj_list obj_list = { .n = 3, .more = 1, .ids = (uint64_t *)ids };
static const struct ddio_msg_fsck fsck = {
	.objects = N64(1),
	.extents = N64(2),
	.blocks = N64(3),
	.free_bytes = N64(4),
	.problems = N64(5),
	.repaired = N64(6),
	.text = "a problem",
};
static const struct ddio_msg_obj_stat obj_stat = { .alloc = N64(1), .end = N64(2) };
static const struct ddio_msg_obj_copy obj_copy = {
	.from = { .id = N64(1), .seed = N64(2), .block = 512, .layout = 1 },
	.to = { .id = N64(3), .seed = N64(4), .block = 1024, .layout = 2 },
	.disk = N32(5),
	.from_offset = N64(6),
	.to_offset = N64(7),
	.len = 0x1234567,
};
static const struct ddio_msg_obj_mend obj_mend = {
	.file = { .id = N64(1), .seed = N64(2), .block = 512, .layout = 1 },
	.disk = N32(3),
	.at = N64(4),
	.longest = N64(5),
	.rate = N64(6),
};
static const struct ddio_msg_mended mended = {
	.flags = DDIO_MENDED_BUSY,
	.at = N64(1),
	.moved = N64(2),
	.shared = N64(3),
	.reserved_blocks = N64(4),
	.space = N64(5),
	.bad = N64(6),
};
static const struct ddio_msg_disk_space disk_space = {
	.free = N64(1), .ranges = N64(2), .longest = N64(3), .shared = N64(4)
};
static const struct ddio_msg_obj_clone obj_clone = {
	.to = { .id = N64(1), .seed = N64(2), .block = 512, .layout = 1 },
	.from = { .id = N64(3), .seed = N64(4), .block = 512, .layout = 2 },
	.disk = N32(5),
	.flags = DDIO_OBJ_CLONE_FREEZE,
	.hold = N64(6),
	.len = N64(7),
};

/*
 * Collectives
 */
static const struct ddio_msg_attach attach = {
	.group = BYTES16(1),
	.rank = 0x12345,
	.size = 0x12346,
	.handle = N32(2),
};
static const struct ddio_msg_coll_start coll_start_array = {
	.group = BYTES16(1),
	.op = N64(2),
	.flags = DDIO_COLL_SATF | DDIO_COLL_WRITE,
	.nprocs = 0x12345,
	.buffers = N32(3),
	.timeout_ns = N64(4),
	.file_size = N64(5),
	.file = { .ref = { .id = N64(6), .seed = N64(7), .block = 8192, .layout = 1 },
		  .ndisks = 3,
		  .disks = (uint32_t *)few_disks },
	.nparts = 1,
	.parts = (struct ddio_part *)&array_part,
};
static const struct ddio_part two_parts[] = {
	{ .kind = DDIO_PART_LIST, .n = 2, .list = some_extents },
	{ .kind = DDIO_PART_LIST, .n = 1, .list = some_extents },
};
static const struct ddio_msg_coll_start coll_start_lists = {
	.group = BYTES16(1),
	.op = N64(2),
	.flags = DDIO_COLL_SHORT | DDIO_COLL_OVERLAP,
	.nprocs = 2,
	.file = { .ref = { .id = N64(6), .block = 8192 },
		  .ndisks = 1,
		  .disks = (uint32_t *)few_disks },
	.nparts = 2,
	.parts = (struct ddio_part *)two_parts,
};
static const struct ddio_tree_node leaf_rows[] = {
	{ .kind = DDIO_TREE_LEAF, .n = 8 },
	{ .kind = DDIO_TREE_REPEAT, .n = 3, .stride = -300, .child = 0 },
	{ .kind = DDIO_TREE_SEQUENCE, .n = 1, .child = 0 },
};
static const struct ddio_tree_child row_child[] = { { 900, 1 } };
static const struct ddio_tree row_tree = { 3, leaf_rows, 1, row_child };
static const struct ddio_view row_views[] = { { &row_tree, 1000, 2000, 5, 24 },
					      { &row_tree, 0, 0, 0, 300 } };
static const struct ddio_part row_parts[] = {
	{ .kind = DDIO_PART_VIEW, .n = 1, .view = &row_views[0] },
	{ .kind = DDIO_PART_VIEW, .n = 2, .view = row_views },
	{ .kind = DDIO_PART_VIEW },
};
static const struct ddio_kin some_kin[] = {
	{ &row_parts[0], 0, 0, { 2, 0, { { 2, 0, 8, 0 }, { 3, 0, 1 << 14, (uint64_t)-1 } } } },
	{ &row_parts[0], 64, 1, { 0 } },
	{ &row_parts[1], 0, 0, { 0 } },
	{ &row_parts[2], 0, 0, { 1, 0, { { 130, 0, 0, 0 } } } },
};
static const struct ddio_crowd view_crowd = { .first = 7,
					      .nmembers = 138,
					      .kind = DDIO_PART_VIEW,
					      .n = 4,
					      .kin = (struct ddio_kin *)some_kin };
static const struct ddio_strided row_strided[] = { { 100, 8, 2, 0, { { 5, 200 }, { 2, 16 } } } };
static const struct ddio_part row_strided_part = { .kind = DDIO_PART_STRIDED,
						   .n = 1,
						   .strided = row_strided };
static const struct ddio_kin strided_kin[] = {
	{ &row_strided_part, 0, 0, { 1, 0, { { 4, 0, 8, 0 } } } }
};
static const struct ddio_crowd strided_crowd = {
	.nmembers = 4, .kind = DDIO_PART_STRIDED, .n = 1, .kin = (struct ddio_kin *)strided_kin
};
static const struct ddio_extent near_extents[] = { { 300, 8 }, { 310, 8 }, { 100, 1 } };
static const struct ddio_part near_part = { .kind = DDIO_PART_LIST, .n = 3, .list = near_extents };
static const struct ddio_kin list_kin[] = { { &near_part, 0, 0, { 1, 0, { { 7, 0, 32, 0 } } } } };
static const struct ddio_view no_view;
static const struct ddio_part spread_part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &no_view };
static const struct ddio_kin spread_kin[] = { { &spread_part, 0, 0, { 1, 0, { { 7, 0, 0, 0 } } } } };
static const struct ddio_crowd spread_crowd = { .nmembers = 7,
						.kind = DDIO_PART_VIEW,
						.n = 1,
						.kin = (struct ddio_kin *)spread_kin,
						.lo = 100,
						.hi = 300,
						.spread = DDIO_CROWD_MAY | DDIO_CROWD_SPREAD };
static const struct ddio_carried some_carried[] = { { 3, 2, "ab" }, { 6, 1, "c" } };
static const struct ddio_crowd carrying_crowd = { .first = 2,
						  .nmembers = 7,
						  .kind = DDIO_PART_LIST,
						  .n = 1,
						  .kin = (struct ddio_kin *)list_kin,
						  .carries = true,
						  .ncarried = 2,
						  .carried = (struct ddio_carried *)some_carried };
static const struct ddio_kin one_kin[] = { { &near_part, 0, 0, { 0 } } };
static const struct ddio_msg_coll_told coll_told = {
	.group = BYTES16(1),
	.op = N64(2),
	.crowd = { .first = 3,
		   .nmembers = 1,
		   .kind = DDIO_PART_LIST,
		   .n = 1,
		   .kin = (struct ddio_kin *)one_kin },
};
static const struct ddio_msg_coll_step coll_step = { .op = N64(1), .handle = N32(2) };
static const struct ddio_msg_coll_start coll_start_families = {
	.group = BYTES16(1),
	.op = N64(2),
	.flags = DDIO_COLL_FAMILIES,
	.nprocs = 7,
	.file = { .ref = { .id = N64(6), .block = 8192 },
		  .ndisks = 1,
		  .disks = (uint32_t *)few_disks },
	.crowd = { .nmembers = 7,
		   .kind = DDIO_PART_LIST,
		   .n = 1,
		   .kin = (struct ddio_kin *)list_kin },
};
static const struct ddio_msg_coll_data coll_data = {
	.op = N64(1),
	.block = 0x123456789abc2,
	.handle = N32(3),
	.disk = N32(4),
	.group = BYTES16(5),
};
static const struct ddio_want wants[] = {
	{ .block = 0x123456789abc1, .disk = N32(2) },
	{ .block = 0x123456789abc3, .disk = N32(4) },
};
static const struct ddio_msg_coll_want coll_want = {
	.op = N64(1), .handle = N32(2), .n = 2, .want = (struct ddio_want *)wants
};
static const struct ddio_msg_coll_done coll_done = {
	.op = N64(1),
	.handle = N32(2),
	.status = DDIO_ST_IO,
	.reactor = N32(3),
	.lost_rank = N32(4),
	.bytes_needed = N64(5),
	.disk_read = N64(6),
	.disk_written = N64(7),
	.disk_requests = N64(8),
	.messages = N64(9),
	.cache_blocks = N64(10),
	.wait_disk_ns = N64(11),
	.wait_members_ns = N64(12),
	.elapsed_ns = N64(13),
	.buffers = N64(14),
	.scattered = N64(15),
	.text = "disk 3",
};
static const struct ddio_msg_coll_abort coll_abort = {
	.group = BYTES16(1), .op = N64(2), .status = DDIO_ST_CANCELLED, .rank = N32(3)
};
static const struct ddio_msg_joint joint = { .group = BYTES16(1),
					     .token = BYTES16(2),
					     .name = "mailbox" };
static const struct ddio_msg_coll_join coll_join = { .group = BYTES16(1), .op = N64(2) };
static const struct ddio_msg_memory memory = { .token = BYTES16(2), .name = "mailbox" };
static const struct ddio_msg_share share = {
	.group = BYTES16(1), .token = BYTES16(2), .writing = 1, .name = "mailbox"
};
static const struct ddio_msg_share_taken share_taken = { .group = BYTES16(1), .writing = 1 };
static const struct ddio_msg_mux_open mux_open = { .id = N32(1),
						   .node = N32(2),
						   .reactor = N32(3) };
static const struct ddio_msg_mux_data mux_data = { .id = N32(4) };
static const struct ddio_msg_mux_window mux_window = { .id = N32(5), .bytes = 0x10203 };
static const struct ddio_msg_mux_part mux_part = { .id = N32(5), .bytes = 0x203 };
static const struct ddio_msg_mux_end mux_end = { .id = N32(6), .status = DDIO_ST_NODE_LOST };
static const struct ddio_msg_show show = { .token = BYTES16(2), .disk = N32(3), .name = "mailbox" };
static const struct ddio_slot_at slots_at[] = {
	{ .block = 0x123456789abc1,
	  .offset = N64(2),
	  .disk = N32(3),
	  .len = 0x1000,
	  .slot = N32(4),
	  .flags = DDIO_SLOT_PACKED },
	{ .block = 0x123456789abc3, .offset = N64(5), .disk = N32(6), .len = 1, .slot = N32(7) },
};
static const struct ddio_msg_coll_slots coll_slots = {
	.op = N64(1), .handle = N32(2), .n = 2, .at = (struct ddio_slot_at *)slots_at
};
static const struct ddio_copied copied[] = {
	{ .block = 0x123456789abc1, .disk = N32(2), .slot = N32(3) },
	{ .block = 0x123456789abc4, .disk = N32(5), .slot = N32(6) },
};
static const struct ddio_msg_coll_copied coll_copied = { .group = BYTES16(1),
							 .op = N64(2),
							 .rank = 0x12345,
							 .n = 2,
							 .copied = (struct ddio_copied *)copied };

/*
 * A node's counters
 */
static const struct ddio_disk_status disk_status[] = {
	{ .disk = N32(1),
	  .reactor = N32(2),
	  .name = "d0",
	  .engine = "aio",
	  .size = N64(3),
	  .free = N64(4),
	  .reads = N64(5),
	  .writes = N64(6),
	  .read_bytes = N64(7),
	  .write_bytes = N64(8),
	  .errors = N64(9),
	  .cache_hits = N64(10),
	  .cache_misses = N64(11),
	  .prefetches = N64(12),
	  .prefetch_used = N64(13),
	  .prefetch_wasted = N64(14),
	  .cache_blocks = N64(15),
	  .cache_dirty = N64(16),
	  .cache_bytes = N64(17),
	  .queue = N64(18),
	  .max_queue = N64(19),
	  .seeks = N64(20),
	  .seek_ns = N64(21),
	  .rotation_ns = N64(22),
	  .buffer_hits = N64(23),
	  .bus_wait_ns = N64(24),
	  .busy_ns = N64(25),
	  .buffers = N64(26),
	  .max_buffers = N64(27),
	  .objects = N64(28),
	  .scrub_mismatches = N64(29),
	  .scrub_unread = N64(30) },
};
static const struct ddio_msg_status status = {
	.node = N32(1),
	.nreactors = N32(2),
	.boot = N64(3),
	.uptime_ns = N64(4),
	.collectives = N64(5),
	.requests = N64(6),
	.connections = N64(7),
	.refused = N64(8),
	.memory_bytes = N64(9),
	.name = "node",
	.ndisks = 1,
	.disks = (struct ddio_disk_status *)disk_status,
};

static const struct ddio_bound_status a_bound = {
	.name = "locks", .limit = N64(1), .now = N64(2), .most = N64(3), .hits = N64(4)
};
static const struct ddio_msg_bounds bounds = { .n = 1,
					       .bound = (struct ddio_bound_status *)&a_bound };

static const struct ddio_msg_user user = { .kind = DDIO_USER_MUNGE, .len = 3, .cred = "abc" };
static const struct ddio_msg_grant grant = { .file = N64(1),
					     .rights = DDIO_GRANT_READ | DDIO_GRANT_WRITE,
					     .uid = 1000,
					     .until_ns = N64(2),
					     .mac = { 1, 2, 3, [31] = 9 } };
static const struct ddio_msg_job job = { .name = "4711" };
static const struct ddio_msg_wrong wrong = {
	.flags = DDIO_WRONG_PLACE, .disk = N32(1), .file = N64(2), .block = N64(3), .count = N64(4)
};
static const struct ddio_job_status a_job = { .name = "4711",
					      .connections = N64(1),
					      .requests = N64(2),
					      .read_bytes = N64(3),
					      .write_bytes = N64(4),
					      .collectives = N64(5),
					      .coll_read_bytes = N64(6),
					      .coll_write_bytes = N64(7),
					      .told = N64(8) };
static const struct ddio_msg_jobs jobs = { .n = 1, .job = (struct ddio_job_status *)&a_job };

static const struct ddio_msg_trace_ask trace_ask = { .action = DDIO_TRACE_BEGIN,
						     .most = 16,
						     .reactor = N32(1),
						     .from = N32(2),
						     .op = N64(3),
						     .job = "4711",
						     .file = "f" };
static const struct ddio_trace_coll a_traced = { .group = { 1, 2, 3 },
						 .op = N64(1),
						 .nprocs = N32(2),
						 .block = N32(3),
						 .flags = DDIO_TRACE_WRITE | DDIO_TRACE_ENDED,
						 .status = N32(4),
						 .bytes_needed = N64(5),
						 .disk_requests = N64(6),
						 .disk_read = N64(7),
						 .disk_written = N64(8),
						 .messages = N64(9),
						 .wait_disk_ns = N64(10),
						 .wait_members_ns = N64(11),
						 .job = "j",
						 .file = "f" };
static const struct ddio_trace_event an_event = { .ns = N64(1),
						  .place = N64(2),
						  .len = N32(3),
						  .rank = N32(4),
						  .disk = N32(5),
						  .slot = 6,
						  .kind = DDIO_TRACE_SENT,
						  .what = 67,
						  .coll = 0 };
static const struct ddio_msg_trace trace = { .now = N64(1),
					     .lost = N64(2),
					     .nreactors = N32(3),
					     .ncolls = 1,
					     .total = N32(4),
					     .n = 1,
					     .coll = (struct ddio_trace_coll *)&a_traced,
					     .event = (struct ddio_trace_event *)&an_event };

static const struct ddio_msg_scrub_ask scrub_ask = {
	.disk = N32(1), .flags = DDIO_SCRUB_ASK_BEGIN | DDIO_SCRUB_ASK_LACKING, .rate = N64(2)
};
static const struct ddio_msg_scrub scrub = { .flags = DDIO_SCRUB_RUNS,
					     .begun = N64(1),
					     .ended = N64(2),
					     .used = N64(3),
					     .done = N64(4),
					     .bad = N64(5),
					     .unread = N64(6),
					     .given = N64(7),
					     .rate = N64(8) };

static const struct ddio_query_field query_fields[] = {
	{ .offset = N32(1), .type = DDIO_QUERY_F64 },
	{ .offset = N32(2), .len = 2, .type = DDIO_QUERY_U16, .flags = DDIO_QUERY_BIG }
};
static const struct ddio_query_step query_steps[] = {
	{ .op = DDIO_QUERY_LT, .field = 1, .value.u = N64(3) }, { .op = DDIO_QUERY_NOT }
};
static const union ddio_query_number query_bounds[] = { { .u = N64(4) }, { .u = N64(5) } };
static const struct ddio_query_reduce query_reduces[] = {
	{ .kind = DDIO_QUERY_SUM },
	{ .kind = DDIO_QUERY_HISTOGRAM, .field = 1, .nbounds = 2, .bound = query_bounds }
};
static const uint32_t query_outputs[] = { 1, 0 };
static const struct ddio_msg_query query = {
	.obj = { .file = { .id = N64(1), .seed = N64(2), .block = 8192, .layout = 1 },
		 .disk = N32(3),
		 .offset = 8192 * 5,
		 .len = 8192 * 10 },
	.flags = DDIO_QUERY_COUNTS,
	.stripe = 2,
	.ndisks = 3,
	.part = 9,
	.part_next = N64(6),
	.first = N64(7),
	.end = N64(8),
	.nblocks = 10,
	.want = "\x55\x02",
	.q = { .struct_size = sizeof(struct ddio_query),
	       .origin = N64(9),
	       .record = N32(10),
	       .nfields = 2,
	       .field = query_fields,
	       .nsteps = 2,
	       .where = query_steps,
	       .nreduce = 2,
	       .reduce = query_reduces,
	       .noutput = 2,
	       .output = query_outputs }
};
static const struct ddio_msg_query query_dealt = {
	.obj = { .file = { .id = N64(1), .seed = N64(2), .block = 8192, .layout = 1 },
		 .disk = N32(3),
		 .len = 8192 },
	.flags = DDIO_QUERY_DEALT,
	.ndisks = 1,
	.part = DDIO_QUERY_NO_PART,
	.end = N64(8),
	.nblocks = 1,
	.want = "\x01",
	.q = { .struct_size = sizeof(struct ddio_query), .record = N32(10) },
	.group = BYTES16(1),
	.number = N64(4),
	.members = 0x305,
	.member = 0x304,
	.deal = { .struct_size = sizeof(struct ddio_query_deal),
		  .kind = DDIO_QUERY_BY_RANGE,
		  .field = N32(5),
		  .nbounds = 2,
		  .bound = query_bounds,
		  .nowners = 2,
		  .owner = query_outputs }
};
static const struct ddio_msg_answer answer = { .part = 9,
					       .disk_reqs = N32(1),
					       .part_next = N64(2),
					       .nblocks = 10,
					       .did = "\x55\x01",
					       .made_len = 3,
					       .items_len = 4,
					       .made = "abc",
					       .items = "item" };

/*
 * Between compute processes
 */
static const struct ddio_msg_group_join group_join = {
	.group = BYTES16(1), .rank = 0x12345, .size = 0x12346, .addr = "host:1"
};
static const struct ddio_group_addr addrs[] = { { .rank = 3, .addr = "a:1" },
						{ .rank = 9, .addr = "b:22" } };
static const struct ddio_msg_group_table group_table = {
	.group = BYTES16(1), .size = 0x12345, .n = 2, .entry = (struct ddio_group_addr *)addrs
};
static const struct ddio_msg_fan fan = {
	.group = BYTES16(1),
	.seq = N64(2),
	.kind = N32(3),
	.rank = 0x12345,
	.status = DDIO_ST_MISMATCH,
	.blame = N32(4),
	.len = 3,
	.data = "xyz",
	.text = "who",
};
static const struct ddio_msg_exchange exchange = {
	.group = BYTES16(1), .op = N64(2), .lo = N64(3), .hi = N64(4), .rank = 0x12345
};
static const struct ddio_msg_counter counter = { .group = BYTES16(1),
						 .counter = N64(2),
						 .number = N64(3),
						 .value = N64(4),
						 .rank = 0x12345,
						 .action = DDIO_COUNTER_SET,
						 .status = DDIO_ST_STALE };

#endif /* DDIO_TEST_GOLDEN_VALUES_H */
