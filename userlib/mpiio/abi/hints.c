// SPDX-License-Identifier: LGPL-2.1-or-later
/* Hints: how a new file is spread, what a program asked for, and what a file is. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include "mpiio/abi/hints.h"

static bool value_of(MPI_Info info, const char *key, char *value, int len)
{
	int there = 0;

	if (info != MPI_INFO_NULL)
		PMPI_Info_get(info, key, len - 1, value, &there);
	return there;
}

/* A number from @low to @high; else 0. */
static uint64_t number_of(MPI_Info info, const char *key, uint64_t low, uint64_t high)
{
	char text[MPI_MAX_INFO_VAL + 1], *end;
	uint64_t n;

	if (!value_of(info, key, text, sizeof(text)))
		return 0;
	errno = 0;
	n = strtoull(text, &end, 10);
	return errno || *end || n < low || n > high ? 0 : n;
}

static uint32_t unit_of(MPI_Info info)
{
	uint64_t n = number_of(info, "striping_unit", 512, DDIO_MAX_BLOCK_SIZE);

	return n & (n - 1) ? 0 : (uint32_t)n;
}

bool hints_any(MPI_Info info)
{
	return unit_of(info) || number_of(info, "striping_factor", 1, HINTS_DISKS);
}

void hints_stripe(MPI_Info info, const char *path)
{
	uint32_t unit = unit_of(info),
		 n = (uint32_t)number_of(info, "striping_factor", 1, HINTS_DISKS);
	uint32_t first = (uint32_t)number_of(info, "start_iodevice", 0, HINTS_DISKS);
	char text[64];

	if (unit) {
		snprintf(text, sizeof(text), "%u", unit);
		setxattr(path, "ddio.stripe", text, strlen(text), 0);
	}
	if (n) {
		snprintf(text, sizeof(text), n > 1 ? "%u-%u" : "%u", first, first + n - 1);
		setxattr(path, "ddio.disks", text, strlen(text), 0);
	}
}

bool hints_striping(MPI_Info info, struct ddio_striping *striping, uint32_t *disks)
{
	uint32_t first = (uint32_t)number_of(info, "start_iodevice", 0, HINTS_DISKS), i;

	striping->block_size = unit_of(info);
	striping->ndisks = (uint32_t)number_of(info, "striping_factor", 1, HINTS_DISKS);
	striping->disks = disks;
	for (i = 0; i < striping->ndisks; i++)
		disks[i] = first + i;
	return striping->block_size || striping->ndisks;
}

static void copy_all(MPI_Info from, MPI_Info to)
{
	char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
	int n = 0, i;

	if (from == MPI_INFO_NULL)
		return;
	PMPI_Info_get_nkeys(from, &n);
	for (i = 0; i < n; i++) {
		PMPI_Info_get_nthkey(from, i, key);
		if (value_of(from, key, value, sizeof(value)))
			PMPI_Info_set(to, key, value);
	}
}

/* Another thread may ask for them: MPICH leaves the order of such calls to its programs. */
int hints_take(struct mpiio_file *f, MPI_Info info)
{
	int ret = 0;

	pthread_mutex_lock(&f->lock);
	if (f->info == MPI_INFO_NULL && PMPI_Info_create(&f->info))
		ret = -ENOMEM;
	else
		copy_all(info, f->info);
	pthread_mutex_unlock(&f->lock);
	return ret;
}

static bool hint_is(const struct mpiio_file *f, const char *key, const char *const words[3])
{
	char value[MPI_MAX_INFO_VAL + 1];

	return value_of(f->info, key, value, sizeof(value)) &&
	       (!strcmp(value, words[0]) || !strcmp(value, words[1]) || !strcmp(value, words[2]));
}

bool hints_is_on(const struct mpiio_file *f, const char *key)
{
	static const char *const words[] = { "true", "enable", "yes" };

	return hint_is(f, key, words);
}

bool hints_is_off(const struct mpiio_file *f, const char *key)
{
	static const char *const words[] = { "false", "disable", "no" };

	return hint_is(f, key, words);
}

static void say(MPI_Info info, const char *key, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	PMPI_Info_set(info, key, text);
}

void report_note(struct mpiio_file *f, const struct ddio_report *report)
{
	pthread_mutex_lock(&f->lock);
	f->report = *report;
	pthread_mutex_unlock(&f->lock);
}

/* The last transfer of this process, as struct ddio_report has it. */
static void say_report(MPI_Info info, const struct ddio_report *r)
{
	if (!r->struct_size)
		return;
	say(info, "ddio_report_bytes_share", r->bytes_share);
	say(info, "ddio_report_bytes_needed", r->bytes_needed);
	say(info, "ddio_report_disk_read", r->disk_read);
	say(info, "ddio_report_disk_written", r->disk_written);
	say(info, "ddio_report_disk_requests", r->disk_requests);
	say(info, "ddio_report_requests", r->requests);
	say(info, "ddio_report_messages", r->messages);
	say(info, "ddio_report_elapsed_ns", r->elapsed_ns);
	say(info, "ddio_report_iops", r->iops);
}

int serve_get_info(struct mpiio_file *f, MPI_Info *info)
{
	struct ddio_report report;
	struct ddio_file_stat st;
	int ret = ddio_fstat(f->file, &st);

	if (ret)
		return fail(f, ret);
	if (PMPI_Info_create(info))
		return fail_text(f, -ENOMEM, NULL);
	pthread_mutex_lock(&f->lock);
	copy_all(f->info, *info);
	report = f->report;
	pthread_mutex_unlock(&f->lock);
	say(*info, "striping_unit", st.block_size);
	say(*info, "striping_factor", st.ndisks);
	say(*info, "start_iodevice", (uint64_t)ddio_file_disk(f->file, 0));
	PMPI_Info_set(*info, "ddio_write_behind", f->behind.stage == BEHIND_OFF ? "false" : "true");
	say_report(*info, &report);
	return MPI_SUCCESS;
}

int serve_set_info(struct mpiio_file *f, MPI_Info info)
{
	int ret = behind_settle(f), taken = hints_take(f, info), gone = behind_agree(f);

	if (ret)
		return behind_fail(f, ret);
	if (gone)
		return fail(f, gone);
	return taken ? fail_text(f, taken, NULL) : MPI_SUCCESS;
}
