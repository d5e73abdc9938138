/* SPDX-License-Identifier: GPL-2.0-only */
/* Names that others chose, as words on a terminal or in a command line. */
#ifndef TOOLS_SAFE_TEXT_H
#define TOOLS_SAFE_TEXT_H

#include <stdio.h>

/*
 * Prints @text with each control character, and each byte that is not UTF-8, as an escape of C's, so that it moves no cursor and
 * ends no line.
 */
void text_put(FILE *f, const char *text);
/* Prints a name: as it is for a program that reads it, like text_put() on a terminal. */
void text_name(FILE *f, const char *name);
/**
 * text_quoted - a word as a shell takes it
 * @word: any bytes
 *
 * Return: @word itself if no character of it means anything to a shell, else quoted.  Allocated, or NULL.
 */
char *text_quoted(const char *word);

#endif /* TOOLS_SAFE_TEXT_H */
