// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "options.h"

#define CONF_DIR "/etc/ddio"

enum kind {
	KIND_ON,      /* bool becomes true */
	KIND_OFF,     /* bool becomes false */
	KIND_SECONDS, /* double, and a bool that says it was given */
	KIND_U32,
	KIND_ID, /* uint32_t, and a bool that says it was given */
	KIND_TEXT,
	KIND_CACHE,
	KIND_KERNEL, /* passed on to the kernel */
	KIND_IGNORED,
	KIND_REFUSED, /* the help says why */
};

struct option_spec {
	const char *name, *arg;
	enum kind kind;
	size_t at, given;
	const char *help;
};

#define AT(member) offsetof(struct mount_opts, member)

static const struct option_spec specs[] = {
	{ "conf", "FILE", KIND_TEXT, AT(conf), 0, "the cluster's configuration" },
	{ "soft", NULL, KIND_OFF, AT(hard), 0,
	  "fail requests to a node that does not answer, after the timeout (default)" },
	{ "hard", NULL, KIND_ON, AT(hard), 0, "wait for a node that does not answer" },
	{ "timeout", "SECONDS", KIND_SECONDS, AT(timeout), 0,
	  "how long a request may make no progress (default: the configuration's)" },
	{ "cache", "none|auto|always", KIND_CACHE, AT(cache), 0,
	  "what the kernel caches: nothing, what close-to-open allows (default), all" },
	{ "attr_timeout", "SECONDS", KIND_SECONDS, AT(attr_timeout), AT(attr_set),
	  "how long attributes are cached" },
	{ "entry_timeout", "SECONDS", KIND_SECONDS, AT(entry_timeout), AT(entry_set),
	  "how long names are cached" },
	{ "negative_timeout", "SECONDS", KIND_SECONDS, AT(negative_timeout), AT(negative_set),
	  "how long a failed lookup is cached" },
	{ "threads", "N", KIND_U32, AT(threads), 0,
	  "threads that take requests, and as many that talk to the nodes (default: chosen)" },
	{ "uid", "N", KIND_ID, AT(uid), AT(uid_set), "show all files as owned by this user" },
	{ "gid", "N", KIND_ID, AT(gid), AT(gid_set), "show all files as owned by this group" },
	{ "allow_other", NULL, KIND_ON, AT(allow_other), 0,
	  "every user may use the mount (default for root)" },
	{ "noallow_other", NULL, KIND_OFF, AT(allow_other), 0,
	  "only the user who mounts may use the mount" },
	{ "default_permissions", NULL, KIND_OFF, AT(no_permissions), 0,
	  "have the kernel check permissions (default)" },
	{ "nodefault_permissions", NULL, KIND_ON, AT(no_permissions), 0, "check no permissions" },
	{ "ro", NULL, KIND_ON, AT(ro), 0, "read only" },
	{ "rw", NULL, KIND_OFF, AT(ro), 0, "read and write (default)" },
	{ "noatime", NULL, KIND_ON, AT(noatime), 0, "do not update access times on reads" },
	{ "atime", NULL, KIND_OFF, AT(noatime), 0,
	  "update access times as relatime does (default)" },
	{ "debug", NULL, KIND_ON, AT(debug), 0, "print every request on standard error" },
	{ "suid", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "nosuid", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "dev", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "nodev", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "exec", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "noexec", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "sync", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "async", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "dirsync", NULL, KIND_KERNEL, 0, 0, NULL },
	{ "remount", NULL, KIND_REFUSED, 0, 0,
	  "not supported: unmount and mount again to change options" },
	{ "defaults", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "auto", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "noauto", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "user", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "nouser", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "users", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "owner", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "group", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "nofail", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "_netdev", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "relatime", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "diratime", NULL, KIND_IGNORED, 0, 0, NULL },
	{ "nodiratime", NULL, KIND_IGNORED, 0, 0, NULL },
	{ NULL, NULL, KIND_IGNORED, 0, 0, NULL }
};

__attribute__((format(printf, 3, 4))) static int say(char *err, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void mount_opts_init(struct mount_opts *o)
{
	*o = (struct mount_opts){ .allow_other = geteuid() == 0 };
	/* As for every other file system that root mounts. */
	if (!geteuid())
		strcpy(o->kernel, ",suid,dev");
}

void mount_opts_free(struct mount_opts *o)
{
	free(o->conf);
	free(o->sub);
}

static int parse_seconds(const char *text, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(text, &end);
	return end == text || *end || errno || !isfinite(*v) || *v < 0 || *v > 1e9 ? -EINVAL : 0;
}

static int parse_u32(const char *text, uint32_t *v)
{
	unsigned long n;
	char *end;

	errno = 0;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	n = strtoul(text, &end, 10);
	*v = (uint32_t)n;
	return errno || *end || n >= UINT32_MAX ? -EINVAL : 0;
}

static int parse_cache(const char *text, enum cache_mode *mode)
{
	static const char *const names[] = {
		[CACHE_AUTO] = "auto", [CACHE_NONE] = "none", [CACHE_ALWAYS] = "always"
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*mode = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int kernel_add(struct mount_opts *o, const char *name)
{
	size_t used = strlen(o->kernel);
	int n = snprintf(o->kernel + used, sizeof(o->kernel) - used, ",%s", name);

	return (size_t)n >= sizeof(o->kernel) - used ? -EINVAL : 0;
}

static int option_store(struct mount_opts *o, const struct option_spec *s, const char *value)
{
	void *at = (char *)o + s->at;
	int err = 0;

	switch (s->kind) {
	case KIND_ON:
	case KIND_OFF:
		*(bool *)at = s->kind == KIND_ON;
		break;
	case KIND_SECONDS:
		err = parse_seconds(value, at);
		break;
	case KIND_U32:
	case KIND_ID:
		err = parse_u32(value, at);
		break;
	case KIND_TEXT:
		free(*(char **)at);
		*(char **)at = strdup(value);
		err = *(char **)at ? 0 : -ENOMEM;
		break;
	case KIND_CACHE:
		err = parse_cache(value, at);
		break;
	case KIND_KERNEL:
		err = kernel_add(o, s->name);
		break;
	case KIND_IGNORED:
	case KIND_REFUSED:
		break;
	}
	if (s->given)
		*(bool *)((char *)o + s->given) = true;
	return err;
}

/* True for options that others read: comment=..., x-systemd.automount, X-mount.mkdir. */
static bool is_comment(const char *name)
{
	return !strcmp(name, "comment") || !strncmp(name, "x-", 2) || !strncmp(name, "X-", 2);
}

static int option_parse(struct mount_opts *o, char *text, char *err, size_t err_len)
{
	const struct option_spec *s;
	char *value = strchr(text, '=');

	if (value)
		*value++ = 0;
	if (!*text || is_comment(text))
		return 0;
	for (s = specs; s->name && strcmp(s->name, text); s++)
		;
	if (!s->name)
		return say(err, err_len, "unknown option \"%s\"", text);
	if (s->kind == KIND_REFUSED)
		return say(err, err_len, "option %s: %s", s->name, s->help);
	if (s->arg && !value)
		return say(err, err_len, "option %s needs a value: %s=%s", text, text, s->arg);
	if (!s->arg && value && s->kind != KIND_IGNORED)
		return say(err, err_len, "option %s takes no value", text);
	if (option_store(o, s, value))
		return say(err, err_len, "option %s does not take \"%s\"", text,
			   value ? value : "");
	return 0;
}

int mount_opts_parse(struct mount_opts *o, const char *list, char *err, size_t err_len)
{
	char *copy = strdup(list), *save = NULL, *one;
	int ret = 0;

	if (!copy)
		return say(err, err_len, "out of memory");
	for (one = strtok_r(copy, ",", &save); one && !ret; one = strtok_r(NULL, ",", &save))
		ret = option_parse(o, one, err, err_len);
	free(copy);
	return ret;
}

/* Copies the directory without slashes at its ends. */
static char *sub_of(const char *path)
{
	size_t len;

	path += strspn(path, "/");
	len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	return strndup(path, len);
}

static int conf_of_name(struct mount_opts *o, const char *name, size_t len)
{
	char path[4096];

	/* On a machine with several clusters each has a configuration by its name. */
	if ((size_t)snprintf(path, sizeof(path), CONF_DIR "/%.*s.conf", (int)len, name) >=
	    sizeof(path))
		return -EINVAL;
	if (access(path, F_OK))
		return 0;
	o->conf = strdup(path);
	return o->conf ? 0 : -ENOMEM;
}

int mount_opts_source(struct mount_opts *o, const char *source, char *err, size_t err_len)
{
	const char *colon = strstr(source, ":/");

	o->source = source;
	if (colon && colon != source && !memchr(source, '/', (size_t)(colon - source))) {
		o->sub = sub_of(colon + 1);
		if (!o->conf && conf_of_name(o, source, (size_t)(colon - source)))
			return say(err, err_len, "%s: the name is too long", source);
		return o->sub ? 0 : say(err, err_len, "out of memory");
	}
	if (*source != '/')
		return say(err, err_len,
			   "source \"%s\" is neither NODE:/ nor the path of a configuration",
			   source);
	if (!o->conf)
		o->conf = strdup(source);
	o->sub = strdup("");
	return o->conf && o->sub ? 0 : say(err, err_len, "out of memory");
}

void mount_opts_settle(struct mount_opts *o)
{
	static const double cached[] = { [CACHE_AUTO] = 1, [CACHE_NONE] = 0, [CACHE_ALWAYS] = 3600 };

	if (!o->attr_set)
		o->attr_timeout = cached[o->cache];
	if (!o->entry_set)
		o->entry_timeout = cached[o->cache];
	if (!o->negative_set)
		o->negative_timeout = o->cache == CACHE_ALWAYS ? cached[o->cache] : 0;
}

void mount_opts_help(FILE *out)
{
	const struct option_spec *s;
	char left[64];

	fprintf(out, "\nOptions after -o:\n");
	for (s = specs; s->name; s++) {
		if (!s->help)
			continue;
		snprintf(left, sizeof(left), "%s%s%s", s->name, s->arg ? "=" : "",
			 s->arg ? s->arg : "");
		fprintf(out, "  %-28s %s\n", left, s->help);
	}
	fprintf(out,
		"The options of mount(8) that every file system has, and x-..., are accepted too.\n");
}

void mount_opts_names(FILE *out)
{
	const struct option_spec *s;

	for (s = specs; s->name; s++)
		fprintf(out, "%s\n", s->name);
}
