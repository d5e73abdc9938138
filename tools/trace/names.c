// SPDX-License-Identifier: GPL-2.0-only
/* Words of traces, and text that others have chosen. */
#include "trace.h"

static const char *const state_name[DDIO_TRACE_STATES] = {
	"planning", "recording changes", "running", "committing", "stopping", "releasing", "over"
};
static const char *const slot_name[DDIO_TRACE_SLOTS] = {
	"idle",	  "waits for the lock", "waits for the disk's choice", "reads", "records a change",
	"writes", "waits for members"
};
static const char *const pieces_name[DDIO_TRACE_PIECES] = { "none", "next block",
							    "waits for pieces", "has all pieces" };

const char *trace_state_name(const struct ddio_trace_event *e)
{
	switch (e->kind) {
	case DDIO_TRACE_STATE:
		return state_name[e->what];
	case DDIO_TRACE_SLOT:
		return slot_name[e->what];
	default:
		return pieces_name[e->what];
	}
}

const char *trace_way_name(const struct ddio_trace_event *e)
{
	static const char *const way[] = { "TCP", "TLS", "memory" };

	return e->slot < sizeof(way) / sizeof(way[0]) ? way[e->slot] : "unknown";
}

bool trace_is_nothing(const struct ddio_trace_event *e)
{
	switch (e->kind) {
	case DDIO_TRACE_STATE:
		return e->what == DDIO_TRACE_OVER;
	case DDIO_TRACE_SLOT:
		return e->what == DDIO_TRACE_IDLE;
	default:
		return e->what == DDIO_TRACE_NONE;
	}
}

/* Returns how many bytes a character of UTF-8 has that is fit to print, or 0. */
static int utf8_len(const unsigned char *s)
{
	int n = s[0] < 0x80   ? 1
		: s[0] < 0xc2 ? 0
		: s[0] < 0xe0 ? 2
		: s[0] < 0xf0 ? 3
		: s[0] < 0xf5 ? 4
			      : 0;
	int i;

	if (n == 1)
		return s[0] >= 0x20 && s[0] != 0x7f;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) ||
	    (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] >= 0x90) || (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe))
		return 0;
	return n;
}

const char *trace_text(const char *from, char *to, size_t size)
{
	const unsigned char *s = (const unsigned char *)from;
	size_t used = 0;
	int n, i;

	while (*s) {
		n = utf8_len(s);
		if (used + (n ? n : 1) >= size)
			break;
		for (i = 0; i < n; i++)
			to[used++] = (char)s[i];
		if (!n)
			to[used++] = '?';
		s += n ? n : 1;
	}
	to[used] = '\0';
	return to;
}
