/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table behind struct ddio_env, for worlds.  Users of an env include env.h only.
 */
#ifndef DDIO_ENV_OPS_H
#define DDIO_ENV_OPS_H

#include "env/env.h"

struct ddio_aside;
struct ddio_disk_engine;
struct ddio_mail_ops;
struct ddio_mailbox;
struct ddio_medium;
struct ddio_memory_use;

/**
 * struct ddio_gong - in memory that processes of one machine share
 * @sounded: how often
 * @asleep: how many sleep until it sounds again, or were killed while they did
 */
struct ddio_gong {
	_Atomic uint32_t sounded, asleep;
};

/* The members mean what the functions of the same name in env.h say. */
struct ddio_env_ops {
	const char *name;
	uint64_t (*now)(struct ddio_env *env);
	uint64_t (*wall)(struct ddio_env *env);
	int (*timer_arm)(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns);
	void (*timer_cancel)(struct ddio_env *env, struct ddio_timer *timer);
	void (*post)(struct ddio_env *env, struct ddio_post *post);
	/* May be NULL: post(). */
	void (*post_later)(struct ddio_env *env, struct ddio_post *post);
	void (*offload)(struct ddio_env *env, struct ddio_offload *offload);
	/* See aside.h; NULL: threads make the calls. */
	int (*aside)(struct ddio_env *env, struct ddio_aside *aside);
	/* A file has been flushed; may be NULL. */
	void (*file_flushed)(struct ddio_env *env, int fd);
	void (*gate_open)(struct ddio_env *env, struct ddio_gate *gate);
	int (*gate_wait)(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);
	/* May be NULL: post() and gate_wait(). */
	int (*call)(struct ddio_env *env, struct ddio_post *post, struct ddio_gate *gate);
	/* May be NULL: nobody but its own thread runs the loop. */
	void (*serve)(struct ddio_env *env, bool serve);
	/* Both may be NULL: there are no descriptors. */
	int (*watcher_start)(struct ddio_env *env, struct ddio_watcher *watcher);
	void (*watcher_stop)(struct ddio_env *env, struct ddio_watcher *watcher);
	void (*random)(struct ddio_env *env, void *buf, size_t len);
	void (*log)(struct ddio_env *env, enum ddio_log_level level, const char *fmt, va_list ap);
	void (*charge)(struct ddio_env *env, enum ddio_work work, uint64_t n); /* may be NULL */
	int (*stream_connect)(struct ddio_env *env, const char *addr,
			      const struct ddio_stream_ops *ops, void *ctx,
			      struct ddio_stream **stream);
	int (*stream_attach)(struct ddio_env *env, struct ddio_stream *stream);
	int (*listen)(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		      struct ddio_listener **listener);
	/* Returns the world's medium of that name, which outlives its user, or NULL.  NULL in
	 * worlds without media. */
	struct ddio_medium *(*medium)(struct ddio_env *env, const char *path);
	/* How processes of this world send each other descriptors; NULL: they cannot. */
	const struct ddio_mail_ops *mail;
	/* All may be NULL: streams go through no memory. */
	bool (*memory_possible)(const struct ddio_stream *stream);
	int (*memory_offer)(struct ddio_stream **stream, const char *name, const uint8_t *token);
	int (*memory_take)(struct ddio_stream **stream, struct ddio_mailbox *box);
	void (*memory_use)(const struct ddio_env *env, struct ddio_memory_use *use);
	/*
	 * Both may be NULL.  Waits until @gong has sounded since it was looked at, when it had done so @seen times, or until
	 * @deadline_ns, or for nothing.  Return: 0; NULL only asks whether one may wait: -EDEADLK on the reactor.
	 */
	int (*gong_wait)(struct ddio_env *env, struct ddio_gong *gong, uint32_t seen,
			 uint64_t deadline_ns);
	void (*gong_sound)(struct ddio_env *env, struct ddio_gong *gong);
	/* See struct ddio_stream_vtable.  NULL: false. */
	bool (*seals)(void);
	/* Buffers of less than a huge page come from the heap, where sanitizers see their ends. */
	bool heap;
};

struct ddio_env {
	const struct ddio_env_ops *ops;
	const struct ddio_disk_engine *const *engines; /* NULL-terminated; NULL: none */
	struct ddio_list buses;	 /* emulated buses by name: see env/disk/hp97560.c */
	struct ddio_list asides; /* see aside.h */
	void *scratch;		 /* see ddio_env_scratch() */
	size_t scratch_len;
	struct env_spare { /* see ddio_env_spare_get() */
		void *buf;
		size_t len;
	} spare[ENV_SPARES];
	uint64_t awaited;  /* see ddio_env_await() */
	uint64_t served;   /* see ddio_env_await_service() */
	struct env_lines { /* see lines.h */
		uint64_t since, left_out, told;
		uint32_t n;
	} lines;
	struct arena *arena; /* where ddio_env_alloc() looks first, once an engine wants it */
	struct kenv *kenv;   /* see kenv.h */
};

/* Frees what env.c has allocated; called by a world before it frees its env. */
void ddio_env_fini(struct ddio_env *env);

/**
 * struct env_record_key - a key of TLS 1.3, AES-128-GCM, for one direction of a connection
 * @iv: from which the nonces follow
 */
struct env_record_key {
	uint8_t key[16], iv[12];
};

struct ddio_stream_vtable {
	void (*set_ops)(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx);
	ssize_t (*readv)(struct ddio_stream *stream, const struct iovec *iov, int n);
	ssize_t (*writev)(struct ddio_stream *stream, const struct iovec *iov, int n);
	void (*want_read)(struct ddio_stream *stream, bool want);
	void (*want_write)(struct ddio_stream *stream, bool want);
	/* Of streams through memory. */
	void (*divert_out)(struct ddio_stream *stream, uint64_t after);
	void (*divert_in)(struct ddio_stream *stream);
	const char *(*peer)(const struct ddio_stream *stream);
	const char *(*local)(struct ddio_stream *stream); /* may be NULL: not known */
	bool (*is_loopback)(const struct ddio_stream *stream);
	const char *(*why)(const struct ddio_stream *stream); /* may be NULL: "" */
	/* May be NULL: it has none. */
	bool (*binding)(const struct ddio_stream *stream, void *secret, size_t len);
	/*
	 * All may be NULL; whether they can be used, ddio_env_seals() tells.  From seal() on, the kernel makes records of TLS of what is written
	 * (@out), or takes what is read from records; another call replaces the key.  readv() returns -ENOMSG before a record that
	 * carries no data, which special_get() takes.  Both return bytes, or -errno.
	 */
	int (*seal)(struct ddio_stream *stream, bool out, const struct env_record_key *key);
	ssize_t (*special_get)(struct ddio_stream *stream, uint8_t *type, void *buf, size_t len);
	ssize_t (*special_put)(struct ddio_stream *stream, uint8_t type, const void *buf,
			       size_t len);
	void (*detach)(struct ddio_stream *stream);
	/* Of a stream that another one carries; NULL: the world's stream_attach(). */
	int (*attach)(struct ddio_env *env, struct ddio_stream *stream);
	void (*close)(struct ddio_stream *stream);
};

struct ddio_stream {
	const struct ddio_stream_vtable *vt;
	struct ddio_env *env;
};

struct ddio_listener_vtable {
	const char *(*addr)(const struct ddio_listener *listener);
	void (*close)(struct ddio_listener *listener);
};

struct ddio_listener {
	const struct ddio_listener_vtable *vt;
	struct ddio_env *env;
};

#endif /* DDIO_ENV_OPS_H */
