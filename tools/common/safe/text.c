// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "text.h"

/* Return: how many bytes of a printable character @at begins with; 0: it is to be escaped */
static int printable(const unsigned char *at)
{
	int i, more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
	uint32_t c;

	if (*at < 0x80)
		return *at >= ' ' && *at != 0x7f;
	if (*at < 0xc2 || *at > 0xf4)
		return 0;
	c = *at & (0x3fu >> more);
	for (i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (at[i] & 0x3f);
	}
	/* Controls, overlong forms, surrogates, and what turns the direction of writing. */
	if (c < 0xa0 || (more == 2 && c < 0x800) || (more == 3 && c < 0x10000) || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069))
		return 0;
	return more + 1;
}

static void escape(FILE *f, unsigned char c)
{
	if (c == '\n' || c == '\t' || c == '\r')
		fprintf(f, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else
		fprintf(f, "\\%03o", c);
}

void text_put(FILE *f, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	int n;

	while (*at) {
		n = printable(at);
		if (n)
			fwrite(at, 1, (size_t)n, f);
		else
			escape(f, *at);
		at += n ? n : 1;
	}
}

void text_name(FILE *f, const char *name)
{
	if (isatty(fileno(f)))
		text_put(f, name);
	else
		fputs(name, f);
}

static bool all_printable(const char *word)
{
	const unsigned char *at = (const unsigned char *)word;
	int n;

	for (; *at; at += n) {
		n = printable(at);
		if (!n)
			return false;
	}
	return true;
}

/* Within '...' every character is itself; a quote ends it, and begins it again. */
static void quote(FILE *f, const char *word)
{
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

/* $'...' has escapes for what must not be printed. */
static void quote_escaped(FILE *f, const char *word)
{
	const unsigned char *at = (const unsigned char *)word;
	int n;

	fputs("$'", f);
	for (; *at; at += n ? n : 1) {
		n = printable(at);
		if (*at == '\'' || *at == '\\')
			fprintf(f, "\\%c", *at);
		else if (n)
			fwrite(at, 1, (size_t)n, f);
		else
			escape(f, *at);
	}
	fputc('\'', f);
}

char *text_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+,:@%=";
	char *text = NULL;
	size_t len;
	FILE *f;

	if (*word && !word[strspn(word, plain)])
		return strdup(word);
	f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	if (all_printable(word))
		quote(f, word);
	else
		quote_escaped(f, word);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
