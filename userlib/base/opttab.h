/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options in tables: what parses them, prints them, completes them and compares them with the manual
 * pages reads the same table, be it of a command line, of a mount, of a section of the configuration or
 * of a disk engine.  Numbers, sizes and times follow units.h.
 */
#ifndef DDIO_OPTTAB_H
#define DDIO_OPTTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of options: the value that each takes, and the type of its member in the struct of values. */
enum opt_type {
	OPT_FLAG,    /* bool; takes nothing, becomes true */
	OPT_UNFLAG,  /* bool; takes nothing, becomes false */
	OPT_NONE,    /* no member; the table's owner knows what to do with it */
	OPT_BOOL,    /* bool; yes or no */
	OPT_TEXT,    /* const char *, the text itself, which has to last */
	OPT_STRING,  /* char *, a copy that belongs to the struct's owner */
	OPT_LIST,    /* the same; given again, it is added behind a comma */
	OPT_WORD,    /* unsigned int: an index of @words */
	OPT_U32,     /* uint32_t */
	OPT_U64,     /* uint64_t */
	OPT_DOUBLE,  /* double */
	OPT_SIZE,    /* uint64_t bytes */
	OPT_POWER,   /* uint32_t bytes, a power of two */
	OPT_TIME,    /* uint64_t nanoseconds */
	OPT_SECONDS, /* double, a time in seconds */
};

/**
 * struct ddio_opt - one option
 * @name: NULL ends a table
 * @letter: short form on a command line, or 0
 * @type: see enum opt_type
 * @offset: of the member in the struct of values
 * @arg: name of the argument in help texts
 * @help: one line; NULL: the option is not shown
 * @min, @max: limits of a number, size or time (nanoseconds; OPT_SECONDS: seconds); @max 0: only the
 *	type's own
 * @fallback: what holds if the option is not given, as text for people; NULL: not mentioned
 * @required: the option must be given
 * @given: offset of a bool that becomes true, or 0
 * @words: of OPT_WORD, ended by NULL
 * @special: OPT_SIZE: a word that stands for UINT64_MAX, or NULL
 * @check: OPT_STRING: true if the text will do; NULL: all will
 * @allowed: with @check: what will do, for messages and help
 * @use: the owner's
 */
struct ddio_opt {
	const char *name;
	char letter;
	enum opt_type type;
	size_t offset;
	const char *arg;
	const char *help;
	double min, max;
	const char *fallback;
	bool required;
	size_t given;
	const char *const *words;
	const char *special;
	bool (*check)(const char *text);
	const char *allowed;
	int use;
};

/* The row of an option that needs no more than these; others name their members. */
#define DDIO_OPT(name_, letter_, type_, offset_, arg_, help_)                               \
	{                                                                                   \
		.name = (name_), .letter = (letter_), .type = (type_), .offset = (offset_), \
		.arg = (arg_), .help = (help_)                                              \
	}

/* Returns the option of that name, or NULL. */
const struct ddio_opt *ddio_opt_find(const struct ddio_opt *table, const char *name);
/* Returns whether it takes a value. */
bool ddio_opt_takes_value(const struct ddio_opt *opt);

/**
 * ddio_opt_set - read a value into a struct
 * @opt: which option
 * @text: the value; ignored by options that take none
 * @values: the struct that @opt->offset is an offset in; unchanged on failure
 * @why: on failure "allowed are ..." or "out of memory"
 * @why_len: size of @why
 * Return: 0, -EINVAL or -ENOMEM.
 */
int ddio_opt_set(const struct ddio_opt *opt, const char *text, void *values, char *why,
		 size_t why_len);
/* Describes in a few words the values that the option takes: "512 to 16M", "yes or no". */
void ddio_opt_limits(const struct ddio_opt *opt, char *text, size_t len);

#endif /* DDIO_OPTTAB_H */
