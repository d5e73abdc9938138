// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a change of the name space costs in the record store (userlib/iop/kv: a journal, layers in
 * memory, commits in the background), beside one LMDB transaction for each batch of requests.
 *
 *   bench_kv [REQUESTS [ROUNDS [DIR]]]     Default: 40000 5 /tmp
 *
 * A request is what making a file does: three reads (directory, name, earlier result), five puts
 * (inode, name, order, directory, result) and a delete (a result that has arrived).  Before that there are
 * REQUESTS files.  The ways, with 1, 4 and 16 requests a batch:
 *   journal          the record store with sync_io = yes: its commits are flushed
 *   journal, no sync the same with sync_io = no
 *   LMDB, flushed    a transaction a batch, flushed: the guarantee of sync_io = yes, and more (by a 50th of
 *                    the requests)
 *   LMDB, no sync    MDB_NOSYNC: survives the process's death; the machine's may destroy the whole file
 *   LMDB, map        the same with MDB_WRITEMAP
 *
 * Each round measures every way in turn; what is printed are medians of the rounds, in microseconds a
 * request: elapsed on the reactor until the last commit has ended, and the processor time of all
 * threads; then the longest batch of all rounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "env/real/real.h"
#include "iop/kv/kv.h"
#include "iop/lmdb/key.h"
#include "tests/unit/iop/store/ut_store.h"

enum { INODES, NAMES, ORDER, DONE, DBS, ROUNDS_MAX = 99, SIZES = 3, WAYS = 5, FEWER = 50 };

static const char *const names[DBS + 1] = { "inodes", "names", "order", "done" };
static const uint32_t sizes[SIZES] = { 1, 4, 16 };

/* LMDB itself: with @flags; the record store: with @sync. */
static const struct kv_way {
	const char *name;
	bool lmdb, sync;
	unsigned int flags;
} ways[WAYS] = {
	{ "journal", false, true, 0 },
	{ "journal, no sync", false, false, 0 },
	{ "LMDB, flushed", true, true, 0 },
	{ "LMDB, no sync", true, false, MDB_NOSYNC },
	{ "LMDB, map", true, false, MDB_NOSYNC | MDB_WRITEMAP },
};

/**
 * struct kv_bench - one way of keeping records, and how far it has come
 * @kv: or else @lmdb with @txn
 */
struct kv_bench {
	struct ddio_env *env;
	struct kv *kv;
	MDB_env *lmdb;
	MDB_txn *txn;
	MDB_dbi dbi[DBS];
	uint64_t next, end, longest;
	uint32_t batch;
	struct ddio_post post;
	struct ddio_gate gate;
	struct commit commit;
};

/**
 * struct kv_figures - nanoseconds a request, by round
 */
struct kv_figures {
	double wall[ROUNDS_MAX], cpu[ROUNDS_MAX];
	uint64_t longest;
};

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "bench_kv: %s: %s\n", what, mdb_strerror(ret < 0 ? -ret : ret));
	exit(1);
}

static void get(struct kv_bench *b, int db, const void *key, size_t len)
{
	MDB_val k = lmdb_val(key, len), v;
	const void *value;
	size_t value_len;
	int ret;

	if (b->kv)
		ret = kv_get(b->kv, (uint8_t)db, key, len, &value, &value_len);
	else
		ret = lmdb_errno(mdb_get(b->txn, b->dbi[db], &k, &v));
	must(ret == -ENOENT ? 0 : ret, "get");
}

static void put(struct kv_bench *b, int db, const void *key, size_t len, size_t value_len)
{
	static uint8_t value[256];
	MDB_val k = lmdb_val(key, len), v = lmdb_val(value, value_len);

	if (b->kv)
		must(kv_put(b->kv, (uint8_t)db, key, len, value, value_len), "put");
	else
		must(mdb_put(b->txn, b->dbi[db], &k, &v, 0), "put");
}

static void del(struct kv_bench *b, int db, const void *key, size_t len)
{
	MDB_val k = lmdb_val(key, len);
	int ret;

	if (b->kv)
		ret = kv_del(b->kv, (uint8_t)db, key, len);
	else
		ret = lmdb_errno(mdb_del(b->txn, b->dbi[db], &k, NULL));
	must(ret == -ENOENT ? 0 : ret, "delete");
}

/* Makes file @n, by one of 100 mounts in one of 100 directories. */
static void request(struct kv_bench *b, uint64_t n)
{
	uint8_t dir[REC_KEY_LEN], ino[REC_KEY_LEN], order[16], name[32], done[24];
	size_t name_len;

	rec_key(dir, 1 + n % 100);
	rec_key(ino, 1000 + n);
	rec_key(order, 1 + n % 100);
	rec_key(order + 8, n);
	memcpy(name, dir, sizeof(dir));
	name_len = 8 + (size_t)snprintf((char *)name + 8, 24, "file.%llu", (unsigned long long)n);
	memset(done, (int)(n % 100), 16);
	rec_key(done + 16, n);
	if (b->kv)
		kv_begin(b->kv);
	get(b, DONE, done, sizeof(done));
	get(b, INODES, dir, sizeof(dir));
	get(b, NAMES, name, name_len);
	put(b, INODES, ino, sizeof(ino), 160);
	put(b, NAMES, name, name_len, 28);
	put(b, ORDER, order, sizeof(order), 28 + name_len);
	put(b, INODES, dir, sizeof(dir), 170);
	put(b, DONE, done, sizeof(done), 28);
	rec_key(done + 16, n - 100);
	del(b, DONE, done, sizeof(done));
	if (b->kv)
		must(kv_end(b->kv), "journal");
}

static void over(struct commit *commit, int err)
{
	struct kv_bench *b = commit->arg;

	must(err, "commit");
	ddio_gate_open(b->env, &b->gate);
}

static void batch(void *arg)
{
	struct kv_bench *b = arg;
	uint64_t began = ddio_env_now(b->env), took;
	uint32_t i;

	if (b->lmdb)
		must(mdb_txn_begin(b->lmdb, NULL, 0, &b->txn), "begin");
	for (i = 0; i < b->batch && b->next < b->end; i++)
		request(b, b->next++);
	if (b->lmdb)
		must(mdb_txn_commit(b->txn), "commit");
	took = ddio_env_now(b->env) - began;
	b->longest = took > b->longest ? took : b->longest;
	if (b->next < b->end)
		ddio_env_post(b->env, &b->post);
	else if (b->kv)
		kv_commit(b->kv, &b->commit);
	else
		ddio_gate_open(b->env, &b->gate);
}

static uint64_t cpu_ns(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000u;
}

static void run(struct kv_bench *b, uint64_t from, uint64_t n, uint32_t size)
{
	b->next = from;
	b->end = from + n;
	b->batch = size;
	b->longest = 0;
	b->post = (struct ddio_post){ .fn = batch, .arg = b };
	b->commit = (struct commit){ .done = over, .arg = b };
	ddio_gate_init(&b->gate);
	ddio_env_post(b->env, &b->post);
	must(ddio_gate_wait(b->env, &b->gate, 0), "wait");
}

static void open_lmdb(struct kv_bench *b, const char *dir, unsigned int flags)
{
	MDB_txn *txn;
	int i;

	must(mkdir(dir, 0700) ? errno : 0, dir);
	must(mdb_env_create(&b->lmdb), "lmdb");
	must(mdb_env_set_maxdbs(b->lmdb, DBS), "lmdb");
	must(mdb_env_set_mapsize(b->lmdb, (size_t)4 << 30), "lmdb");
	must(mdb_env_open(b->lmdb, dir, MDB_NOTLS | flags, 0600), dir);
	must(mdb_txn_begin(b->lmdb, NULL, 0, &txn), "lmdb");
	for (i = 0; i < DBS; i++)
		must(mdb_dbi_open(txn, names[i], MDB_CREATE, &b->dbi[i]), "lmdb");
	must(mdb_txn_commit(txn), "lmdb");
}

static void open_kv(struct kv_bench *b, const char *dir, bool sync)
{
	struct kv_opts opts = { .dir = dir, .map = (size_t)4 << 30, .sync = sync };
	char err[500];
	int i;

	for (i = 0; i < DBS; i++)
		opts.dbs[i] = names[i];
	if (!kv_open(b->env, &opts, &b->kv, err, sizeof(err)))
		return;
	fprintf(stderr, "bench_kv: %s\n", err);
	exit(1);
}

static void measure(const char *top, const struct kv_way *way, uint32_t size, uint64_t n,
		    struct kv_figures *f, uint32_t round)
{
	struct kv_bench b = { .env = NULL };
	uint64_t wall, cpu;
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/db", top);
	must(ddio_real_new(NULL, &b.env), "environment");
	if (way->lmdb)
		open_lmdb(&b, dir, way->flags);
	else
		open_kv(&b, dir, way->sync);
	must(ddio_real_start_thread(b.env), "thread");
	run(&b, 1000, n, 1000);
	n = way->lmdb && way->sync ? n / FEWER + 1 : n;
	wall = ddio_env_now(b.env);
	cpu = cpu_ns();
	run(&b, b.end, n, size);
	f->wall[round] = (double)(ddio_env_now(b.env) - wall) / (double)n;
	f->cpu[round] = (double)(cpu_ns() - cpu) / (double)n;
	f->longest = b.longest > f->longest ? b.longest : f->longest;
	ddio_real_join_thread(b.env);
	if (way->lmdb)
		mdb_env_close(b.lmdb);
	else
		kv_close(b.kv);
	ddio_real_free(b.env);
	ut_remove_tree(dir);
}

static int order(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static double median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), order);
	return v[n / 2];
}

int main(int argc, char **argv)
{
	static struct kv_figures figures[WAYS][SIZES];
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000;
	uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5, round;
	char top[200];
	int way, s;

	if (argc > 3)
		setenv("TMPDIR", argv[3], 1);
	if (!n || !rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_kv [REQUESTS [ROUNDS [DIR]]]\n");
		return 2;
	}
	ut_temp_dir(top, sizeof(top));
	for (round = 0; round < rounds; round++)
		for (s = 0; s < SIZES; s++)
			for (way = 0; way < WAYS; way++)
				measure(top, &ways[way], sizes[s], n, &figures[way][s], round);
	printf("us a request     batch  elapsed      cpu  longest batch\n");
	for (way = 0; way < WAYS; way++) {
		for (s = 0; s < SIZES; s++) {
			struct kv_figures *f = &figures[way][s];

			printf("%-16s %5u %8.2f %8.2f %8.0f\n", ways[way].name, sizes[s],
			       median(f->wall, rounds) / 1e3, median(f->cpu, rounds) / 1e3,
			       (double)f->longest / 1e3);
		}
	}
	ut_remove_tree(top);
	return 0;
}
