// SPDX-License-Identifier: GPL-2.0-only
/* The configuration: what is read, what is refused with which line and words, and the manual. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conf/priv.h"
#include "proto/wire.h"
#include "tests/unit/lib/ut.h"

#define MANUAL "Documentation/man/ddio.conf.5"

static struct ddio_conf *parse(const char *text, char err[512])
{
	struct ddio_conf *conf;
	int ret = ddio_conf_parse("t.conf", text, strlen(text), &conf, err, 512);

	CU_ASSERT_EQUAL(!ret, conf != NULL);
	return conf;
}

/* Expects the text to be refused at this line with these words. */
static void refuses(const char *text, int line, const char *words)
{
	char err[512], where[32];
	struct ddio_conf *conf = parse(text, err);

	snprintf(where, sizeof(where), "t.conf:%d: ", line);
	CU_ASSERT_PTR_NULL(conf);
	CU_ASSERT_NSTRING_EQUAL(err, where, strlen(where));
	CU_ASSERT_PTR_NOT_NULL(strstr(err, words));
	CU_ASSERT_PTR_NULL(strchr(err, '\n'));
	if (!strstr(err, words) || strncmp(err, where, strlen(where)))
		fprintf(stderr, "'%s' is not '%s...%s'\n", err, where, words);
	ddio_conf_free(conf);
}

#define NODE0 "[node io0]\naddress = 127.0.0.1:7400\nmeta = /var/lib/ddio/io0\n"
#define NODE1 "[node io1]\naddress = 127.0.0.1:7401\nmeta = /var/lib/ddio/io1\n"
#define DISK0 "[disk d0]\nnode = io0\n"
#define SMALL "[cluster]\nname = demo\n" NODE0 DISK0 /* 7 lines */

static void test_smallest(void)
{
	char err[512];
	struct ddio_conf *conf = parse(SMALL, err);

	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_STRING_EQUAL(err, "");
	CU_ASSERT_STRING_EQUAL(conf->path, "t.conf");
	CU_ASSERT_STRING_EQUAL(conf->cluster, "demo");
	CU_ASSERT_PTR_NULL(conf->key_file);
	CU_ASSERT_EQUAL(conf->ns_node, 0);
	CU_ASSERT_EQUAL(conf->block, 262144);
	CU_ASSERT_EQUAL(conf->mount_block, 32768);
	CU_ASSERT_EQUAL(conf->timeout_ns, 30000000000ull);
	CU_ASSERT_EQUAL(conf->nnodes, 1);
	CU_ASSERT_EQUAL(conf->ndisks, 1);
	CU_ASSERT_STRING_EQUAL(conf->nodes[0].address, "127.0.0.1:7400");
	CU_ASSERT_EQUAL(conf->nodes[0].reactors, 0);
	CU_ASSERT_EQUAL(conf->nodes[0].cache, 64u << 20);
	CU_ASSERT_EQUAL(conf->nodes[0].buffers, 0);
	CU_ASSERT_TRUE(conf->nodes[0].cscan);
	CU_ASSERT_TRUE(conf->nodes[0].sync_io);
	CU_ASSERT_EQUAL(conf->nodes[0].write_back_ns, 5000000000ull);
	CU_ASSERT_EQUAL(conf->nodes[0].line, 3);
	CU_ASSERT_PTR_NULL(conf->disks[0].engine);
	CU_ASSERT_EQUAL(conf->disks[0].size, 0);
	CU_ASSERT_EQUAL(conf->disks[0].line, 6);
	ddio_conf_free(conf);
}

static void test_mount_block(void)
{
	char err[512];
	struct ddio_conf *conf =
		parse("[cluster]\nname = demo\nblock = 8K\nmount_block = 1M\n" NODE0 DISK0, err);

	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_EQUAL(conf->block, 8192);
	CU_ASSERT_EQUAL(conf->mount_block, 1u << 20);
	ddio_conf_free(conf);
}

static bool tls_of(const char *text)
{
	char err[512];
	struct ddio_conf *conf = parse(text, err);
	bool tls;

	CU_ASSERT_STRING_EQUAL(err, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	tls = conf->tls;
	CU_ASSERT_EQUAL(conf->kernel_tls, !!strstr(text, "kernel_tls = yes"));
	ddio_conf_free(conf);
	return tls;
}

/* What other machines reach is closed to strangers, unless it is said otherwise. */
static void test_security(void)
{
#define FAR "[node io0]\naddress = 10.0.0.1:7400\nmeta = /m/0\n" DISK0
#define BOTH NODE0 DISK0 "[node io1]\naddress = io1:7400\nmeta = /m/1\n[disk d1]\nnode = io1\n"
#define KEYED "[cluster]\nname = demo\nkey_file = /k\n"
	char err[512];

	CU_ASSERT(!tls_of(SMALL));
	CU_ASSERT(!tls_of(KEYED NODE0 DISK0));
	CU_ASSERT(tls_of(KEYED FAR));
	CU_ASSERT(tls_of(KEYED BOTH));
	CU_ASSERT(!tls_of("[cluster]\nname = demo\n" FAR));
	CU_ASSERT(!tls_of(KEYED "security = none\n" FAR));
	CU_ASSERT(tls_of(KEYED "security = tls\n" NODE0 DISK0));
	CU_ASSERT(tls_of(KEYED "kernel_tls = yes\n" FAR));
	CU_ASSERT_PTR_NULL(parse("[cluster]\nname = demo\nsecurity = tls\n" NODE0 DISK0, err));
	CU_ASSERT_STRING_EQUAL(
		err, "t.conf:3: security = tls in [cluster] needs a key: give key_file, too");
	CU_ASSERT_PTR_NULL(parse(KEYED "security = ssl\n" NODE0 DISK0, err));
	CU_ASSERT(strstr(err, "none") && strstr(err, "tls"));
}

/* Which machines' root is root of the cluster, by where they connect from. */
static void test_users(void)
{
#define USERS "[cluster]\nname = demo\nusers = munge\nservers_key = /s\n"
#define NETS "no_root_squash = 10.0.0.1, 10.1.0.0/16 2001:db8::/33,10.2.128.0/17\n"
	static const struct {
		const char *peer;
		bool root;
	} rows[] = {
		{ "127.0.0.1:5", true },
		{ "127.9.9.9:1", true },
		{ "[::1]:7400", true },
		{ "[::ffff:127.0.0.1]:9", true },
		{ "10.0.0.1:1023", true },
		{ "10.0.0.2:1023", false },
		{ "10.1.255.255:1", true },
		{ "10.2.0.0:1", false },
		{ "10.2.127.255:1", false },
		{ "10.2.128.0:1", true },
		{ "[::ffff:10.1.2.3]:1", true },
		{ "[2001:db8:7fff::1]:1", true },
		{ "[2001:db8:8000::1]:1", false },
		{ "io1:7400", false },
		{ "10.0.0.1", false },
		{ "", false },
		{ ":", false },
		{ "[]:1", false },
	};
	static const char *const wrong[] = { "10.0.0.1/33", "10.0.0.1/",
					     "host",	    "10.0.0/8",
					     "10.0.0.1/8x", "::1/129",
					     "/8",	    "10.0.0.1/999999999999" };
	struct ddio_conf *conf;
	char err[512], text[512];
	size_t i;

	conf = parse(USERS NETS NODE0 DISK0, err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT(conf->users == CONF_USERS_MUNGE && conf->grant_ns == 600000000000ull);
	CU_ASSERT_STRING_EQUAL(conf->servers_key, "/s");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_EQUAL(ddio_conf_believes_root(conf, rows[i].peer), rows[i].root);
		if (ddio_conf_believes_root(conf, rows[i].peer) != rows[i].root)
			fprintf(stderr, "%s\n", rows[i].peer);
	}
	ddio_conf_free(conf);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), USERS "no_root_squash = %s\n" NODE0 DISK0, wrong[i]);
		CU_ASSERT_PTR_NULL(parse(text, err));
	}
	CU_ASSERT_PTR_NULL(parse("[cluster]\nname = demo\nusers = munge\n" NODE0 DISK0, err));
	CU_ASSERT(strstr(err, "t.conf:3:") && strstr(err, "servers_key"));
	conf = parse(SMALL, err);
	CU_ASSERT(conf && conf->users == CONF_USERS_NONE && !conf->servers_key);
	CU_ASSERT(conf && ddio_conf_believes_root(conf, "127.0.0.1:1") &&
		  !ddio_conf_believes_root(conf, "10.0.0.1:1"));
	ddio_conf_free(conf);
}

static void test_everything(void)
{
	static const char text[] =
		"\xef\xbb\xbf# begins with a byte order mark\r\n"
		"[disk d1]\r\n"
		"  node = io1 ; comes later\r\n"
		"  engine: hp97560\n"
		"\tpath=/dev/null/none\n"
		"size = 1.5G\noptions = a=1,b=2\nbus = scsi0\n"
		"[node io0]\naddress = [::1]:7400\nmeta = /m/0\n"
		"[cluster]\nname=demo\nkey_file=/k\nnamespace = io1\nblock=8 kB\ntimeout = 250ms\n"
		"; another\n"
		"[disk d0]\nnode=io0\n"
		"[node io1]\naddress = io1.example:0\nmeta=/m/1\nreactors=3\ncache = 10MB\n"
		"buffers=7\ncscan = no\nlate_ahead = yes\ninstall = yes\nwrite_back = 0s\nsync_io = No";
	char err[512];
	struct ddio_conf *conf = parse(text, err);

	CU_ASSERT_STRING_EQUAL(err, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_EQUAL(conf->ns_node, 1);
	CU_ASSERT_EQUAL(conf->block, 8192);
	CU_ASSERT_EQUAL(conf->mount_block, 8192);
	CU_ASSERT_EQUAL(conf->timeout_ns, 250000000);
	CU_ASSERT_STRING_EQUAL(conf->key_file, "/k");
	CU_ASSERT_EQUAL(conf->ndisks, 2);
	CU_ASSERT_STRING_EQUAL(conf->disks[0].name, "d1");
	CU_ASSERT_EQUAL(conf->disks[0].node, 1);
	CU_ASSERT_STRING_EQUAL(conf->disks[0].engine, "hp97560");
	CU_ASSERT_EQUAL(conf->disks[0].size, 3ull << 29);
	CU_ASSERT_STRING_EQUAL(conf->disks[0].options, "a=1,b=2");
	CU_ASSERT_STRING_EQUAL(conf->disks[0].bus, "scsi0");
	CU_ASSERT_EQUAL(conf->nodes[1].reactors, 3);
	CU_ASSERT_EQUAL(conf->nodes[1].cache, 10 << 20);
	CU_ASSERT_EQUAL(conf->nodes[1].buffers, 7);
	CU_ASSERT_FALSE(conf->nodes[1].cscan);
	CU_ASSERT_FALSE(conf->nodes[0].late_ahead);
	CU_ASSERT_TRUE(conf->nodes[1].late_ahead);
	CU_ASSERT_FALSE(conf->nodes[0].install);
	CU_ASSERT_TRUE(conf->nodes[1].install);
	CU_ASSERT_FALSE(conf->nodes[1].sync_io);
	CU_ASSERT_EQUAL(conf->nodes[1].write_back_ns, 0);
	CU_ASSERT_EQUAL(ddio_conf_find_node(conf, "io1"), 1);
	CU_ASSERT_EQUAL(ddio_conf_find_node(conf, "io2"), -ENOENT);
	ddio_conf_free(conf);
}

static void test_form(void)
{
	refuses("", 1, "there is no [cluster]");
	refuses("name = x\n", 1, "before the first [section]");
	refuses("[cluster]\nname = x\nwhat\n", 3, "expected a [section]");
	refuses("[cluster]\n\n# c\nname = x\n[node a]\n\nwhat\n", 7, "expected a [section]");
	refuses("[cluster\nname = x\n", 1, "a section is");
	refuses("[cluster] x\nname = x\n", 1, "a section is");
	refuses("[clutter]\n", 1, "unknown section [clutter]");
	refuses("[cluster x]\n", 1, "takes no name");
	refuses("[node]\n", 1, "needs a name");
	refuses("\n[disk a b]\n", 2, "needs a name");
	refuses("[disk a/b]\n", 1, "needs a name");
	refuses("[disk aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
		1, "needs a name");
	refuses(SMALL "[node io0]\n", 8, "was already given in line 3");
	refuses(SMALL "[cluster]\n", 8, "was already given in line 1");
	refuses(SMALL "x = 1\n", 8, "allowed are node, engine, path, size, options, bus");
	refuses(SMALL "node = io0\n", 8, "already given in line 7");
	refuses(SMALL "path =\n", 8, "has no value");
	refuses(SMALL "path = /a # b\n", 8, "line of its own");
	refuses(SMALL "path = /a\x01\n", 8, "control character");
	refuses("[cluster]\n[node a]\n", 1, "[cluster] has no 'name'");
	refuses("[cluster]\nname = x\n[node a]\nmeta = /m\n", 3, "[node a] has no 'address'");
	refuses("[cluster]\nname = x\n", 1, "no [node NAME]");
	refuses("[cluster]\nname = x\n" NODE0, 1, "no [disk NAME]");
}

static void test_nul_byte(void)
{
	static const char text[] = "[cluster]\nname = a\0b\n";
	struct ddio_conf *conf;
	char err[512];

	CU_ASSERT_EQUAL(ddio_conf_parse("n", text, sizeof(text) - 1, &conf, err, sizeof(err)),
			-EINVAL);
	CU_ASSERT_STRING_EQUAL(err, "n:2: the line holds a control character");
}

static void test_values(void)
{
	refuses("[cluster]\nname = a b\n", 2, "bad value 'a b' of 'name' in [cluster]: allowed");
	refuses("[cluster]\nblock = 1000\n", 2, "powers of two from 512 to 16M");
	refuses("[cluster]\nblock = 256\n", 2, "powers of two");
	refuses("[cluster]\nmount_block = 3K\n", 2, "powers of two");
	refuses("[cluster]\nblock = 32M\n", 2, "powers of two");
	refuses("[cluster]\nblock = 8x\n", 2, "powers of two");
	refuses("[cluster]\ntimeout = 0\n", 2, "times from 1ms to 86400s");
	refuses("[cluster]\ntimeout = 2w\n", 2, "times from 1ms");
	refuses("[node a]\nreactors = -1\n", 2, "numbers from 0 to 1024");
	refuses("[node a]\nbuffers = 2K\n", 2, "numbers from 0 to 1024");
	refuses("[node a]\ncache = much\n", 2, "the word paper and sizes");
	refuses("[node a]\ncache = 18446744073709551615\n", 2, "the word paper and sizes");
	refuses("[node a]\nsync_io = maybe\n", 2, "yes and no");
	refuses("[disk a]\nsize = 9E\n", 2, "sizes from 0");
	refuses("[disk a]\nengine = a,b\n", 2, "letters");
}

static void test_addresses(void)
{
	static const char *const bad[] = { "127.0.0.1",	 "127.0.0.1:", ":7400",
					   "host:65536", "host:7x",    "::1:7400",
					   "[::1]7400",	 "[]:1",       "a b:1",
					   "[::1:7400",	 "host:-1",    "host:99999999999999" };
	static const char *const good[] = { "127.0.0.1:0", "host:65535", "[::1]:1", "a.b-c:7" };
	char text[400], err[512];
	struct ddio_conf *conf;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "[node a]\naddress = %s\n", bad[i]);
		refuses(text, 2, "allowed is host:port");
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(text, sizeof(text),
			 "[cluster]\nname=x\n[node io0]\nmeta=/m\naddress = %s\n" DISK0, good[i]);
		conf = parse(text, err);
		CU_ASSERT_PTR_NOT_NULL(conf);
		ddio_conf_free(conf);
	}
}

static void test_references(void)
{
	refuses("[cluster]\nname = x\nnamespace = io7\n" NODE0 DISK0, 3, "there is no [node io7]");
	refuses(SMALL "[disk d1]\nsize = 1M\nnode = io9\n", 10, "there is no [node io9]");
	refuses(SMALL NODE1, 8, "[node io1] has no disk");
	refuses(SMALL "[node io1]\naddress = 127.0.0.1:7400\nmeta = /m\n[disk d1]\nnode = io1\n", 8,
		"the same address 127.0.0.1:7400");
	refuses(SMALL "[node io1]\naddress = localhost:7401\nmeta = /var/lib/ddio/io0\n"
		      "[disk d1]\nnode = io1\n",
		8, "the same meta directory");
}

/* One disk under two names, on one machine. */
static void test_disk_twice(void)
{
	refuses(SMALL "path = /dev/null/x\n[disk d1]\nnode = io0\npath = /dev/null/x\n", 9,
		"[disk d1] and [disk d0] of line 6 are the same");
	refuses(SMALL "path = /x\n" NODE1 "[disk d1]\nnode = io1\npath = //x\n", 12,
		"the same file or device: //x, /x");
	refuses(SMALL "path = /a/b\n[disk d1]\nnode = io0\npath = /./a//b/.\n", 9,
		"the same file or device");
}

static void test_disk_on_two_machines(void)
{
	char err[512];
	struct ddio_conf *conf =
		parse(SMALL "path = /dev/sdb\n[node io1]\naddress = far:7400\n"
			    "meta = /var/lib/ddio/io0\n[disk d1]\nnode = io1\npath = /dev/sdb\n",
		      err);

	CU_ASSERT_PTR_NOT_NULL(conf);
	ddio_conf_free(conf);
}

/* Names that only the file system knows to be the same: clients take them, their machine's daemon does not. */
static void refused_by_daemon(const char *text, int line, const char *what)
{
	char err[512], at[32];
	struct ddio_conf *conf = parse(text, err);

	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_EQUAL(ddio_conf_check_files(conf, 0, err, sizeof(err)), -EINVAL);
	snprintf(at, sizeof(at), ":%d: ", line);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, at));
	CU_ASSERT_PTR_NOT_NULL(strstr(err, what));
	if (conf->nnodes > 1)
		CU_ASSERT_EQUAL(ddio_conf_check_files(conf, 1, err, sizeof(err)), 0);
	ddio_conf_free(conf);
}

static void test_disk_by_links(void)
{
	char dir[] = "/tmp/ddio-ut-XXXXXX", text[1000], path[3][200];
	int i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(path[0], sizeof(path[0]), "%s/file", dir);
	snprintf(path[1], sizeof(path[1]), "%s/hard", dir);
	snprintf(path[2], sizeof(path[2]), "%s/soft", dir);
	close(open(path[0], O_CREAT | O_WRONLY, 0600));
	CU_ASSERT_EQUAL(link(path[0], path[1]), 0);
	CU_ASSERT_EQUAL(symlink("file", path[2]), 0);
	for (i = 1; i < 3; i++) {
		snprintf(text, sizeof(text), "%spath = %s\n[disk d1]\nnode = io0\npath = %s\n",
			 SMALL, path[0], path[i]);
		refused_by_daemon(text, 9, "the same file or device");
	}
	/* The daemon of another machine, which has other files, finds nothing wrong. */
	snprintf(text, sizeof(text),
		 "%spath = %s\n[disk d1]\nnode = io0\npath = %s\n[node io1]\naddress = far:7400\n"
		 "meta = /m\n[disk d2]\nnode = io1\npath = %s\n",
		 SMALL, path[0], path[1], path[0]);
	refused_by_daemon(text, 9, "the same file or device");
	for (i = 0; i < 3; i++)
		unlink(path[i]);
	rmdir(dir);
}

/* A path may be longer than the buffer of any parser. */
static void test_long_lines(void)
{
	char text[9000], path[4001], err[512];
	struct ddio_conf *conf;

	memset(path, 'p', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	snprintf(text, sizeof(text), "%s# %s\n   path =\t%s  ; here\n[disk d1]\nnode = io0\n",
		 SMALL, path, path);
	conf = parse(text, err);
	CU_ASSERT_STRING_EQUAL(err, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_STRING_EQUAL(conf->disks[0].path, path);
	CU_ASSERT_EQUAL(conf->disks[1].line, 10);
	ddio_conf_free(conf);
	snprintf(text, sizeof(text), "%s%s = 1\n", SMALL, path);
	refuses(text, 8, "too long");
	snprintf(text, sizeof(text), "%s[%s]\n", SMALL, path);
	refuses(text, 8, "too long");
}

static void test_files(void)
{
	char err[512], path[] = "/tmp/ddio-ut-XXXXXX";
	struct ddio_conf *conf;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(ddio_conf_load("/nonexistent/ddio.conf", &conf, err, sizeof(err)), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "/nonexistent/ddio.conf: No such file"));
	CU_ASSERT_EQUAL(ddio_conf_load("/", &conf, err, sizeof(err)), -EISDIR);
	CU_ASSERT_EQUAL(ddio_conf_load(path, &conf, err, sizeof(err)), -EINVAL);
	CU_ASSERT_PTR_NULL(conf);
	CU_ASSERT_EQUAL(write(fd, SMALL, strlen(SMALL)), (ssize_t)strlen(SMALL));
	CU_ASSERT_EQUAL(ddio_conf_load(path, &conf, err, sizeof(err)), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_STRING_EQUAL(conf->path, path);
	ddio_conf_free(conf);
	ddio_conf_free(NULL);
	close(fd);
	unlink(path);
}

/* Errors fit wherever they are put. */
static void test_short_error_buffer(void)
{
	struct ddio_conf *conf;
	char err[10];

	CU_ASSERT_EQUAL(ddio_conf_parse("t.conf", "[x]", 3, &conf, err, sizeof(err)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err, "t.conf:1:");
	CU_ASSERT_EQUAL(ddio_conf_parse("t.conf", "[x]", 3, &conf, err, 3), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err, "t.");
	CU_ASSERT_EQUAL(ddio_conf_parse("t.conf", "[x]", 3, &conf, NULL, 0), -EINVAL);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 100000);

	if (f && text)
		text[fread(text, 1, 99999, f)] = '\0';
	if (f)
		fclose(f);
	return text;
}

/* Of the manual: what stands between "[kind" headings. */
static char *manual_section(const char *manual, const char *kind)
{
	char heading[40];
	const char *at, *end;

	snprintf(heading, sizeof(heading), ".Ss [%s", kind);
	at = strstr(manual, heading);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	end = strstr(at, "\n.El");
	CU_ASSERT_PTR_NOT_NULL_FATAL(end);
	return strndup(at, (size_t)(end - at));
}

/* The table that the parser reads and the manual name the same options. */
static void test_manual(void)
{
	char *manual = slurp(MANUAL), *section, line[64];
	const struct ddio_opt *option;
	const char *at;
	int kind, named, known;

	for (kind = 0; kind < CONF_KINDS; kind++) {
		section = manual_section(manual, conf_kind_names[kind]);
		for (named = 0, at = section; (at = strstr(at, "\n.It Cm ")); at++)
			named++;
		for (known = 0, option = conf_options[kind]; option->name; option++, known++) {
			snprintf(line, sizeof(line), "\n.It Cm %s No = ", option->name);
			at = strstr(section, line);
			CU_ASSERT_PTR_NOT_NULL(at);
			if (!at)
				fprintf(stderr, "%s: no '%s'\n", MANUAL, option->name);
			else
				CU_ASSERT_EQUAL(option->required,
						!strncmp(strchr(at + 1, '\n'), "\nRequired", 9));
		}
		CU_ASSERT_EQUAL(named, known);
		CU_ASSERT(known <= CONF_MAX_OPTIONS);
		free(section);
	}
	free(manual);
}

/* The manual's example is a valid configuration. */
static void test_manual_example(void)
{
	char *manual = slurp(MANUAL), *begin, *end, err[512];
	struct ddio_conf *conf;

	begin = strstr(manual, "# Two nodes");
	CU_ASSERT_PTR_NOT_NULL_FATAL(begin);
	end = strstr(begin, ".Ed\n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(end);
	*end = '\0';
	conf = parse(begin, err);
	CU_ASSERT_STRING_EQUAL(err, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
	CU_ASSERT_EQUAL(conf->ndisks, 3);
	ddio_conf_free(conf);
	free(manual);
}

static void test_print(void)
{
	const struct ddio_opt *option;
	char *text = NULL, line[64];
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int kind;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	ddio_conf_print_options(out);
	fclose(out);
	for (kind = 0; kind < CONF_KINDS; kind++)
		for (option = conf_options[kind]; option->name; option++) {
			snprintf(line, sizeof(line), "\n  %s = ", option->name);
			CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
			CU_ASSERT_PTR_NOT_NULL(strstr(text, option->help));
		}
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "block = 512 to 16M (default: 256K)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "timeout = 1ms to 86400s (default: 30s)"));
	free(text);
}

/* The same limits as everywhere else; this layer cannot include them. */
static void test_limits(void)
{
	CU_ASSERT_EQUAL(CONF_MIN_BLOCK, DDIO_MIN_BLOCK);
	CU_ASSERT_EQUAL(CONF_MAX_BLOCK, DDIO_MAX_BLOCK);
	CU_ASSERT_EQUAL(CONF_MAX_SECTIONS, DDIO_MAX_DISKS);
	CU_ASSERT(CONF_MAX_NAME <= DDIO_MAX_NAME);
}

static const struct ut_case reading[] = {
	{ "smallest", test_smallest },	   { "mount block", test_mount_block },
	{ "security", test_security },	   { "users", test_users },
	{ "everything", test_everything }, { "long lines", test_long_lines },
	{ "files", test_files },	   { .name = NULL },
};

static const struct ut_case refusing[] = {
	{ "form", test_form },
	{ "NUL byte", test_nul_byte },
	{ "values", test_values },
	{ "addresses", test_addresses },
	{ "references", test_references },
	{ "one disk twice", test_disk_twice },
	{ "the same path on two machines", test_disk_on_two_machines },
	{ "one disk by links", test_disk_by_links },
	{ "short error buffer", test_short_error_buffer },
	{ .name = NULL },
};

static const struct ut_case agreeing[] = {
	{ "manual", test_manual },
	{ "the manual's example", test_manual_example },
	{ "printed options", test_print },
	{ "limits", test_limits },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = {
		{ "reading", reading },
		{ "refusing", refusing },
		{ "agreeing", agreeing },
	};

	return ut_run("conf", suites, 3);
}
