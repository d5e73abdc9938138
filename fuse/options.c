// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/opttab.h"
#include "options.h"

#define CONF_DIR "/etc/ddio"

/* What becomes of an option that has no member in struct mount_opts. */
enum use {
	USE_KERNEL = 1, /* passed on to the kernel, without "allow_" */
	USE_IGNORED,
	USE_REFUSED, /* the help says why */
};

static const char *const cache_words[] = {
	[CACHE_AUTO] = "auto", [CACHE_NONE] = "none", [CACHE_ALWAYS] = "always", NULL
};

#define AT(member) offsetof(struct mount_opts, member)

static const struct ddio_opt specs[] = {
	DDIO_OPT("conf", 0, OPT_STRING, AT(conf), "FILE", "the cluster's configuration"),
	DDIO_OPT("soft", 0, OPT_UNFLAG, AT(hard), NULL,
		 "fail requests to a node that does not answer, after the timeout (default)"),
	DDIO_OPT("hard", 0, OPT_FLAG, AT(hard), NULL, "wait for a node that does not answer"),
	DDIO_OPT("timeout", 0, OPT_SECONDS, AT(timeout), "SECONDS",
		 "how long a request may make no progress (default: the configuration's)"),
	{ "cache", 0, OPT_WORD, AT(cache), "none|auto|always",
	  "what the kernel caches: nothing, what close-to-open allows (default), all",
	  .words = cache_words },
	{ "attr_timeout", 0, OPT_SECONDS, AT(attr_timeout), "SECONDS",
	  "how long attributes are cached", .given = AT(attr_set) },
	{ "entry_timeout", 0, OPT_SECONDS, AT(entry_timeout), "SECONDS",
	  "how long names are cached", .given = AT(entry_set) },
	{ "negative_timeout", 0, OPT_SECONDS, AT(negative_timeout), "SECONDS",
	  "how long a failed lookup is cached", .given = AT(negative_set) },
	{ "threads", 0, OPT_U32, AT(threads), "N",
	  "threads that take requests, and as many that talk to the nodes (default: chosen)",
	  .max = UINT32_MAX - 1 },
	{ "uid", 0, OPT_U32, AT(uid), "N", "show all files as owned by this user",
	  .max = UINT32_MAX - 1, .given = AT(uid_set) },
	{ "gid", 0, OPT_U32, AT(gid), "N", "show all files as owned by this group",
	  .max = UINT32_MAX - 1, .given = AT(gid_set) },
	DDIO_OPT("allow_other", 0, OPT_FLAG, AT(allow_other), NULL,
		 "every user may use the mount (default for root)"),
	DDIO_OPT("noallow_other", 0, OPT_UNFLAG, AT(allow_other), NULL,
		 "only the user who mounts may use the mount"),
	DDIO_OPT("default_permissions", 0, OPT_UNFLAG, AT(no_permissions), NULL,
		 "have the kernel check permissions (default)"),
	DDIO_OPT("nodefault_permissions", 0, OPT_FLAG, AT(no_permissions), NULL,
		 "check no permissions"),
	DDIO_OPT("ro", 0, OPT_FLAG, AT(ro), NULL, "read only"),
	DDIO_OPT("rw", 0, OPT_UNFLAG, AT(ro), NULL, "read and write (default)"),
	DDIO_OPT("noatime", 0, OPT_FLAG, AT(noatime), NULL, "do not update access times on reads"),
	DDIO_OPT("atime", 0, OPT_UNFLAG, AT(noatime), NULL,
		 "update access times as relatime does (default)"),
	DDIO_OPT("shared_maps", 0, OPT_UNFLAG, AT(no_shared_maps), NULL,
		 "files can be mapped shared and writable (default)"),
	DDIO_OPT("noshared_maps", 0, OPT_FLAG, AT(no_shared_maps), NULL,
		 "refuse to map files shared and writable"),
	DDIO_OPT("debug", 0, OPT_FLAG, AT(debug), NULL, "print every request on standard error"),
	{ .name = "suid", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "nosuid", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "dev", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "nodev", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "exec", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "noexec", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "sync", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "async", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "dirsync", .type = OPT_NONE, .use = USE_KERNEL },
	{ .name = "allow_suid",
	  .type = OPT_NONE,
	  .use = USE_KERNEL,
	  .help = "as suid, which mount(8) and fstab do not pass on" },
	{ .name = "allow_dev",
	  .type = OPT_NONE,
	  .use = USE_KERNEL,
	  .help = "as dev, which mount(8) and fstab do not pass on" },
	{ .name = "strictatime",
	  .type = OPT_NONE,
	  .use = USE_REFUSED,
	  .help = "not supported: access times are updated as relatime does" },
	{ .name = "remount",
	  .type = OPT_NONE,
	  .use = USE_REFUSED,
	  .help = "not supported: unmount and mount again to change options" },
	{ .name = "defaults", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "auto", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "noauto", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "user", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "nouser", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "users", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "owner", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "group", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "nofail", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "_netdev", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "relatime", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "diratime", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = "nodiratime", .type = OPT_NONE, .use = USE_IGNORED },
	{ .name = NULL },
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
	/* Who can write to the cluster is not root here: root asks for these by name. */
	strcpy(o->kernel, ",nosuid,nodev");
}

void mount_opts_free(struct mount_opts *o)
{
	free(o->conf);
	free(o->sub);
}

static int kernel_add(struct mount_opts *o, const char *name)
{
	static const char allow[] = "allow_";
	size_t used = strlen(o->kernel), len = strlen(allow);
	int n = snprintf(o->kernel + used, sizeof(o->kernel) - used, ",%s",
			 strncmp(name, allow, len) ? name : name + len);

	return (size_t)n >= sizeof(o->kernel) - used ? -EINVAL : 0;
}

/* True for options that others read: comment=..., x-systemd.automount, X-mount.mkdir. */
static bool is_comment(const char *name)
{
	return !strcmp(name, "comment") || !strncmp(name, "x-", 2) || !strncmp(name, "X-", 2);
}

static int option_parse(struct mount_opts *o, char *text, char *err, size_t err_len)
{
	const struct ddio_opt *s;
	char *value = strchr(text, '=');
	char why[160];

	if (value)
		*value++ = 0;
	if (!*text || is_comment(text))
		return 0;
	s = ddio_opt_find(specs, text);
	if (!s)
		return say(err, err_len, "unknown option \"%s\"", text);
	if (s->use == USE_REFUSED)
		return say(err, err_len, "option %s: %s", s->name, s->help);
	if (ddio_opt_takes_value(s) && !value)
		return say(err, err_len, "option %s needs a value: %s=%s", text, text, s->arg);
	if (!ddio_opt_takes_value(s) && value && s->use != USE_IGNORED)
		return say(err, err_len, "option %s takes no value", text);
	if (s->use == USE_KERNEL && kernel_add(o, s->name))
		return say(err, err_len, "option %s: too many options for the kernel", text);
	if (ddio_opt_set(s, value, o, why, sizeof(why)))
		return say(err, err_len, "option %s does not take \"%s\": %s", text, value, why);
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

/* Others are told it by the attribute "ddio.conf", wherever they are; what does not exist is an error later. */
static void conf_resolve(struct mount_opts *o)
{
	char *full = realpath(o->conf, NULL);

	if (!full)
		return;
	free(o->conf);
	o->conf = full;
}

void mount_opts_settle(struct mount_opts *o)
{
	static const double cached[] = { [CACHE_AUTO] = 1, [CACHE_NONE] = 0, [CACHE_ALWAYS] = 3600 };

	if (o->conf)
		conf_resolve(o);
	if (!o->attr_set)
		o->attr_timeout = cached[o->cache];
	if (!o->entry_set)
		o->entry_timeout = cached[o->cache];
	if (!o->negative_set)
		o->negative_timeout = o->cache == CACHE_ALWAYS ? cached[o->cache] : 0;
}

void mount_opts_help(FILE *out)
{
	const struct ddio_opt *s;
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
	const struct ddio_opt *s;

	for (s = specs; s->name; s++)
		fprintf(out, "%s\n", s->name);
}
