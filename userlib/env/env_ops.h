/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For those who make a world: the table behind struct ddio_env.  Users of an
 * env include env.h only.
 */
#ifndef DDIO_ENV_OPS_H
#define DDIO_ENV_OPS_H

#include "env/env.h"

/* The members mean what the functions of the same name in env.h say. */
struct ddio_env_ops {
	const char *name;
	uint64_t (*now)(struct ddio_env *env);
	uint64_t (*wall)(struct ddio_env *env);
	int (*timer_arm)(struct ddio_env *env, struct ddio_timer *timer, uint64_t when_ns);
	void (*timer_cancel)(struct ddio_env *env, struct ddio_timer *timer);
	void (*post)(struct ddio_env *env, struct ddio_post *post);
	void (*offload)(struct ddio_env *env, struct ddio_offload *offload);
	void (*gate_open)(struct ddio_env *env, struct ddio_gate *gate);
	int (*gate_wait)(struct ddio_env *env, struct ddio_gate *gate, uint64_t deadline_ns);
	void (*random)(struct ddio_env *env, void *buf, size_t len);
	void (*log)(struct ddio_env *env, enum ddio_log_level level, const char *fmt, va_list ap);
	void (*charge)(struct ddio_env *env, enum ddio_work work, uint64_t n); /* may be NULL */
	int (*stream_connect)(struct ddio_env *env, const char *addr,
			      const struct ddio_stream_ops *ops, void *ctx,
			      struct ddio_stream **stream);
	int (*stream_attach)(struct ddio_env *env, struct ddio_stream *stream);
	int (*listen)(struct ddio_env *env, const char *addr, ddio_accept_fn accept, void *ctx,
		      struct ddio_listener **listener);
	/* Disk engines this world offers, NULL-terminated. */
	const struct ddio_disk_engine *const *engines;
};

struct ddio_env {
	const struct ddio_env_ops *ops;
	struct ddio_list buses; /* emulated buses by name: see disk_hp97560.c */
};

struct ddio_stream_vtable {
	void (*set_ops)(struct ddio_stream *stream, const struct ddio_stream_ops *ops, void *ctx);
	ssize_t (*readv)(struct ddio_stream *stream, const struct iovec *iov, int n);
	ssize_t (*writev)(struct ddio_stream *stream, const struct iovec *iov, int n);
	void (*want_read)(struct ddio_stream *stream, bool want);
	void (*want_write)(struct ddio_stream *stream, bool want);
	const char *(*peer)(const struct ddio_stream *stream);
	bool (*is_loopback)(const struct ddio_stream *stream);
	void (*detach)(struct ddio_stream *stream);
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

/**
 * struct ddio_disk_engine - one kind of disk
 * @name: as in the configuration
 * @help: one line
 * @open: allocates and fills @disk->info; the wrapper has set the rest
 * @close: frees
 * @submit: takes a request that the wrapper has checked; ends in ddio_disk_complete()
 * @commit: optional
 * @stats: optional: fills in what only the engine knows
 * @options: table ended by a NULL name; parsed by the wrapper into the engine's own struct
 */
struct ddio_disk_engine {
	const char *name;
	const char *help;
	int (*open)(struct ddio_env *env, const struct ddio_disk_spec *spec,
		    struct ddio_disk **disk, char *err, size_t err_len);
	void (*close)(struct ddio_disk *disk);
	void (*submit)(struct ddio_disk *disk, struct ddio_disk_req *req);
	void (*commit)(struct ddio_disk *disk);
	void (*stats)(const struct ddio_disk *disk, struct ddio_disk_stats *stats);
	const struct ddio_engine_option *options;
};

/**
 * struct ddio_engine_option - one option of an engine, next to the code that reads it
 */
struct ddio_engine_option {
	const char *name;
	enum { DDIO_OPT_BOOL, DDIO_OPT_U64, DDIO_OPT_DOUBLE, DDIO_OPT_TEXT } type;
	size_t offset; /* in the engine's option struct */
	double min, max;
	const char *help;
};

/* Embedded first in every engine's own struct. */
struct ddio_disk {
	const struct ddio_disk_engine *engine;
	struct ddio_env *env;
	char *name;
	struct ddio_disk_info info;
	struct ddio_disk_stats stats;
	uint64_t busy_since;
	uint64_t inject_n;
	int inject_op, inject_status;
};

/* Called by an engine, from the loop: ends the request, does the counting, calls done. */
void ddio_disk_complete(struct ddio_disk *disk, struct ddio_disk_req *req, int status);

#endif /* DDIO_ENV_OPS_H */
