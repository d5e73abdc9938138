// SPDX-License-Identifier: LGPL-2.1-or-later
/* The real world's entrance: a reactor is made, run on a thread, and freed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "env/local/mailbox.h"
#include "env/real/memory.h"
#include "env/real/priv.h"
#include "env/real/seal.h"

static void *real_thread(void *arg)
{
	struct ddio_env *env = arg;
	int ret = real_run(env);

	if (ret)
		ddio_env_log(env, DDIO_LOG_ERR, "the reactor's loop has failed: %s",
			     strerror(-ret));
	return NULL;
}

int ddio_real_start_thread(struct ddio_env *env)
{
	struct real *real = real_of(env);
	int ret;

	if (real->thread_on)
		return -EBUSY;
	ret = thread_create(&real->thread, real_thread, env);
	real->thread_on = !ret;
	return ret;
}

void ddio_real_join_thread(struct ddio_env *env)
{
	struct real *real = real_of(env);

	if (!real->thread_on)
		return;
	real_stop(env);
	pthread_join(real->thread, NULL);
	real->thread_on = false;
}

static void real_random(struct ddio_env *env, void *buf, size_t len)
{
	uint8_t *at = buf;
	ssize_t n;

	while (len) {
		n = getrandom(at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* Predictable nonces would be worse than no service. */
			ddio_env_log(env, DDIO_LOG_ERR, "no random numbers: %s", strerror(errno));
			abort();
		}
		at += n;
		len -= n;
	}
}

static void real_log_stderr(struct real *real, enum ddio_log_level level, const char *line)
{
	static const char *const words[] = { "error", "warning", "info", "debug" };
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z", &tm);
	fprintf(stderr, "%s %s%s%s: %s\n", stamp, real->name ? real->name : "",
		real->name ? " " : "", words[level], line);
}

static void real_log(struct ddio_env *env, enum ddio_log_level level, const char *fmt, va_list ap)
{
	struct real *real = real_of(env);
	char line[1024], *at;

	if (level > real->opts.log_level)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	/* It may hold what a peer sent, which must not look like more lines. */
	for (at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	if (real->opts.log)
		real->opts.log(real->opts.log_arg, level, line);
	else
		real_log_stderr(real, level, line);
}

static const struct ddio_env_ops real_ops = {
	.name = "real",
	.now = real_now,
	.wall = real_wall,
	.timer_arm = real_timer_arm,
	.timer_cancel = real_timer_cancel,
	.post = real_post,
	.post_later = real_post_later,
	.offload = real_offload,
	.gate_open = real_gate_open,
	.gate_wait = real_gate_wait,
	.call = real_call,
	.serve = real_serve,
	.watcher_start = real_watcher_start,
	.watcher_stop = real_watcher_stop,
	.random = real_random,
	.log = real_log,
	.stream_connect = real_stream_connect,
	.stream_attach = real_stream_attach,
	.listen = real_listen,
	.mail = &mail_sockets,
	.memory_possible = real_memory_possible,
	.memory_offer = real_memory_offer,
	.memory_take = real_memory_take,
	.memory_use = real_memory_use,
	.gong_wait = real_gong_wait,
	.gong_sound = real_gong_sound,
	.seals = real_seal_possible,
};

/**
 * ddio_real_new - a reactor of the real world
 * @opts: NULL for defaults
 * @env: filled in
 * Return: 0 or -errno.
 */
int ddio_real_new(const struct ddio_real_opts *opts, struct ddio_env **env)
{
	struct real *real = calloc(1, sizeof(*real));
	int ret = -ENOMEM;

	if (!real)
		return ret;
	real->env.ops = &real_ops;
	real->env.engines = opts ? opts->engines : NULL;
	real->report = real_streams_report;
	real->waited = UINT64_MAX;
	ddio_list_init(&real->env.buses);
	ddio_list_init(&real->env.asides);
	ddio_list_init(&real->broken);
	ddio_list_init(&real->lingering);
	ddio_list_init(&real->memories);
	real->memory = &real_memory;
	real->epfd = real->wake.fd = real->clock.fd = -1;
	real->opts.log_level = DDIO_LOG_INFO;
	if (opts)
		real->opts = *opts;
	if (real->opts.name) {
		real->name = strdup(real->opts.name);
		if (!real->name)
			goto free_real;
	}
	ret = real_open_fds(real);
	if (ret)
		goto close_fds;
	ret = worker_init(real);
	if (ret)
		goto close_fds;
	*env = &real->env;
	return 0;

close_fds:
	real_close_fds(real);
	free(real->name);
free_real:
	free(real);
	return ret;
}

void ddio_real_free(struct ddio_env *env)
{
	struct real *real;

	if (!env)
		return;
	real = real_of(env);
	ddio_real_join_thread(env);
	/* Only the functions of posts and offloads free the memory that these own. */
	do {
		worker_fini(real);
	} while (real_run_posts(real));
	real_streams_fini(real);
	ddio_heap_fini(&real->timers);
	pthread_cond_destroy(&real->worker.wake);
	pthread_mutex_destroy(&real->worker.lock);
	real_close_fds(real);
	ddio_env_fini(env);
	free(real->name);
	free(real);
}
