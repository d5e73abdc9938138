// SPDX-License-Identifier: GPL-2.0-only
/* The server, message by message: every opcode, with valid and with invalid values. */
#include "iop/ns/ns.h"
#include "tests/unit/iop/server/server_world.h"

static uint8_t pattern[64 * 4096];

static void fill(uint8_t *buf, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (uint8_t)((i * 31 + seed * 7) % 253 + 1);
}

/*
 * Opening
 */
static void welcome_says_what_the_node_has(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0), *d = sc_new(sw, 1);
	uint32_t i;

	CU_ASSERT_STRING_EQUAL(c->welcome.name, "io0");
	CU_ASSERT_EQUAL(c->welcome.nreactors, SW_REACTORS);
	CU_ASSERT_EQUAL(c->welcome.reactor, 0);
	CU_ASSERT_EQUAL(d->welcome.reactor, 1);
	CU_ASSERT_EQUAL(c->welcome.boot, d->welcome.boot);
	CU_ASSERT_EQUAL(d->welcome.ndisks, 3);
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(c->disks[i].reactor, sw_reactor(sw, c->disks[i].disk));
		CU_ASSERT_EQUAL(c->disks[i].size, 4 * MIB);
		CU_ASSERT_EQUAL(c->disks[i].scale_ppm, 1000000);
	}
	CU_ASSERT_EQUAL(sc_call(d, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	sc_free(c);
	sc_free(d);
	sw_free(sw);
}

static void connections_that_make_no_sense_are_refused(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_open(sw, 2, DDIO_ROLE_CLIENT);
	struct ddio_msg_status st;

	CU_ASSERT(c->closed);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->why, "there is no reactor 2: this node has 2"));
	sc_free(c);
	c = sc_open(sw, 0, DDIO_ROLE_PEER);
	CU_ASSERT(c->closed);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->why, "not a compute process"));
	sc_free(c);
	c = sc_open(sw, 0, DDIO_ROLE_ADMIN);
	CU_ASSERT(c->ready);
	CU_ASSERT_EQUAL(sc_status(c, &st), DDIO_ST_OK);
	CU_ASSERT_EQUAL(st.refused, 2);
	CU_ASSERT_EQUAL(st.connections, 1);
	ddio_status_free(&st);
	sc_free(c);
	sw_free(sw);
}

/*
 * The name space
 */
static uint32_t create(struct sc *c, const char *name, uint32_t flags, uint32_t disk,
		       struct ddio_file_record *rec)
{
	uint32_t disks[2] = { disk, 1 };
	struct ddio_msg_ns_create x = {
		.flags = flags, .rec = { .ref = { .block = 4096 }, .ndisks = 2, .disks = disks }
	};
	uint32_t status;
	size_t used;

	snprintf(x.path, sizeof(x.path), "%s", name);
	status = SC_CALL(c, NS_CREATE, ns_create, &x);
	if (!status)
		CU_ASSERT_EQUAL(ddio_get_record(c->data, c->len, rec, &used), 0);
	return status;
}

static uint32_t lookup(struct sc *c, const char *name, uint64_t id, struct ddio_file_record *rec)
{
	struct ddio_msg_ns_name x = { .id = id };
	uint32_t status;
	size_t used;

	snprintf(x.path, sizeof(x.path), "%s", name);
	status = SC_CALL(c, NS_LOOKUP, ns_name, &x);
	if (!status)
		CU_ASSERT_EQUAL(ddio_get_record(c->data, c->len, rec, &used), 0);
	return status;
}

static void files_are_made_found_and_sized(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	struct ddio_file_record a, b;
	struct ddio_msg_ns_size size;

	CU_ASSERT_EQUAL_FATAL(create(c, "a", 0, 0, &a), DDIO_ST_OK);
	CU_ASSERT_EQUAL(a.ndisks, 2);
	CU_ASSERT_NOT_EQUAL(a.ref.id, 0);
	/* Again: the same file, unless it must be new. */
	CU_ASSERT_EQUAL_FATAL(create(c, "a", 0, 2, &b), DDIO_ST_OK);
	CU_ASSERT_EQUAL(a.ref.id, b.ref.id);
	CU_ASSERT_EQUAL(b.disks[0], 0);
	ddio_file_record_free(&b);
	CU_ASSERT_EQUAL(create(c, "a", DDIO_NS_EXCL, 0, &b), DDIO_ST_EXISTS);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "file \"a\""));
	size = (struct ddio_msg_ns_size){ .id = a.ref.id, .size = 1000 };
	CU_ASSERT_EQUAL(SC_CALL(c, NS_EXTEND, ns_size, &size), DDIO_ST_OK);
	size.size = 10;
	CU_ASSERT_EQUAL(SC_CALL(c, NS_EXTEND, ns_size, &size), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(lookup(c, "a", 0, &b), DDIO_ST_OK);
	CU_ASSERT_EQUAL(b.size, 1000);
	ddio_file_record_free(&b);
	CU_ASSERT_EQUAL(SC_CALL(c, NS_SET_SIZE, ns_size, &size), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(lookup(c, "", a.ref.id, &b), DDIO_ST_OK);
	CU_ASSERT_EQUAL(b.size, 10);
	ddio_file_record_free(&b);
	CU_ASSERT_EQUAL(lookup(c, "b", 0, &b), DDIO_ST_NOT_FOUND);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "file \"b\""));
	size.id = 999;
	CU_ASSERT_EQUAL(SC_CALL(c, NS_SET_SIZE, ns_size, &size), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(SC_CALL(c, NS_EXTEND, ns_size, &size), DDIO_ST_NOT_FOUND);
	ddio_file_record_free(&a);
	sc_free(c);
	sw_free(sw);
}

static void files_are_removed_in_two_steps(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	struct ddio_file_record a, b;
	struct ddio_msg_ns_name name = { .path = "a" };
	struct ddio_msg_ns_size size = { 0 };
	struct ddio_msg_ns_list list = { .max = 10 };
	struct ddio_msg_ns_listing out;
	size_t used;

	CU_ASSERT_EQUAL_FATAL(create(c, "a", 0, 0, &a), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(create(c, "b", 0, 0, &b), DDIO_ST_OK);
	ddio_file_record_free(&b);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, NS_REMOVE, ns_name, &name), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_record(c->data, c->len, &b, &used), 0);
	CU_ASSERT_EQUAL(b.dying, 1);
	CU_ASSERT_EQUAL(b.ref.id, a.ref.id);
	ddio_file_record_free(&b);
	CU_ASSERT_EQUAL(lookup(c, "a", 0, &b), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, NS_LIST, ns_list, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_ns_listing(c->data, c->len, &out), 0);
	CU_ASSERT_EQUAL(out.n, 1);
	CU_ASSERT_EQUAL(out.more, 0);
	CU_ASSERT_STRING_EQUAL(out.recs[0].name, "b");
	ddio_ns_listing_free(&out);
	/* A file without a name is found by its number, and its removal goes on. */
	list.flags = DDIO_NS_ALL;
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, NS_LIST, ns_list, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_ns_listing(c->data, c->len, &out), 0);
	CU_ASSERT_EQUAL(out.n, 2);
	CU_ASSERT_EQUAL(out.recs[0].ref.id, a.ref.id);
	CU_ASSERT_EQUAL(out.recs[0].dying, 1);
	CU_ASSERT_EQUAL(out.recs[1].dying, 0);
	name.path[0] = 0;
	name.id = out.recs[1].ref.id;
	ddio_ns_listing_free(&out);
	CU_ASSERT_EQUAL(SC_CALL(c, NS_REMOVE, ns_name, &name), DDIO_ST_BUSY);
	name.id = a.ref.id;
	CU_ASSERT_EQUAL(SC_CALL(c, NS_REMOVE, ns_name, &name), DDIO_ST_OK);
	list.flags = 0;
	size.id = a.ref.id;
	CU_ASSERT_EQUAL(SC_CALL(c, NS_REMOVE_DONE, ns_size, &size), DDIO_ST_OK);
	snprintf(list.after, sizeof(list.after), "a");
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, NS_LIST, ns_list, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_ns_listing(c->data, c->len, &out), 0);
	CU_ASSERT_EQUAL(out.n, 1);
	ddio_ns_listing_free(&out);
	CU_ASSERT_EQUAL(SC_CALL(c, NS_REMOVE, ns_name, &name), DDIO_ST_NOT_FOUND);
	snprintf(name.path, sizeof(name.path), "nothing");
	CU_ASSERT_EQUAL(SC_CALL(c, NS_REMOVE, ns_name, &name), DDIO_ST_NOT_FOUND);
	ddio_file_record_free(&a);
	sc_free(c);
	sw_free(sw);
}

static void a_durable_change_survives_a_restart(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	struct ddio_file_record a, b;

	CU_ASSERT_EQUAL_FATAL(create(c, "a", 0, 0, &a), DDIO_ST_OK);
	sc_free(c);
	sw_restart(sw);
	c = sc_new(sw, 0);
	CU_ASSERT_EQUAL_FATAL(lookup(c, "a", 0, &b), DDIO_ST_OK);
	CU_ASSERT_EQUAL(a.ref.id, b.ref.id);
	ddio_file_record_free(&a);
	ddio_file_record_free(&b);
	sc_free(c);
	sw_free(sw);
}

/* More files than there are identifiers in reserve, before any commit can end. */
static void many_files_at_once(void)
{
	enum { CLIENTS = 50, EACH = 100 };
	struct sw *sw = sw_new("sync_io = no");
	struct sc *c[CLIENTS];
	struct ddio_msg_ns_create x = { .flags = DDIO_NS_EXCL,
					.rec = { .ref = { .block = 512 }, .ndisks = 1 } };
	uint32_t disk = 0;
	uint8_t buf[512];
	int i, k;

	x.rec.disks = &disk;
	for (i = 0; i < CLIENTS; i++)
		c[i] = sc_new(sw, 0);
	for (k = 0; k < EACH; k++) {
		for (i = 0; i < CLIENTS; i++) {
			snprintf(x.path, sizeof(x.path), "%d.%d", i, k);
			sc_send(c[i], DDIO_OP_NS_CREATE, buf,
				ddio_put_ns_create(buf, sizeof(buf), &x), NULL, 0);
		}
	}
	for (i = 0; i < CLIENTS; i++) {
		CU_ASSERT(sc_wait(c[i], EACH));
		CU_ASSERT_EQUAL(c[i]->failures, 0);
		sc_free(c[i]);
	}
	sw_free(sw);
}

static void names_that_cannot_be_served(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0), *d = sc_new(sw, 1);
	struct ddio_file_record rec;

	CU_ASSERT_EQUAL(create(c, "a", 0, 9, &rec), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "there is no disk 9, the cluster has 4"));
	/* A disk of another node is fine. */
	CU_ASSERT_EQUAL(create(c, "a", 0, 3, &rec), DDIO_ST_OK);
	ddio_file_record_free(&rec);
	CU_ASSERT_EQUAL(create(c, "b", 0, 1, &rec), DDIO_ST_INVALID); /* twice the same */
	CU_ASSERT_EQUAL(create(c, "", 0, 0, &rec), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(lookup(d, "a", 0, &rec), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(d->text, "reactor 0 of node io0"));
	sc_free(c);
	sc_free(d);
	sw_free(sw);
}

/*
 * Objects
 */
static void what_is_written_is_read(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	struct ddio_msg_obj_data data;

	fill(pattern, sizeof(pattern), 1);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 100, pattern, 10000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 100, 10000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern, 10000), 0);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, 100), DDIO_ST_OK);
	CU_ASSERT(sw_all(c->bulk, 100, 0));
	CU_ASSERT_EQUAL(ddio_get_obj_data(c->data, c->len, &data), 0);
	CU_ASSERT_EQUAL(data.len, 100);
	CU_ASSERT_EQUAL(data.hit, 1);
	CU_ASSERT_EQUAL(data.disk_reqs, 0);
	/* Beyond the end, and of a file that nobody wrote: zeros. */
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 1 << 20, 9000), DDIO_ST_OK);
	CU_ASSERT(sw_all(c->bulk, 9000, 0));
	CU_ASSERT_EQUAL(sc_read(c, 77, 0, 0, 9000), DDIO_ST_OK);
	CU_ASSERT(sw_all(c->bulk, 9000, 0));
	/* A request larger than the cache. */
	CU_ASSERT_EQUAL(sc_write(c, 2, 0, 0, pattern, sizeof(pattern)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(c, 2, 0, 0, sizeof(pattern)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern, sizeof(pattern)), 0);
	sc_free(c);
	sw_free(sw);
}

static void object_requests_that_make_no_sense(void)
{
	struct sw *sw = sw_new(NULL);
	uint32_t r = sw_reactor(sw, 0);
	struct sc *c = sc_new(sw, r), *d = sc_new(sw, !r);
	struct ddio_msg_obj obj;
	uint8_t buf[64];
	ssize_t n;

	fill(pattern, sizeof(pattern), 1);
	CU_ASSERT_EQUAL(sc_write(d, 1, 0, 0, pattern, 10), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(d->text, "disk d0 is served by reactor"));
	CU_ASSERT_EQUAL(sc_read(c, 1, 3, 0, 10), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d3 belongs to node io1"));
	CU_ASSERT_EQUAL(sc_read(c, 1, 4, 0, 10), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "there is no disk 4"));
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, 0), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, DDIO_MAX_BULK + 1), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "OBJ_READ"));
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, DDIO_MAX_FILE - 5, 10), DDIO_ST_TOO_BIG);
	/* Messages announce more bytes than arrive, or fewer. */
	obj = sc_obj(1, 0, 0, 100);
	n = ddio_put_obj(buf, sizeof(buf), &obj);
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_OBJ_WRITE, buf, n, pattern, 50), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "OBJ_WRITE of 100 bytes comes with 50"));
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_OBJ_WRITE, buf, n, pattern, 5000), DDIO_ST_INVALID);
	obj = sc_obj(0, 0, 0, 100);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_READ, &obj), DDIO_ST_INVALID);
	obj = sc_obj(1, 0, 0, 100);
	obj.file.block = 5000;
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_READ, &obj), DDIO_ST_INVALID);
	/* It is not the same file. */
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 10), DDIO_ST_OK);
	obj.file.block = 8192;
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_READ, &obj), DDIO_ST_STALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0: file 1 has another block size"));
	CU_ASSERT(!c->closed);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, 10), DDIO_ST_OK);
	sc_free(c);
	sc_free(d);
	sw_free(sw);
}

static void a_sync_survives_a_restart_and_an_orderly_stop_loses_nothing(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 1));

	fill(pattern, sizeof(pattern), 3);
	CU_ASSERT_EQUAL(sc_write(c, 1, 1, 10, pattern, 5000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 5), DDIO_ST_OK); /* nothing of it here */
	CU_ASSERT_EQUAL(sc_write(c, 1, 1, 8192, pattern, 300), DDIO_ST_OK);
	sc_free(c);
	sw_restart(sw);
	c = sc_new(sw, sw_reactor(sw, 1));
	CU_ASSERT_EQUAL(sc_read(c, 1, 1, 10, 5000), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern, 5000), 0);
	CU_ASSERT_EQUAL(sc_read(c, 1, 1, 8192, 300), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern, 300), 0);
	sc_free(c);
	sw_free(sw);
}

static void cut_off_bytes_do_not_come_back(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 5000);
	struct ddio_msg_extents x;
	struct ddio_msg_status st;
	uint64_t free_before;

	fill(pattern, sizeof(pattern), 3);
	CU_ASSERT_EQUAL(sc_status(c, &st), DDIO_ST_OK);
	free_before = st.disks[0].free;
	ddio_status_free(&st);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 10 * 4096), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_TRUNCATE, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, 10 * 4096), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern, 5000), 0);
	CU_ASSERT(sw_all(c->bulk + 5000, 10 * 4096 - 5000, 0));
	obj.len = 0;
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_EXTENTS, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_extents(c->data, c->len, &x), 0);
	CU_ASSERT_EQUAL(x.n, 1);
	CU_ASSERT_EQUAL(x.ext[0].block, 0);
	CU_ASSERT_EQUAL(x.ext[0].count, 2);
	free(x.ext);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_TRUNCATE, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(c, 1, 0, 0, 4096), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_EXTENTS, &obj), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(sc_status(c, &st), DDIO_ST_OK);
	CU_ASSERT_EQUAL(st.disks[0].free, free_before);
	CU_ASSERT_EQUAL(st.disks[0].objects, 0);
	ddio_status_free(&st);
	sc_free(c);
	sw_free(sw);
}

/* What was sent before a file was removed may come afterwards, whether or not it had anything here: it makes nothing of it. */
static void what_comes_late_makes_no_object(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0)), *late = sc_new(sw, sw_reactor(sw, 0));
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 4096), hold = sc_obj(1, 0, 77, 1000);
	struct ddio_msg_obj_copy copy = { .len = 4096 };
	struct ddio_msg_status st;
	uint8_t buf[200];

	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 4096), DDIO_ST_OK);
	for (; obj.file.id <= 2; obj.file.id++) {
		obj.len = 0;
		CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_OK);
		CU_ASSERT_EQUAL(sc_write(late, obj.file.id, 0, 0, pattern, 4096), DDIO_ST_STALE);
		CU_ASSERT_PTR_NOT_NULL(strstr(late->text, "was removed"));
		obj.len = 4096;
		CU_ASSERT_EQUAL(sc_object(late, DDIO_OP_OBJ_ALLOCATE, &obj), DDIO_ST_STALE);
		obj.len = 1;
		CU_ASSERT_EQUAL(sc_object(late, DDIO_OP_OBJ_RESERVE, &obj), DDIO_ST_STALE);
		hold.file = obj.file;
		CU_ASSERT_EQUAL(sc_object(late, DDIO_OP_OBJ_HOLD, &hold), DDIO_ST_STALE);
		copy.from = sc_obj(3, 0, 0, 0).file;
		copy.to = obj.file;
		CU_ASSERT_EQUAL(sc_call(late, DDIO_OP_OBJ_COPY, buf,
					ddio_put_obj_copy(buf, sizeof(buf), &copy), NULL, 0),
				DDIO_ST_STALE);
		CU_ASSERT_EQUAL(sc_read(late, obj.file.id, 0, 0, 4096), DDIO_ST_STALE);
		CU_ASSERT_EQUAL(sc_object(late, DDIO_OP_OBJ_TRUNCATE, &obj), DDIO_ST_OK);
	}
	CU_ASSERT_EQUAL(sc_status(c, &st), DDIO_ST_OK);
	CU_ASSERT_EQUAL(st.disks[0].objects, 0);
	ddio_status_free(&st);
	CU_ASSERT_EQUAL(sc_write(late, 3, 0, 0, pattern, 4096), DDIO_ST_OK);
	sc_free(late);
	sc_free(c);
	sw_free(sw);
}

static void space_is_reserved_listed_and_runs_out(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0)), *sc0 = sc_new(sw, 0);
	struct ddio_msg_obj obj = sc_obj(3, 0, 0, 100);
	struct ddio_file_record rec;
	struct ddio_msg_obj_list list;
	struct ddio_msg_fsck check;
	struct ddio_msg_extents x;

	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_RESERVE, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_EXTENTS, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_extents(c->data, c->len, &x), 0);
	CU_ASSERT_EQUAL(x.n, 1);
	CU_ASSERT_EQUAL(x.ext[0].count, 100);
	free(x.ext);
	CU_ASSERT_EQUAL(sc_read(c, 3, 0, 0, 4096), DDIO_ST_OK);
	CU_ASSERT(sw_all(c->bulk, 4096, 0));
	obj.len = 1 << 20;
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_RESERVE, &obj), DDIO_ST_NO_SPACE);
	obj = sc_obj(4, 0, 0, 1000); /* more than is left */
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_RESERVE, &obj), DDIO_ST_NO_SPACE);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->text, "disk d0: file 4"));
	CU_ASSERT_EQUAL(sc_write(c, 5, 0, 0, pattern, 4096), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 3), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 5), DDIO_ST_OK);
	obj = (struct ddio_msg_obj){ .disk = 0, .offset = 3, .len = 10 };
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_LIST, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_obj_list(c->data, c->len, &list), 0);
	CU_ASSERT_EQUAL(list.ids[list.n - 1], 5);
	CU_ASSERT_EQUAL(list.more, 0);
	free(list.ids);
	obj = (struct ddio_msg_obj){ .disk = 0 };
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fsck(c->data, c->len, &check), 0);
	CU_ASSERT_EQUAL(check.problems, 0);
	/* Reserved blocks are on record, though never written. */
	CU_ASSERT_EQUAL(check.blocks, 101);
	/* A repair records everything first. */
	CU_ASSERT_EQUAL(sc_write(c, 6, 0, 0, pattern, 10), DDIO_ST_OK);
	obj.flags = DDIO_OBJ_REPAIR;
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fsck(c->data, c->len, &check), 0);
	CU_ASSERT_EQUAL(check.problems, 0);
	CU_ASSERT_EQUAL(check.blocks, 102);
	CU_ASSERT_EQUAL(sc_read(c, 6, 0, 0, 10), DDIO_ST_OK);
	CU_ASSERT_EQUAL(memcmp(c->bulk, pattern, 10), 0);
	obj.disk = 3;
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_OBJ_LIST, &obj), DDIO_ST_INVALID);
	obj.disk = DDIO_FSCK_NAMES;
	create(sc0, "f", 0, 0, &rec);
	ddio_file_record_free(&rec);
	CU_ASSERT_EQUAL(sc_object(sc0, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj),
			sw_reactor(sw, 0) ? DDIO_ST_INVALID : DDIO_ST_OK);
	sc_free(sc0);
	sc_free(c);
	sw_free(sw);
}

/* A listing with nothing to show for long goes on in other turns. */
static void listing_takes_turns(void)
{
	struct ddio_msg_fs_make make = { .parent = DDIO_FS_ROOT,
					 .flags = DDIO_FS_MAKE_EXCL,
					 .mode = S_IFDIR | 0755,
					 .name = "d" };
	struct ddio_msg_ns_list list = { .max = 10, .dir = "d" };
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0);
	struct ns *ns = sw->iop->ns;
	struct ddio_msg_ns_listing out;
	struct inode in;
	uint32_t i;
	bool made;

	CU_ASSERT_EQUAL(ns_make(ns, NULL, &make, NULL, &in, &made, NULL), 0);
	make.parent = in.ino;
	make.mode = S_IFIFO | 0600;
	inode_free(&in);
	for (i = 0; i < 3000; i++) {
		snprintf(make.name, sizeof(make.name), "p%u", i);
		CU_ASSERT_EQUAL_FATAL(ns_make(ns, NULL, &make, NULL, &in, &made, NULL), 0);
		inode_free(&in);
		if (!(i % 500)) {
			ns_commit(ns, NULL);
			ddio_sim_run_for(sw->world, 1000000000);
		}
	}
	make.mode = S_IFREG | 0600;
	snprintf(make.name, sizeof(make.name), "z");
	CU_ASSERT_EQUAL_FATAL(ns_make(ns, NULL, &make, NULL, &in, &made, NULL), 0);
	inode_free(&in);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, NS_LIST, ns_list, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_ns_listing(c->data, c->len, &out), 0);
	CU_ASSERT(out.n == 1 && !strcmp(out.recs[0].name, "z") && !out.more);
	ddio_ns_listing_free(&out);
	sc_free(c);
	sw_free(sw);
}

/* Checks take their turn like other requests, however many there are. */
static void checks_take_turns(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, 0), *gone = sc_new(sw, 0), *other = sc_new(sw, 0);
	struct ddio_msg_obj obj = { .disk = DDIO_FSCK_NAMES };
	struct bound *turn = &sw->iop->reactors[0].bounds.at[BOUND_CHECKED];
	struct ddio_file_record rec;
	uint8_t buf[200];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);
	uint32_t i, before;
	char name[20];

	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		CU_ASSERT_EQUAL_FATAL(create(other, name, 0, 0, &rec), DDIO_ST_OK);
		ddio_file_record_free(&rec);
	}
	obj.flags = DDIO_OBJ_REPAIR; /* records all of it first */
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_FSCK, &obj), DDIO_ST_OK);
	CU_ASSERT_EQUAL(turn->hits, 0);
	turn->limit = 16;
	before = c->replies;
	for (i = 0; i < 5; i++) {
		sc_send(c, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
		sc_send(gone, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
	}
	sc_free(gone);
	CU_ASSERT_EQUAL(lookup(other, "f7", 0, &rec), DDIO_ST_OK);
	ddio_file_record_free(&rec);
	CU_ASSERT(sc_wait(c, before + 5));
	CU_ASSERT_EQUAL(c->failures, 0);
	CU_ASSERT_EQUAL(turn->most, 16);
	/* Each file is six steps: its records, and the inode in memory. */
	CU_ASSERT(turn->hits >= 5 * 50 * 6 / 16);
	sc_free(other);
	sc_free(c);
	sw_free(sw);
}

/* Those of disks, too: whoever asks something else is answered before the end. */
static void disk_checks_take_turns(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0));
	struct bound *turn = &sw->iop->reactors[sw_reactor(sw, 0)].bounds.at[BOUND_CHECKED];
	struct ddio_msg_obj obj = { .disk = 0 };
	static uint8_t data[4096];
	uint8_t buf[200];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);
	uint32_t i, before;

	for (i = 1; i <= 50; i++)
		CU_ASSERT_EQUAL(sc_write(c, i, 0, 0, data, sizeof(data)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 50), DDIO_ST_OK);
	turn->limit = 1;
	before = c->replies;
	sc_send(c, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
	sc_send(c, DDIO_OP_PING, NULL, 0, NULL, 0);
	CU_ASSERT(sc_wait(c, before + 2));
	CU_ASSERT_EQUAL(c->opcode, DDIO_OP_FSCK);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	/* Each object is two records, and its extent is sorted, compared with others, and with the space before it. */
	CU_ASSERT(turn->most == 1 && turn->hits >= 5 * 50);
	sc_free(c);
	sw_free(sw);
}

static uint32_t checks_waiting(const struct reactor *reactor)
{
	const struct ddio_list *all = &reactor->checks, *at;
	uint32_t n = 0;

	for (at = all->next; at != all; at = at->next)
		n++;
	return n;
}

/* The checks of a client that has gone wait no longer, while another's goes on. */
static void checks_of_the_gone_end(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	struct ddio_msg_obj obj = { .disk = 0, .flags = DDIO_OBJ_REPAIR };
	const struct reactor *reactor;
	struct sc *c, *gone;
	uint8_t buf[200];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);
	uint32_t i, before;

	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=50000";
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	reactor = &sw->iop->reactors[sw_reactor(sw, 0)];
	c = sc_new(sw, sw_reactor(sw, 0));
	gone = sc_new(sw, sw_reactor(sw, 0));
	CU_ASSERT_EQUAL(sc_write(c, 6, 0, 0, pattern, 10), DDIO_ST_OK);
	before = c->replies;
	sc_send(c, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
	sw_run(sw, 5 * MS);
	for (i = 0; i < 5; i++)
		sc_send(gone, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
	sw_run(sw, 5 * MS);
	CU_ASSERT_EQUAL(checks_waiting(reactor), 6);
	sc_free(gone);
	sw_run(sw, 5 * MS);
	CU_ASSERT_EQUAL(checks_waiting(reactor), 1);
	CU_ASSERT(sc_wait(c, before + 1));
	CU_ASSERT_EQUAL(c->failures, 0);
	CU_ASSERT_EQUAL(checks_waiting(reactor), 0);
	sc_free(c);
	sw_free(sw);
}

/* Who has so many requests that nothing more is read from it cannot ask whether the node is there, and is told. */
static void the_paused_hear(void)
{
	struct sw *sw = sw_prepare(SW_ADDR, NULL);
	struct ddio_msg_obj obj = { .disk = 0, .flags = DDIO_OBJ_REPAIR };
	struct sc *c;
	uint8_t buf[200];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);
	uint32_t i, before;

	ddio_conf_free(sw->conf);
	sw->disk_options = "delay_us=50000";
	CU_ASSERT_EQUAL_FATAL(sw_conf(sw, SW_ADDR, sw->err, sizeof(sw->err)), 0);
	CU_ASSERT_EQUAL_FATAL(sw_start_node(sw), 0);
	sw->conf->timeout_ns = 60 * MS;
	c = sc_new(sw, sw_reactor(sw, 0));
	CU_ASSERT_EQUAL(sc_write(c, 6, 0, 0, pattern, 10), DDIO_ST_OK);
	before = c->replies;
	for (i = 0; i < 127; i++)
		sc_send(c, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
	sw_run(sw, 30 * MS);
	CU_ASSERT_EQUAL(c->replies, before);
	sc_send(c, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
	sc_send(c, DDIO_OP_STATUS, NULL, 0, NULL, 0);
	sw_run(sw, 12 * MS);
	CU_ASSERT_EQUAL(c->replies, before + 1);
	CU_ASSERT_EQUAL(c->opcode, DDIO_OP_PING);
	CU_ASSERT_EQUAL(c->tag, 0);
	/* All is answered in the end, and no more is told. */
	sw_run(sw, 600000 * MS);
	CU_ASSERT(c->replies >= before + 130);
	CU_ASSERT_EQUAL(c->failures, 0);
	before = c->replies;
	sw_run(sw, 1000 * MS);
	CU_ASSERT_EQUAL(c->replies, before);
	sc_free(c);
	sw_free(sw);
}

static void status_counts_what_happened(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = sc_new(sw, sw_reactor(sw, 0)), *d = sc_new(sw, sw_reactor(sw, 1));
	struct ddio_msg_obj obj = sc_obj(1, 0, 0, 0);
	struct ddio_msg_status st;
	int i;

	fill(pattern, sizeof(pattern), 3);
	CU_ASSERT_EQUAL(sc_write(c, 1, 0, 0, pattern, 4 * 4096), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(d, 1, 1, 0, pattern, 100), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_sync(c, 1), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_object(c, DDIO_OP_DROP_CACHE, &obj), DDIO_ST_OK);
	for (i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(sc_read(c, 1, 0, i * 4096, 10), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_status(d, &st), DDIO_ST_OK);
	CU_ASSERT_EQUAL(st.node, 0);
	CU_ASSERT_STRING_EQUAL(st.name, "io0");
	CU_ASSERT_EQUAL(st.nreactors, 2);
	CU_ASSERT_EQUAL(st.connections, 2);
	CU_ASSERT_EQUAL(st.requests, 9);
	CU_ASSERT_EQUAL(st.ndisks, 3);
	CU_ASSERT_EQUAL(st.boot, c->welcome.boot);
	CU_ASSERT(st.uptime_ns > 0);
	for (i = 0; i < 3; i++) {
		const struct ddio_disk_status *x = &st.disks[i];

		CU_ASSERT_STRING_EQUAL(x->engine, "mem");
		CU_ASSERT_EQUAL(x->reactor, sw_reactor(sw, x->disk));
		if (x->disk == 0) {
			CU_ASSERT_STRING_EQUAL(x->name, "d0");
			CU_ASSERT_EQUAL(x->cache_misses, 4 + 1);
			CU_ASSERT_EQUAL(x->cache_hits, 3);
			CU_ASSERT_EQUAL(x->prefetches, 3);
			CU_ASSERT_EQUAL(x->prefetch_used, 3);
			CU_ASSERT_EQUAL(x->cache_blocks, 4);
			CU_ASSERT_EQUAL(x->cache_bytes, 4 * 4096);
			CU_ASSERT_EQUAL(x->objects, 1);
			CU_ASSERT_EQUAL(x->read_bytes, 4 * 4096);
		} else if (x->disk == 1) {
			CU_ASSERT_EQUAL(x->cache_dirty, 1);
		}
	}
	CU_ASSERT(st.memory_bytes >= 5 * 4096);
	ddio_status_free(&st);
	sc_free(c);
	sc_free(d);
	sw_free(sw);
}

static const struct ut_case opening[] = {
	{ "WELCOME", welcome_says_what_the_node_has },
	{ "refusals", connections_that_make_no_sense_are_refused },
	{ NULL, NULL },
};

static const struct ut_case names[] = {
	{ "made, found, sized", files_are_made_found_and_sized },
	{ "removed", files_are_removed_in_two_steps },
	{ "the paused hear", the_paused_hear },
	{ "durable", a_durable_change_survives_a_restart },
	{ "many at once", many_files_at_once },
	{ "what cannot be served", names_that_cannot_be_served },
	{ NULL, NULL },
};

static const struct ut_case objects[] = {
	{ "written and read", what_is_written_is_read },
	{ "malformed requests", object_requests_that_make_no_sense },
	{ "sync", a_sync_survives_a_restart_and_an_orderly_stop_loses_nothing },
	{ "truncate and remove", cut_off_bytes_do_not_come_back },
	{ "what comes late", what_comes_late_makes_no_object },
	{ "space", space_is_reserved_listed_and_runs_out },
	{ "listing takes turns", listing_takes_turns },
	{ "checks take turns", checks_take_turns },
	{ "checks of disks take turns", disk_checks_take_turns },
	{ "checks of the gone", checks_of_the_gone_end },
	{ "status", status_counts_what_happened },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "opening", opening },
		{ "names", names },
		{ "objects", objects },
	};

	return ut_run("iop_server", suites, 3);
}
