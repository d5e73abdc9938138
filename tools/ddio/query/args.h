/* SPDX-License-Identifier: GPL-2.0-only */
/* A question about records from the words of a command line, and answers as text. */
#ifndef TOOLS_QUERY_ARGS_H
#define TOOLS_QUERY_ARGS_H

#include <stdbool.h>
#include <ddio/ddio.h>

/**
 * struct query_args - a question, and what it names
 * @q: the question
 */
struct query_args {
	struct ddio_query q;
	struct ddio_query_field field[DDIO_QUERY_FIELDS_MAX];
	struct ddio_query_step step[DDIO_QUERY_STEPS_MAX];
	struct ddio_query_reduce reduce[DDIO_QUERY_REDUCE_MAX];
	uint32_t output[DDIO_QUERY_FIELDS_MAX];
	struct ddio_query_deal deal;
};

/**
 * struct query_crowd - a question of several processes together
 * @conf, @name: cluster and file; @procs: how many
 * @first, @records: which records
 * @count: how many match, and of each process how many are its own
 * @prefix: each process prints its records into the file of this name, a point and its rank; NULL: none are printed
 */
struct query_crowd {
	const char *conf, *name;
	const struct query_args *a;
	uint32_t procs;
	uint64_t first, records;
	bool count;
	const char *prefix;
};

/* crowd.c: returns an exit code. */
int crowd_ask(const struct query_crowd *crowd);

void args_init(struct query_args *a);
void args_free(struct query_args *a);

/* Each takes a list of words, which it cuts up, or NULL for none: 0, or -errno with @why. */
int args_fields(struct query_args *a, char *list, char *why, size_t len);
int args_reduce(struct query_args *a, uint32_t kind, char *list, char *why, size_t len);
int args_histograms(struct query_args *a, char *list, char *why, size_t len);
int args_print(struct query_args *a, char *list, char *why, size_t len);
/* Reads the condition. */
int args_where(struct query_args *a, const char *text, char *why, size_t len);

/* Reads how records are dealt out: "number", "NAME" or "NAME:BOUND,...", which it cuts up. */
int args_deal(struct query_args *a, char *text, char *why, size_t len);

/* Returns the bytes of a record that are printed. */
uint32_t args_out(const struct query_args *a);
/* Print what was made of a field, and a record. */
void args_show_value(const struct query_args *a, uint32_t i, const struct ddio_query_value *v);
void args_show_record(const struct query_args *a, uint64_t record, const uint8_t *fields);

#endif /* TOOLS_QUERY_ARGS_H */
