/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What both ends of a stream remember of the messages that went over it, so that one which is like an earlier one is sent
 * as what differs.  The stream is ordered and loses nothing, so both remember the same by the same rules, and nobody
 * asks; with the stream the memory ends.
 */
#ifndef DDIO_PROTO_PAST_H
#define DDIO_PROTO_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDIO_PAST_ENTRIES 8
#define DDIO_PAST_BYTES (256u << 10)

/* Longest message that says what differs; where that would be longer, all is sent.  A longer one is refused. */
#define DDIO_PAST_SCRIPT 512

/**
 * struct ddio_past - what one end remembers; zeroes at first
 * @entry: the one that was of use last comes first
 * @bytes: of all entries
 * @long_one: the last message that was made of an entry, if it is too long to be remembered: at most DDIO_PAST_SCRIPT longer
 * @lost: there was no memory for one: until the other end has forgotten, too, none is taken
 *
 * One end has at most 2 * DDIO_PAST_BYTES + DDIO_PAST_SCRIPT bytes, whatever the other sends.
 */
struct ddio_past {
	struct ddio_past_entry {
		uint8_t *data;
		size_t len;
	} entry[DDIO_PAST_ENTRIES];
	uint32_t n;
	size_t bytes;
	uint8_t *long_one;
	bool lost;
};

/**
 * struct ddio_past_code - how a message is sent
 * @bytes, @len: this first
 * @whole: then the message itself
 */
struct ddio_past_code {
	uint8_t bytes[DDIO_PAST_SCRIPT];
	size_t len;
	bool whole;
};

/* Says how to send a message, as which it will be remembered; never fails. */
void ddio_past_put(struct ddio_past *past, const void *data, size_t len,
		   struct ddio_past_code *code);
/**
 * ddio_past_get - take what the other end sent
 * @buf, @len: what was sent
 * @data, @data_len: the message, in @buf or in @past: until the next call
 *
 * Return: 0, -EPROTO: malformed, -EMSGSIZE: the message is longer than any may be, -ENOMEM: nothing is remembered
 * any more, so the other end must forget, too.
 */
int ddio_past_get(struct ddio_past *past, const void *buf, size_t len, const void **data,
		  size_t *data_len);
void ddio_past_clear(struct ddio_past *past);

#endif /* DDIO_PROTO_PAST_H */
