// SPDX-License-Identifier: GPL-2.0-only
/* Runs the script of a case: words, users, processes. */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "posix.h"

#define STATEMENT_BYTES 1024
#define WORD_BYTES 8192
/* What ends a wait for what hangs; and how long nothing may happen to a process that waits in its system call. */
#define JOIN_MS (20000 * px_patience())
#define BUSY_MS (100 * px_patience())
#define LOOK_MS 5

/**
 * struct helper - B or C
 * @sock: statements go there, a line each; what is wrong comes back, nothing: all right
 */
struct helper {
	pid_t pid;
	int sock;
	bool under_way;
};

struct run {
	struct px px;
	struct helper helper[2];
	const char *other;
};

int px_patience(void)
{
	const char *said = getenv("DDIO_PATIENCE");
	int n = said ? atoi(said) : 1;

	return n < 1 ? 1 : n > 100 ? 100 : n;
}

long px_wrong(struct px *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return PX_WRONG;
}

int px_fd(const struct px *p, const char *word)
{
	if (word[0] != '#' || !isdigit((unsigned char)word[1]) || word[2])
		return -1;
	return p->fd[word[1] - '0'];
}

int px_bits(struct px *p, const struct px_bit *table, const char *text, int *bits)
{
	char copy[256], *save = NULL, *word;
	const struct px_bit *b;

	*bits = 0;
	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		for (b = table; b->name && strcmp(b->name, word); b++)
			;
		if (!b->name) {
			px_wrong(p, "the script says \"%s\"", word);
			return -1;
		}
		*bits |= b->bits;
	}
	return 0;
}

/*
 * Words
 */
static const struct px_op *op_find(const char *name)
{
	static const struct px_op *const tables[] = { px_ops_names, px_ops_attr, px_ops_data,
						      px_ops_check, px_ops_lock };
	const struct px_op *o;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (o = tables[i]; o->name; o++)
			if (!strcmp(o->name, name))
				return o;
	return NULL;
}

/* "{n255}": a name of 255 bytes; "{p5000}": a path of 5000. */
static void word_expand(const char *word, char *out)
{
	char *end = out + WORD_BYTES - 1, *close;
	size_t n, i;

	while (*word && out < end) {
		if (word[0] != '{' || (word[1] != 'n' && word[1] != 'p')) {
			*out++ = *word++;
			continue;
		}
		n = strtoul(word + 2, &close, 10);
		for (i = 0; i < n && out < end; i++)
			*out++ = word[1] == 'p' && i % 2 ? '/' : word[1];
		word = close + (*close == '}');
	}
	*out = 0;
}

/*
 * Users
 */
static int user_become(int user)
{
	static const gid_t further[] = { PX_USER + 2 };
	uid_t id = PX_USER + (user == 2 ? 2u : 1u);

	if (!user)
		return 0;
	if (setgroups(user == 3, further) || setegid(id) || seteuid(id))
		return -1;
	return 0;
}

static int user_back(int user)
{
	if (!user)
		return 0;
	return seteuid(0) || setegid(0) || setgroups(0, NULL);
}

bool px_script_wants_root(const char *script)
{
	const char *s;

	for (s = script; s && *s; s++)
		if (*s >= '1' && *s <= '3' && s[1] == ':' && s[2] == ' ' &&
		    (s == script || s[-1] == ' '))
			return true;
	return false;
}

/*
 * One statement
 */
static const char *verdict(struct px *p, const char *op, long ret, int want)
{
	int err = errno;

	if (ret == PX_WRONG)
		return p->why;
	if (ret < 0 && err != want)
		snprintf(p->why, sizeof(p->why), "%s: %s%s%s", op, px_errno_name(err),
			 want ? ", not " : "", want ? px_errno_name(want) : "");
	else if (ret >= 0 && want)
		snprintf(p->why, sizeof(p->why), "%s succeeded, which should be %s", op,
			 px_errno_name(want));
	else
		return NULL;
	return p->why;
}

static const char *words_run(struct px *p, int argc, char **argv, int user)
{
	int want = argc ? px_errno_of(argv[0]) : 0;
	const struct px_op *op;
	const char *said;
	long ret;

	if (want) {
		argc--;
		argv++;
	}
	op = argc ? op_find(argv[0]) : NULL;
	if (!op || argc - 1 < op->min) {
		px_wrong(p, "the script has \"%s\" with %d words", argc ? argv[0] : "", argc - 1);
		return p->why;
	}
	if (user_become(user)) {
		px_wrong(p, "cannot become user %d", user);
		return p->why;
	}
	errno = 0;
	ret = op->run(p, argc, argv);
	said = verdict(p, op->name, ret, want);
	if (user_back(user)) {
		px_wrong(p, "cannot become root again");
		return p->why;
	}
	return said;
}

static const char *statement_run(struct px *p, const char *text)
{
	static char words[PX_WORDS][WORD_BYTES];
	char copy[STATEMENT_BYTES], *save = NULL, *word, *argv[PX_WORDS];
	int argc = 0, user = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " ", &save); word && argc < PX_WORDS;
	     word = strtok_r(NULL, " ", &save)) {
		if (!argc && !user && word[0] >= '1' && word[0] <= '3' && word[1] == ':') {
			user = word[0] - '0';
			continue;
		}
		word_expand(word, words[argc]);
		argv[argc] = words[argc];
		argc++;
	}
	return words_run(p, argc, argv, user);
}

static void px_init(struct px *p)
{
	int i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < PX_FDS; i++)
		p->fd[i] = -1;
}

/*
 * Further processes
 */
static void on_signal(int sig)
{
	(void)sig;
}

static void helper_main(struct run *r, int sock)
{
	struct sigaction act = { .sa_handler = on_signal };
	char text[STATEMENT_BYTES];
	const char *said;
	struct px px;
	ssize_t n;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &act, NULL);
	/* Files that the first process has open are not ours. */
	for (i = 0; i < PX_FDS; i++)
		if (r->px.fd[i] >= 0)
			close(r->px.fd[i]);
	px_init(&px);
	if (r->other && chdir(r->other))
		_exit(2);
	while ((n = recv(sock, text, sizeof(text) - 1, 0)) > 0) {
		text[n] = 0;
		said = statement_run(&px, text);
		if (send(sock, said ? said : "", said ? strlen(said) + 1 : 1, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

static int helper_start(struct run *r, struct helper *h)
{
	int socks[2];

	if (h->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -1;
	h->pid = fork();
	if (h->pid < 0)
		return -1;
	if (!h->pid) {
		close(socks[0]);
		helper_main(r, socks[1]);
	}
	close(socks[1]);
	h->sock = socks[0];
	return 0;
}

static const char *helper_join(struct run *r, struct helper *h)
{
	struct pollfd fd = { .fd = h->sock, .events = POLLIN };
	char said[sizeof(r->px.why)];
	ssize_t n;

	if (!h->under_way)
		return "the script joins what does not run";
	if (poll(&fd, 1, JOIN_MS) <= 0)
		return "the other process waits for ever";
	n = recv(h->sock, said, sizeof(said) - 1, 0);
	if (n <= 0)
		return "the other process is gone";
	said[n] = 0;
	h->under_way = false;
	snprintf(r->px.why, sizeof(r->px.why), "the other process: %.480s", said);
	return said[0] ? r->px.why : NULL;
}

/* Whether @pid sleeps in a system call that locks.  Where the kernel does not say, it is taken to. */
static bool sleeps_in_lock(pid_t pid)
{
	char path[64], text[128] = "";
	FILE *f;
	long nr;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return !text[0] || (sscanf(text, "%ld", &nr) == 1 && (nr == SYS_fcntl || nr == SYS_flock));
}

/* A process that is slow to begin is waited for: a signal that came before its call would not end that. */
static const char *helper_busy(struct helper *h)
{
	struct pollfd fd = { .fd = h->sock, .events = POLLIN };
	int ms;

	if (!h->under_way)
		return "the script looks at what does not run";
	for (ms = 0; ms < JOIN_MS && !sleeps_in_lock(h->pid); ms += LOOK_MS)
		if (poll(&fd, 1, LOOK_MS))
			return "the other process did not wait";
	if (!sleeps_in_lock(h->pid))
		return "the other process did not come to its call";
	return poll(&fd, 1, BUSY_MS) ? "the other process did not wait" : NULL;
}

static const char *helper_send(struct run *r, struct helper *h, const char *text, bool wait)
{
	if (helper_start(r, h) || send(h->sock, text, strlen(text), MSG_NOSIGNAL) < 0)
		return "cannot start another process";
	h->under_way = true;
	return wait ? helper_join(r, h) : NULL;
}

/* "join B", "busy B", "interrupt B", "kill B" */
static bool helper_command(struct run *r, const char *text, const char **said)
{
	char verb[16], who;
	struct helper *h;

	*said = NULL;
	if (sscanf(text, "%15s %c", verb, &who) != 2 || (who != 'B' && who != 'C'))
		return false;
	h = &r->helper[who - 'B'];
	if (!strcmp(verb, "join")) {
		*said = helper_join(r, h);
	} else if (!strcmp(verb, "busy")) {
		*said = helper_busy(h);
	} else if (!strcmp(verb, "interrupt")) {
		kill(h->pid, SIGUSR1);
	} else if (!strcmp(verb, "kill")) {
		kill(h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		close(h->sock);
		*h = (struct helper){ 0 };
	} else {
		return false;
	}
	return true;
}

static const char *step(struct run *r, const char *text)
{
	const char *said;

	if ((text[0] == 'B' || text[0] == 'C') && (text[1] == ':' || text[1] == '&'))
		return helper_send(r, &r->helper[text[0] - 'B'], text + 2 + strspn(text + 2, " "),
				   text[1] == ':');
	if (helper_command(r, text, &said))
		return said;
	return statement_run(&r->px, text);
}

static void run_end(struct run *r)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!r->helper[i].pid)
			continue;
		kill(r->helper[i].pid, SIGKILL);
		waitpid(r->helper[i].pid, NULL, 0);
		close(r->helper[i].sock);
	}
	for (i = 0; i < PX_FDS; i++)
		if (r->px.fd[i] >= 0)
			close(r->px.fd[i]);
}

const char *px_script_run(const char *script, const char *other)
{
	static char why[1024];
	char *copy = strdup(script), *save = NULL, *text;
	struct run r = { .other = other };
	const char *said = NULL;

	px_init(&r.px);
	for (text = strtok_r(copy, ";", &save); text && !said; text = strtok_r(NULL, ";", &save)) {
		text += strspn(text, " ");
		if (!*text)
			continue;
		said = step(&r, text);
		if (said)
			snprintf(why, sizeof(why), "\"%.400s\": %s", text, said);
	}
	run_end(&r);
	free(copy);
	return said ? why : NULL;
}
