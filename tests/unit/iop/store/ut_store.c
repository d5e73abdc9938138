// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <ftw.h>
#include "base/rand.h"
#include "iop/store/priv.h"
#include "tests/unit/iop/store/ut_store.h"

static int ut_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void ut_remove_tree(const char *path)
{
	nftw(path, ut_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

void ut_temp_dir(char *path, size_t len)
{
	const char *base = getenv("TMPDIR");

	snprintf(path, len, "%s/ddio-ut-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(path))
		abort();
}

void ut_copy_file(const char *from, const char *to)
{
	char buf[65536];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t n;

	if (!in || !out)
		abort();
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		if (fwrite(buf, 1, n, out) != n)
			abort();
	fclose(in);
	fclose(out);
}

void ut_store_disk(struct ut_store *t)
{
	char err[300];

	if (ddio_disk_open(t->env, &t->spec, &t->disk, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
}

int ut_store_open(struct ut_store *t)
{
	if (!t->disk)
		ut_store_disk(t);
	t->err[0] = '\0';
	return store_open(t->env, t->disk, &t->opts, &t->store, t->err, sizeof(t->err));
}

void ut_store_close(struct ut_store *t)
{
	store_close(t->store);
	ddio_disk_close(t->disk);
	t->store = NULL;
	t->disk = NULL;
}

void ut_store_prepare(struct ut_store *t, uint64_t size)
{
	memset(t, 0, sizeof(*t));
	ut_temp_dir(t->top, sizeof(t->top));
	snprintf(t->recs, sizeof(t->recs), "%s/recs/d0", t->top);
	snprintf(t->file, sizeof(t->file), "%s/disk", t->top);
	t->world = ddio_sim_new(1);
	t->env = ddio_sim_env(t->world, "io0");
	t->spec = (struct ddio_disk_spec){
		.name = "d0", .engine = "mem", .path = t->file, .size = size, .create = true
	};
	t->opts = (struct store_opts){
		.dir = t->recs, .cluster = "demo", .disk_name = "d0", .disk = 7, .sums = true
	};
}

void ut_store_copy(struct ut_store *copy, const struct ut_store *t, uint64_t size)
{
	char from[300], to[300];

	ut_store_prepare(copy, size);
	snprintf(to, sizeof(to), "%.200s/recs", copy->top);
	mkdir(to, 0700);
	mkdir(copy->recs, 0700);
	snprintf(from, sizeof(from), "%s/data.mdb", t->recs);
	snprintf(to, sizeof(to), "%s/data.mdb", copy->recs);
	ut_copy_file(from, to);
	ut_copy_file(t->file, copy->file);
}

void ut_store_raw(const struct ut_store *t, uint64_t at, void *data, size_t len, bool write)
{
	int fd = open(t->file, O_RDWR);
	ssize_t n = write ? pwrite(fd, data, len, (off_t)at) : pread(fd, data, len, (off_t)at);

	if (fd < 0 || n != (ssize_t)len)
		abort();
	close(fd);
}

void ut_stamp(uint8_t *data, size_t len, uint64_t stamp)
{
	uint64_t state = stamp, word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		word = ddio_rand_next(&state);
		memcpy(data + i, &word, sizeof(word));
	}
}

bool ut_block_has(struct ut_store *t, struct object *obj, uint64_t block, uint64_t stamp)
{
	uint8_t data[4096], want[sizeof(data)];
	uint64_t start, run;
	bool written;
	size_t len;

	if (!obj || !object_lookup(obj, block, &start, &run, &written) || !written)
		return !stamp;
	len = obj->ref.block;
	if (len > sizeof(data))
		abort();
	ut_stamp(want, len, stamp);
	ut_store_raw(t, start, data, len, false);
	return stamp && !memcmp(data, want, len) && !object_check(obj, block, data);
}

void ut_store_begin(struct ut_store *t, uint64_t size)
{
	ut_store_prepare(t, size);
	if (ut_store_open(t)) {
		fprintf(stderr, "%s\n", t->err);
		abort();
	}
}

void ut_store_end(struct ut_store *t)
{
	ut_store_close(t);
	ddio_sim_free(t->world);
	ut_remove_tree(t->top);
}

int ut_store_reopen(struct ut_store *t)
{
	ut_store_close(t);
	return ut_store_open(t);
}

static void ut_commit_done(struct commit *commit, int err)
{
	struct ut_commit *c = commit->arg;

	c->err = err;
	ddio_gate_open(c->env, &c->gate);
}

void ut_commit_init(struct ut_commit *c, struct ddio_env *env)
{
	memset(c, 0, sizeof(*c));
	c->commit.done = ut_commit_done;
	c->commit.arg = c;
	c->env = env;
	ddio_gate_init(&c->gate);
}

int ut_commit_wait(struct ut_commit *c)
{
	int ret = ddio_gate_wait(c->env, &c->gate, 0);

	return ret ? ret : c->err;
}

int ut_store_commit(struct ut_store *t)
{
	struct ut_commit c;

	ut_commit_init(&c, t->env);
	store_commit(t->store, &c.commit);
	return ut_commit_wait(&c);
}

struct ddio_file_ref ut_ref(uint64_t id, uint32_t block, uint32_t layout)
{
	return (struct ddio_file_ref){
		.id = id, .seed = id * 77 + 1, .block = block, .layout = layout
	};
}

struct object *ut_object(struct ut_store *t, uint64_t id, uint32_t block, uint32_t layout,
			 bool create)
{
	struct ddio_file_ref ref = ut_ref(id, block, layout);
	struct object *obj = NULL;

	return store_get(t->store, &ref, create, &obj) ? NULL : obj;
}

int ut_fill(struct object *obj, uint64_t first, uint64_t count)
{
	int ret = object_alloc(obj, first, count);

	if (!ret)
		object_written(obj, first, count);
	return ret;
}

uint64_t ut_store_clean(struct ut_store *t)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_store_check(t->store, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	if (fsck.problems)
		fprintf(stderr, "%s\n", fsck.text);
	return fsck.free_bytes;
}
