// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parses lines into sections and values with inih.  The reader function is our own, since inih
 * tells its handler neither the line nor that a section has begun, and takes no long lines: the
 * reader counts lines, inserts a marker after each section heading, and stands in for a value that
 * inih's line buffer cannot hold.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include "conf/priv.h"

#define MARKER "\x01"

struct conf_reader {
	struct conf_parser *parser;
	const char *at, *end;
	int line;	  /* of the file, from 1 */
	int calls;	  /* lines handed to inih */
	bool heading;	  /* the marker is due */
	char *long_value; /* the value that the marker replaces */
	int failed;
};

static int reader_fail(struct conf_reader *reader, const char *what)
{
	reader->failed = -EINVAL;
	if (reader->parser)
		conf_fail(reader->parser, -EINVAL, reader->line, "%s", what);
	return -EINVAL;
}

static bool line_is_clean(const char *at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)at[i] < ' ' && at[i] != '\t' && at[i] != '\r')
			return false;
	return true;
}

/* Returns whether inih would accept the heading; only then may the marker follow. */
static bool heading_ok(const char *at, size_t len)
{
	size_t i;

	for (i = 1; i < len && at[i] != ']'; i++)
		if (at[i] == ';')
			return false;
	for (i++; i < len && isspace((unsigned char)at[i]); i++)
		;
	return i == len || (i < len && (at[i] == ';' || at[i] == '#'));
}

/* Copies a value as inih would: without blanks around it and without " ;comment". */
static char *value_of(const char *at, size_t len)
{
	size_t i;

	while (len && isspace((unsigned char)*at)) {
		at++;
		len--;
	}
	for (i = 1; i < len; i++)
		if (at[i] == ';' && isspace((unsigned char)at[i - 1]))
			len = i;
	while (len && isspace((unsigned char)at[len - 1]))
		len--;
	return strndup(at, len);
}

/* For a line that does not fit: puts "name = marker" into the buffer and keeps the value in long_value. */
static int reader_stand_in(struct conf_reader *reader, char *buf, size_t cap, const char *at,
			   size_t len)
{
	size_t name = 0;

	if (*at == '#' || *at == ';') {
		buf[0] = '\0';
		return 0;
	}
	while (name < len && at[name] != '=' && at[name] != ':')
		name++;
	if (name == len || name + sizeof(MARKER) + 1 > cap || *at == '[')
		return reader_fail(reader, "the line is too long for a name or a section");
	memcpy(buf, at, name + 1);
	strcpy(buf + name + 1, MARKER);
	free(reader->long_value);
	reader->long_value = value_of(at + name + 1, len - name - 1);
	if (!reader->long_value)
		reader->failed = -ENOMEM;
	return reader->failed;
}

/* Returns the next line like fgets(); an ini_reader. */
static char *reader_line(char *buf, int num, void *arg)
{
	struct conf_reader *reader = arg;
	const char *at = reader->at, *eol;
	size_t len;

	reader->calls++;
	if (reader->heading) {
		reader->heading = false;
		snprintf(buf, (size_t)num, MARKER "=" MARKER "\n");
		return buf;
	}
	if (reader->failed || at == reader->end)
		return NULL;
	reader->line++;
	eol = memchr(at, '\n', (size_t)(reader->end - at));
	reader->at = eol ? eol + 1 : reader->end;
	len = (size_t)((eol ? eol : reader->end) - at);
	if (reader->line == 1 && len >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) {
		at += 3;
		len -= 3;
	}
	if (!line_is_clean(at, len)) {
		reader_fail(reader, "the line holds a control character");
		return NULL;
	}
	/* An indented line would be a continuation to inih. */
	while (len && isspace((unsigned char)*at)) {
		at++;
		len--;
	}
	reader->heading = len && *at == '[';
	if (reader->heading && !heading_ok(at, len)) {
		reader_fail(reader, "a section is [cluster], [node NAME] or [disk NAME]");
		return NULL;
	}
	if (len + 2 <= (size_t)num) {
		memcpy(buf, at, len);
		buf[len] = '\0';
		return buf;
	}
	return reader_stand_in(reader, buf, (size_t)num, at, len) ? NULL : buf;
}

static int kind_of(const char *word, size_t len)
{
	int kind;

	for (kind = 0; kind < CONF_KINDS; kind++)
		if (strlen(conf_kind_names[kind]) == len &&
		    !memcmp(word, conf_kind_names[kind], len))
			return kind;
	return -1;
}

static struct conf_section *section_find(const struct conf_parser *parser, int kind,
					 const char *name)
{
	struct conf_section *section;
	size_t i;

	for (i = 0; i < parser->nsections; i++) {
		section = parser->sections[i];
		if ((int)section->kind == kind && !strcmp(section->name, name))
			return section;
	}
	return NULL;
}

static void section_defaults(struct conf_section *section)
{
	if (section->kind == CONF_CLUSTER) {
		section->cluster.conf.block = 256u << 10;
		section->cluster.conf.timeout_ns = 30000000000ull;
		section->cluster.conf.checksums = true;
		section->cluster.conf.wire_checksums = DDIO_CONF_SUMS_YES;
		section->cluster.conf.scrub_ns = 7 * 86400 * 1000000000ull;
		section->cluster.conf.scrub_rate = 32u << 20;
		section->cluster.conf.grant_ns = 600 * 1000000000ull;
		section->cluster.conf.share = true;
		section->cluster.conf.channels = true;
		section->cluster.conf.broker = CONF_BROKER_AUTO;
	} else if (section->kind == CONF_NODE) {
		section->node.cache = 64u << 20;
		section->node.cscan = true;
		section->node.write_back_ns = 5000000000ull;
		section->node.sync_io = true;
	}
}

static int section_add(struct conf_parser *parser, int line, int kind, const char *name)
{
	struct conf_section **grown, *section = NULL;

	if (parser->nsections > 2 * CONF_MAX_SECTIONS)
		return conf_fail(parser, -EINVAL, line, "more than %u nodes or disks",
				 CONF_MAX_SECTIONS);
	grown = realloc(parser->sections, (parser->nsections + 1) * sizeof(*grown));
	if (!grown)
		goto nomem;
	parser->sections = grown;
	section = calloc(1, sizeof(*section));
	if (!section)
		goto nomem;
	section->name = strdup(name);
	if (!section->name)
		goto nomem;
	section->kind = (enum conf_kind)kind;
	section->line = line;
	section_defaults(section);
	parser->sections[parser->nsections++] = section;
	parser->current = section;
	return 0;
nomem:
	free(section);
	return conf_fail(parser, -ENOMEM, line, "out of memory");
}

/* Starts a section; @text: what stood between the brackets. */
static int section_begin(struct conf_parser *parser, int line, const char *text)
{
	const struct conf_section *before;
	size_t len = strcspn(text, " \t");
	const char *name = text + len + strspn(text + len, " \t");
	int kind = kind_of(text, len);
	char clean[64];

	/* inih cuts headings off at 49 bytes, more than any valid one has. */
	snprintf(clean, sizeof(clean), "%s", name);
	for (len = strlen(clean); len && isspace((unsigned char)clean[len - 1]); len--)
		clean[len - 1] = '\0';
	if (kind < 0)
		return conf_fail(parser, -EINVAL, line,
				 "unknown section [%s]; sections are [cluster], "
				 "[node NAME] and [disk NAME]",
				 text);
	if (kind == CONF_CLUSTER && *clean)
		return conf_fail(parser, -EINVAL, line,
				 "[cluster] takes no name, but '%s' "
				 "was given",
				 clean);
	if (kind != CONF_CLUSTER && !conf_name_ok(clean))
		return conf_fail(parser, -EINVAL, line,
				 "[%s] needs a name of 1 to %d letters, digits, '.', '_' "
				 "and '-'",
				 text, CONF_MAX_NAME);
	before = section_find(parser, kind, clean);
	if (before)
		return conf_fail(parser, -EINVAL, line, "[%s] was already given in line %d", text,
				 before->line);
	return section_add(parser, line, kind, clean);
}

static void list_names(const struct ddio_opt *option, char *text, size_t len)
{
	size_t at = 0;

	text[0] = '\0';
	for (; option->name && at < len; option++)
		at += (size_t)snprintf(text + at, len - at, "%s%s", at ? ", " : "", option->name);
}

static int value_add(struct conf_parser *parser, int line, const char *name, const char *value)
{
	struct conf_section *section = parser->current;
	const struct ddio_opt *options = conf_options[section->kind];
	const char *kind = conf_kind_names[section->kind];
	const char *gap = *section->name ? " " : "";
	char text[256];
	int i, ret;

	for (i = 0; options[i].name && strcmp(options[i].name, name); i++)
		;
	if (!options[i].name) {
		list_names(options, text, sizeof(text));
		return conf_fail(parser, -EINVAL, line,
				 "unknown name '%s' in [%s%s%s]; allowed are %s", name, kind, gap,
				 section->name, text);
	}
	if (section->lines[i])
		return conf_fail(parser, -EINVAL, line,
				 "'%s' was already given in line %d of [%s%s%s]", name,
				 section->lines[i], kind, gap, section->name);
	if (!*value)
		return conf_fail(parser, -EINVAL, line, "'%s' in [%s%s%s] has no value", name, kind,
				 gap, section->name);
	if (strstr(value, " #") || strstr(value, "\t#"))
		return conf_fail(parser, -EINVAL, line,
				 "value of '%s' in [%s%s%s] has a '#' in it; a comment with "
				 "'#' needs a line of its own",
				 name, kind, gap, section->name);
	section->lines[i] = line;
	ret = ddio_opt_set(&options[i], value, section, text, sizeof(text));
	return ret ? conf_fail(parser, ret, line, "bad value '%s' of '%s' in [%s%s%s]: %s", value,
			       name, kind, gap, section->name, text)
		   : 0;
}

/* Handles a name and its value; nonzero if all is well: an ini_handler. */
static int handle(void *user, const char *heading, const char *name, const char *value)
{
	struct conf_reader *reader = user;
	struct conf_parser *parser = reader->parser;
	int ret;

	if (parser->ret)
		return 0;
	if (!strcmp(name, MARKER))
		ret = section_begin(parser, reader->line, heading);
	else if (!parser->current)
		ret = conf_fail(parser, -EINVAL, reader->line,
				"'%s' stands before the first [section]", name);
	else
		ret = value_add(parser, reader->line, name,
				!strcmp(value, MARKER) && reader->long_value ? reader->long_value
									     : value);
	if (ret)
		reader->failed = ret;
	return !ret;
}

/* Returns the line of the file of the @n-th line that inih was given. */
static int line_of_call(const char *text, size_t len, int n)
{
	struct conf_reader reader = { .at = text, .end = text + len };
	char buf[200];

	while (reader.calls < n && reader_line(buf, sizeof(buf), &reader))
		;
	free(reader.long_value);
	return reader.line;
}

int conf_read(struct conf_parser *parser, const char *text, size_t len)
{
	struct conf_reader reader = { .parser = parser, .at = text, .end = text + len };
	int ret;

	if (len > CONF_MAX_TEXT)
		return conf_fail(parser, -EINVAL, 1, "the file is larger than %u bytes",
				 CONF_MAX_TEXT);
	ret = ini_parse_stream(reader_line, &reader, handle, &reader);
	free(reader.long_value);
	if (parser->ret)
		return parser->ret;
	if (ret < 0 || reader.failed)
		return conf_fail(parser, -ENOMEM, reader.line, "out of memory");
	if (ret > 0)
		return conf_fail(parser, -EINVAL, line_of_call(text, len, ret),
				 "expected a [section], name = value, or a # comment");
	return 0;
}
