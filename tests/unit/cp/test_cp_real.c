// SPDX-License-Identifier: GPL-2.0-only
/* tsan */
/*
 * The library as programs use it: by its public functions, with threads,
 * sockets and the clock.  The I/O processors are in this process too, so that
 * the thread sanitizer sees both sides.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include "env/addr.h"
#include "env/real/real.h"
#include "tests/unit/cp/cp_world.h"

enum { NODES = 2, REACTORS = 2, MEMBERS = 4, ELEMS = 100000 };

struct cluster {
	char top[200], conf_path[260];
	struct ddio_conf *conf;
	struct ddio_key key;
	struct cp_real_node {
		struct ddio_env *env[REACTORS];
		struct ddio_iop *iop;
		struct ddio_gate stopped;
		struct ddio_post stop;
	} node[NODES];
};

static unsigned int free_port(void)
{
	uint16_t port;

	if (ddio_ports_free(&port, 1))
		abort();
	return port;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static void quiet(void *arg, enum ddio_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static void node_stopped(void *arg)
{
	struct cp_real_node *n = arg;

	ddio_gate_open(n->env[0], &n->stopped);
}

static void node_start(struct cluster *c, uint32_t i)
{
	static const struct ddio_real_opts opts = { .log = quiet,
						    .name = "node",
						    .engines = ddio_disk_engines };
	struct cp_real_node *n = &c->node[i];
	struct ddio_iop_opts io = { .conf = c->conf,
				    .node = i,
				    .nreactors = REACTORS,
				    .envs = n->env,
				    .key = &c->key,
				    .on_stopped = node_stopped,
				    .arg = n };
	char err[600];
	uint32_t k;

	for (k = 0; k < REACTORS; k++)
		if (ddio_real_new(&opts, &n->env[k]))
			abort();
	ddio_gate_init(&n->stopped);
	if (ddio_iop_start(&io, &n->iop, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	for (k = 0; k < REACTORS; k++)
		if (ddio_real_start_thread(n->env[k]))
			abort();
}

static void node_stop_post(void *arg)
{
	ddio_iop_stop(((struct cp_real_node *)arg)->iop);
}

static void node_end(struct cp_real_node *n)
{
	uint32_t k;

	n->stop.fn = node_stop_post;
	n->stop.arg = n;
	ddio_env_post(n->env[0], &n->stop);
	CU_ASSERT_EQUAL(ddio_gate_wait(n->env[0], &n->stopped, 0), 0);
	for (k = 0; k < REACTORS; k++)
		ddio_real_join_thread(n->env[k]);
	ddio_iop_free(n->iop);
	for (k = 0; k < REACTORS; k++)
		ddio_real_free(n->env[k]);
}

static void cluster_begin_by(struct cluster *c, const char *security)
{
	char text[4096], key[260], err[600];
	uint32_t i;
	int n;

	memset(c, 0, sizeof(*c));
	ut_temp_dir(c->top, sizeof(c->top));
	snprintf(key, sizeof(key), "%s/key", c->top);
	write_file(key, "a key that is long enough", 0600);
	n = snprintf(text, sizeof(text),
		     "[cluster]\nname = real\nkey_file = %s\nblock = 4096\ntimeout = 60s\n"
		     "security = %s\n",
		     key, security);
	for (i = 0; i < NODES; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[node io%u]\naddress = 127.0.0.1:%u\nmeta = %s/io%u\nsync_io = no\n",
			      i, free_port(), c->top, i);
	for (i = 0; i < 2 * NODES; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[disk d%u]\nnode = io%u\nengine = mem\nsize = 16M\n", i, i % NODES);
	snprintf(c->conf_path, sizeof(c->conf_path), "%s/ddio.conf", c->top);
	write_file(c->conf_path, text, 0644);
	if (ddio_conf_load(c->conf_path, &c->conf, err, sizeof(err)) ||
	    ddio_key_load(key, false, &c->key, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	for (i = 0; i < NODES; i++)
		node_start(c, i);
}

static void cluster_begin(struct cluster *c)
{
	cluster_begin_by(c, "none");
}

static void cluster_end(struct cluster *c)
{
	uint32_t i;

	for (i = 0; i < NODES; i++)
		node_end(&c->node[i]);
	ddio_conf_free(c->conf);
	ut_remove_tree(c->top);
}

/*
 * Members
 */
struct member {
	struct cluster *c;
	pthread_t thread;
	uint32_t rank;
	char address[64];
	int faults;
	char text[512];
};

#define NEED(m, s, call)                                                                 \
	do {                                                                             \
		int ret_ = (call);                                                       \
		if (ret_) {                                                              \
			(m)->faults++;                                                   \
			snprintf((m)->text, sizeof((m)->text), "%s: %d %s", #call, ret_, \
				 ddio_last_error(s));                                    \
		}                                                                        \
	} while (0)

static void exchange_shares(struct member *m, struct ddio_session *s, struct ddio_group *g,
			    struct ddio_file *f)
{
	struct ddio_array array = {
		.elem_size = 8,
		.ndims = 1,
		.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = MEMBERS } }
	};
	struct ddio_array blocks = array;
	struct ddio_part cyclic = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_part block = { .kind = DDIO_PART_ARRAY, .array = &blocks };
	struct ddio_transfer t = { .struct_size = sizeof(t) };
	uint64_t *buf = calloc(ELEMS / MEMBERS, 8), i;
	struct ddio_op *op = NULL;
	uint32_t method;

	blocks.dim[0].dist = DDIO_BLOCK;
	t.buf = buf;
	for (method = 1; method <= 4; method++) {
		for (i = 0; i < ELEMS / MEMBERS; i++)
			buf[i] = (i * MEMBERS + m->rank) * method;
		t.method = method;
		t.part = &cyclic;
		NEED(m, s, ddio_write_all(f, g, &t));
		memset(buf, 0, ELEMS / MEMBERS * 8);
		t.part = &block;
		NEED(m, s, ddio_start_read_all(f, g, &t, &op));
		while (ddio_test(op) == -EINPROGRESS)
			sched_yield();
		NEED(m, s, ddio_wait(op));
		for (i = 0; i < ELEMS / MEMBERS; i++)
			m->faults += buf[i] != (i + m->rank * (ELEMS / MEMBERS)) * method;
	}
	free(buf);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = m->c->conf_path };
	struct ddio_session *s = NULL;
	struct ddio_group *g = NULL, *half = NULL;
	struct ddio_file *f = NULL, *own = NULL;
	char name[16], byte = (char)m->rank, back = 99;

	NEED(m, NULL, ddio_connect(&opts, &s));
	if (!s)
		return NULL;
	NEED(m, s, ddio_group_create(s, m->rank, MEMBERS, m->address, &g));
	if (!g)
		goto disconnect;
	NEED(m, s, ddio_open_all(g, "shared", DDIO_CREATE, NULL, &f));
	exchange_shares(m, s, g, f);
	NEED(m, s, ddio_group_split(g, (int)m->rank & 1, 0, &half));
	NEED(m, s, ddio_group_barrier(half));
	snprintf(name, sizeof(name), "own%u", m->rank);
	NEED(m, s, ddio_open(s, name, DDIO_CREATE, NULL, &own));
	m->faults += ddio_pwrite(own, &byte, 1, 100000) != 1;
	m->faults += ddio_pread(own, &back, 1, 100000) != 1 || back != byte;
	NEED(m, s, ddio_sync(own));
	ddio_close(own);
	/* The rest goes with the session. */
disconnect:
	ddio_disconnect(s);
	return NULL;
}

static void members_by(const char *security)
{
	struct member m[MEMBERS];
	struct cluster c;
	unsigned int port;
	uint32_t i;

	cluster_begin_by(&c, security);
	port = free_port();
	for (i = 0; i < MEMBERS; i++) {
		memset(&m[i], 0, sizeof(m[i]));
		m[i].c = &c;
		m[i].rank = i;
		snprintf(m[i].address, sizeof(m[i].address), "127.0.0.1:%u", port);
		if (pthread_create(&m[i].thread, NULL, member_main, &m[i]))
			abort();
	}
	for (i = 0; i < MEMBERS; i++) {
		pthread_join(m[i].thread, NULL);
		CU_ASSERT_EQUAL(m[i].faults, 0);
		if (m[i].faults)
			fprintf(stderr, "rank %u: %s\n", i, m[i].text);
	}
	cluster_end(&c);
}

static void threads_as_members(void)
{
	members_by("none");
}

/* Connections go from one reactor's thread to another's once their handshake is over. */
static void members_by_tls(void)
{
	members_by("tls");
}

/* A session takes keys that are changed while it lasts, and none that is half written. */
static void keys_change(void)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts) };
	struct ddio_conn_opts conn;
	struct ddio_session *s = NULL;
	char key[260], other[300];
	struct cluster c;

	cluster_begin_by(&c, "tls");
	opts.conf = c.conf_path;
	CU_ASSERT_EQUAL_FATAL(ddio_connect(&opts, &s), 0);
	session_conn_opts(s, &conn);
	CU_ASSERT_EQUAL(memcmp(conn.key->bytes, "a key that", 10), 0);
	CU_ASSERT_EQUAL(conn.key->other_len, 0);
	snprintf(key, sizeof(key), "%s/key", c.top);
	snprintf(other, sizeof(other), "%s.2", key);
	write_file(other, "a key that is long enough", 0600);
	write_file(key, "another that is long enough, too", 0600);
	/* As if a second had passed. */
	s->key_looked = 0;
	session_conn_opts(s, &conn);
	CU_ASSERT_EQUAL(memcmp(conn.key->bytes, "another th", 10), 0);
	CU_ASSERT_EQUAL(memcmp(conn.key->other, "a key that", 10), 0);
	write_file(key, "a new", 0600);
	s->key_looked = 0;
	session_conn_opts(s, &conn);
	CU_ASSERT_EQUAL(memcmp(conn.key->bytes, "another th", 10), 0);
	ddio_disconnect(s);
	cluster_end(&c);
}

/*
 * Several threads of one session, each with a group and a file of its own, which threads of another session
 * have, too
 */
enum { SESSIONS = 2, THREADS = 3, TURNS = 12 };

struct session_thread {
	pthread_t thread;
	struct ddio_session *s;
	struct ddio_group *g;
	struct ddio_file *both; /* for all threads of the session */
	pthread_barrier_t *all;
	uint32_t member, number;
	int faults;
};

/* A failure of this thread: its text is about this thread's file, whatever the others do. */
static void fail_once(struct session_thread *w, struct ddio_file *f, const char *name)
{
	struct ddio_extent e = { 1ull << 30, 8 };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	uint64_t word;
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = &word };

	w->faults += ddio_read(f, &t) != -ENODATA;
	pthread_barrier_wait(w->all);
	w->faults += !strstr(ddio_last_error(w->s), name);
	w->faults += ddio_set_size(f, UINT64_MAX) != -EFBIG;
	pthread_barrier_wait(w->all);
	w->faults += !strstr(ddio_last_error(w->s), name);
}

static void *worker_main(void *arg)
{
	struct session_thread *w = arg;
	struct ddio_extent e = { .len = 4096 };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	unsigned char buf[4096];
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	struct ddio_file *f = NULL;
	struct ddio_op *op = NULL;
	char name[16];
	uint32_t i, k;

	snprintf(name, sizeof(name), "worker%u", w->number);
	w->faults += !!ddio_open_all(w->g, name, DDIO_CREATE, NULL, &f);
	for (i = 0; i < TURNS && f; i++) {
		struct ddio_file *to = i % 2 ? w->both : f;

		e.offset = (i % 2 ? w->number * 100000 : 0) + w->member * 4096;
		t.method = 1 + i % 4;
		memset(buf, (int)(w->number * 50 + i), sizeof(buf));
		w->faults += !!ddio_write_all(to, w->g, &t);
		memset(buf, 0, sizeof(buf));
		w->faults += !!ddio_start_read_all(to, w->g, &t, &op);
		fail_once(w, f, name);
		w->faults += !!ddio_wait(op);
		for (k = 0; k < sizeof(buf); k++)
			w->faults += buf[k] != w->number * 50 + i;
	}
	ddio_close(f);
	return NULL;
}

struct session_of {
	struct cluster *c;
	pthread_t thread;
	uint32_t member;
	char address[64];
	int faults;
};

/* Forms the groups in turn; then the threads go their ways. */
static void *session_main(void *arg)
{
	struct session_of *so = arg;
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = so->c->conf_path };
	struct session_thread w[THREADS] = { { 0 } };
	struct ddio_session *s = NULL;
	struct ddio_group *g = NULL;
	struct ddio_file *f = NULL;
	pthread_barrier_t all;
	uint32_t i;

	pthread_barrier_init(&all, NULL, THREADS);
	so->faults += !!ddio_connect(&opts, &s);
	so->faults += !!ddio_group_create(s, so->member, SESSIONS, so->address, &g);
	so->faults += !!ddio_open_all(g, "both", DDIO_CREATE, NULL, &f);
	for (i = 0; i < THREADS; i++) {
		w[i] = (struct session_thread){
			.s = s, .both = f, .all = &all, .member = so->member, .number = i
		};
		so->faults += !!ddio_group_split(g, 0, 0, &w[i].g);
	}
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&w[i].thread, NULL, worker_main, &w[i]))
			abort();
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		so->faults += w[i].faults;
	}
	so->faults += !!ddio_group_barrier(g);
	ddio_disconnect(s);
	pthread_barrier_destroy(&all);
	return NULL;
}

static void threads_of_a_session(void)
{
	struct session_of so[SESSIONS];
	struct cluster c;
	unsigned int port;
	uint32_t i;

	cluster_begin(&c);
	port = free_port();
	for (i = 0; i < SESSIONS; i++) {
		so[i] = (struct session_of){ .c = &c, .member = i };
		snprintf(so[i].address, sizeof(so[i].address), "127.0.0.1:%u", port);
		if (pthread_create(&so[i].thread, NULL, session_main, &so[i]))
			abort();
	}
	for (i = 0; i < SESSIONS; i++) {
		pthread_join(so[i].thread, NULL);
		CU_ASSERT_EQUAL(so[i].faults, 0);
	}
	cluster_end(&c);
}

/*
 * Locks: threads of one session keep each other out as those of two do
 */
enum { LOCKERS = 6, LOCK_TURNS = 20 };

struct locker {
	pthread_t thread;
	struct ddio_file *f;
	atomic_int *inside;
	int faults;
};

static void *locker_main(void *arg)
{
	struct locker *l = arg;
	int i, ret, tries = 0;

	for (i = 0; i < LOCK_TURNS; i++) {
		ret = i % 4 ? ddio_lock(l->f, 0, 100, DDIO_LOCK_EXCLUSIVE)
			    : ddio_lock(l->f, 50, 100, DDIO_LOCK_EXCLUSIVE | DDIO_LOCK_TRY);
		tries += ret == -EAGAIN;
		l->faults += ret && (i % 4 || ret != -EAGAIN);
		if (ret)
			continue;
		l->faults += atomic_fetch_add(l->inside, 1) != 0;
		sched_yield();
		atomic_fetch_sub(l->inside, 1);
		l->faults += !!ddio_unlock(l->f, 0, 150);
	}
	l->faults += tries == LOCK_TURNS;
	return NULL;
}

static void locks_of_threads(void)
{
	struct locker l[LOCKERS] = { { 0 } };
	struct ddio_session *s[2] = { NULL };
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts) };
	atomic_int inside = 0;
	struct cluster c;
	int i;

	cluster_begin(&c);
	opts.conf = c.conf_path;
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(ddio_connect(&opts, &s[i]), 0);
	for (i = 0; i < LOCKERS; i++) {
		l[i].inside = &inside;
		CU_ASSERT_EQUAL_FATAL(ddio_open(s[i % 2], "locked", DDIO_CREATE, NULL, &l[i].f), 0);
		if (pthread_create(&l[i].thread, NULL, locker_main, &l[i]))
			abort();
	}
	for (i = 0; i < LOCKERS; i++) {
		pthread_join(l[i].thread, NULL);
		CU_ASSERT_EQUAL(l[i].faults, 0);
	}
	for (i = 0; i < 2; i++)
		ddio_disconnect(s[i]);
	cluster_end(&c);
}

/*
 * Small transfers of one process each: many at once of several threads, in the file of all
 */
enum { WRITERS = 4, WRITER_ROUNDS = 4, AT_ONCE = 40 };

struct word_writer {
	pthread_t thread;
	struct ddio_session *s;
	pthread_barrier_t *all;
	uint32_t number;
	int faults;
};

static void writer_start(struct word_writer *w, struct ddio_file *f, bool writing, uint32_t *word,
			 struct ddio_op **op)
{
	struct ddio_extent e = { .len = sizeof(*word) };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part };
	uint32_t i;

	for (i = 0; i < AT_ONCE; i++) {
		e.offset = (w->number * AT_ONCE + i) * sizeof(*word);
		t.buf = &word[i];
		w->faults += !!(writing ? ddio_start_write : ddio_start_read)(f, &t, &op[i]);
	}
}

static void writer_end(struct word_writer *w, struct ddio_op **op)
{
	uint32_t i;

	for (i = 0; i < AT_ONCE; i++) {
		ddio_test(op[AT_ONCE - 1]);
		w->faults += !!ddio_wait(op[i]);
	}
}

static void *writer_main(void *arg)
{
	struct word_writer *w = arg;
	struct ddio_op *op[AT_ONCE];
	uint32_t word[AT_ONCE], round, i;
	struct ddio_file *f = NULL;
	char name[16];

	for (round = 0; round < WRITER_ROUNDS; round++) {
		snprintf(name, sizeof(name), "words%u", round);
		w->faults += !!ddio_open(w->s, name, DDIO_CREATE, NULL, &f);
		pthread_barrier_wait(w->all);
		for (i = 0; i < AT_ONCE; i++)
			word[i] = round + (w->number << 8) + i;
		writer_start(w, f, true, word, op);
		writer_end(w, op);
		memset(word, 0, sizeof(word));
		writer_start(w, f, false, word, op);
		writer_end(w, op);
		for (i = 0; i < AT_ONCE; i++)
			w->faults += word[i] != round + (w->number << 8) + i;
		ddio_close(f);
	}
	return NULL;
}

static void small_of_threads(void)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts) };
	struct ddio_session *s[2] = { NULL };
	struct word_writer w[WRITERS];
	pthread_barrier_t all;
	struct cluster c;
	uint32_t i;

	cluster_begin(&c);
	opts.conf = c.conf_path;
	pthread_barrier_init(&all, NULL, WRITERS);
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(ddio_connect(&opts, &s[i]), 0);
	for (i = 0; i < WRITERS; i++) {
		w[i] = (struct word_writer){ .s = s[i % 2], .all = &all, .number = i };
		if (pthread_create(&w[i].thread, NULL, writer_main, &w[i]))
			abort();
	}
	for (i = 0; i < WRITERS; i++) {
		pthread_join(w[i].thread, NULL);
		CU_ASSERT_EQUAL(w[i].faults, 0);
	}
	for (i = 0; i < 2; i++)
		ddio_disconnect(s[i]);
	pthread_barrier_destroy(&all);
	cluster_end(&c);
}

/* What cannot be connected to. */
static void connecting(void)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts) };
	struct ddio_session *s = NULL;
	struct ddio_file *f;
	char top[200], path[260], key[260], text[1024];

	ut_temp_dir(top, sizeof(top));
	snprintf(path, sizeof(path), "%s/ddio.conf", top);
	snprintf(key, sizeof(key), "%s/key", top);
	opts.conf = path;
	CU_ASSERT_EQUAL(ddio_connect(&opts, &s), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(NULL), path));
	write_file(path, "[cluster]\nnam = x\n", 0644);
	CU_ASSERT_EQUAL(ddio_connect(&opts, &s), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(NULL), ":2:"));
	snprintf(text, sizeof(text),
		 "[cluster]\nname = x\nkey_file = %s\n[node a]\naddress = 127.0.0.1:%u\n"
		 "meta = %s/a\n[disk d]\nnode = a\nengine = mem\nsize = 1M\n",
		 key, free_port(), top);
	write_file(path, text, 0644);
	write_file(key, "everybody can read this key", 0644);
	CU_ASSERT_EQUAL(ddio_connect(&opts, &s), -EACCES);
	CU_ASSERT_PTR_NULL(s);
	chmod(key, 0600);
	opts.flags = 1;
	CU_ASSERT_EQUAL(ddio_connect(&opts, &s), -EINVAL);
	opts.flags = 0;
	setenv("DDIO_CONF", path, 1);
	opts.conf = NULL;
	CU_ASSERT_EQUAL(ddio_connect(&opts, &s), 0);
	CU_ASSERT_EQUAL(ddio_open(s, "f", 0, NULL, &f), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(s), "node a"));
	ddio_disconnect(s);
	ddio_disconnect(NULL);
	unsetenv("DDIO_CONF");
	CU_ASSERT_STRING_EQUAL(ddio_version(), "0.2.0");
	ut_remove_tree(top);
}

/*
 * Calls in the middle of another, as a signal handler may make them that interrupts a thread which runs the session's loop
 */
struct insider {
	struct ddio_session *s;
	struct ddio_file *f;
	struct ddio_post post;
	struct ddio_gate gate;
	int opened, read;
};

static void call_inside(void *arg)
{
	struct ddio_part part = { .kind = DDIO_PART_VIEW };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part };
	struct insider *in = arg;
	struct ddio_file *f = NULL;

	in->opened = ddio_open(in->s, "inside", 0, NULL, &f);
	in->read = ddio_read(in->f, &t);
	ddio_disconnect(in->s);
	ddio_gate_open(in->s->env, &in->gate);
}

static void calls_inside(void)
{
	struct insider in = { .post = { .fn = call_inside, .arg = &in } };
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts) };
	struct cluster c;

	cluster_begin(&c);
	opts.conf = c.conf_path;
	CU_ASSERT_EQUAL_FATAL(ddio_connect(&opts, &in.s), 0);
	CU_ASSERT_EQUAL(ddio_open(in.s, "inside", DDIO_CREATE, NULL, &in.f), 0);
	ddio_gate_init(&in.gate);
	CU_ASSERT_EQUAL(ddio_env_call(in.s->env, &in.post, &in.gate), 0);
	CU_ASSERT_EQUAL(in.opened, -EDEADLK);
	CU_ASSERT_EQUAL(in.read, -EDEADLK);
	/* The session lives. */
	CU_ASSERT_EQUAL(ddio_pwrite(in.f, "x", 1, 0), 1);
	ddio_close(in.f);
	ddio_disconnect(in.s);
	cluster_end(&c);
}

/*
 * Threads of one session that accept disks, and look at them, while lanes come and go
 */
static int disk_seen(void *arg, const struct ddio_disk_state *st)
{
	(void)st;
	++*(uint32_t *)arg;
	return 0;
}

static void *replace_main(void *arg)
{
	static const char *const disks[] = { "d0" };
	struct ddio_session *s = arg;
	int i;

	/* Each has the lanes of others fail, whose requests may fail with them. */
	for (i = 0; i < 20; i++) {
		(void)ddio_replace(s, disks, 1);
		(void)ddio_replace(s, NULL, 0);
	}
	return NULL;
}

static void *disks_main(void *arg)
{
	struct ddio_session *s = arg;
	uint32_t seen = 0;
	int i;

	for (i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(ddio_disks(s, disk_seen, &seen), 0);
	CU_ASSERT(seen >= 40);
	return NULL;
}

static void admin_by_threads(void)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts) };
	static const char *const none[] = { "none" };
	struct ddio_session *s = NULL;
	pthread_t thread[3];
	struct cluster c;
	uint32_t i;

	cluster_begin(&c);
	opts.conf = c.conf_path;
	CU_ASSERT_EQUAL_FATAL(ddio_connect(&opts, &s), 0);
	for (i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, i ? replace_main : disks_main, s))
			abort();
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	CU_ASSERT_EQUAL(ddio_replace(s, none, 1), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(s), "there is no disk none"));
	CU_ASSERT_EQUAL(ddio_replace(s, NULL, 0), 0);
	ddio_disconnect(s);
	cluster_end(&c);
}

static const struct ut_case cases[] = {
	{ "connecting", connecting },
	{ "calls in the middle of a call", calls_inside },
	{ "threads as members", threads_as_members },
	{ "threads as members, by TLS", members_by_tls },
	{ "keys change", keys_change },
	{ "threads of a session", threads_of_a_session },
	{ "locks of threads", locks_of_threads },
	{ "small transfers of threads", small_of_threads },
	{ "administration by threads", admin_by_threads },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "real", cases } };

	return ut_run("cp_real", suites, 1);
}
