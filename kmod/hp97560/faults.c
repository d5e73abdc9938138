// SPDX-License-Identifier: GPL-2.0-only
/* Injected faults: errors, and commands that do not end. */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "hpd.h"

static const struct {
	const char *name;
	blk_status_t status;
} statuses[] = {
	{ "io", BLK_STS_IOERR },
	{ "medium", BLK_STS_MEDIUM },
	{ "nospc", BLK_STS_NOSPC },
	{ "notsupp", BLK_STS_NOTSUPP },
	{ "protection", BLK_STS_PROTECTION },
	{ "target", BLK_STS_TARGET },
	{ "timeout", BLK_STS_TIMEOUT },
	{ "transport", BLK_STS_TRANSPORT },
};

void hpd_faults_init(struct hpd_faults *faults)
{
	memset(faults, 0, sizeof(*faults));
}

static bool faults_in_bad(const struct hpd_faults *faults, u64 sector, u32 sectors)
{
	u32 i;

	for (i = 0; i < faults->n_bad; i++)
		if (sector <= faults->bad[i].last && sector + sectors > faults->bad[i].first)
			return true;
	return false;
}

/* Counts a command.  Returns true, and the *@status, if it is to fail. */
bool hpd_faults_bad(struct hpd_faults *faults, u64 sector, u32 sectors, blk_status_t *status)
{
	bool bad = faults_in_bad(faults, sector, sectors);

	if (faults->fail_every && ++faults->failed >= faults->fail_every) {
		faults->failed = 0;
		bad = true;
	}
	if (faults->fail_after) {
		bad |= faults->done >= faults->fail_after;
		faults->done += faults->done < faults->fail_after;
	}
	if (bad)
		*status = statuses[faults->status].status;
	return bad;
}

/* Counts a command.  Returns true if it is to be held. */
bool hpd_faults_hold(struct hpd_faults *faults)
{
	if (!faults->stall_every || ++faults->stalled < faults->stall_every)
		return false;
	faults->stalled = 0;
	return true;
}

/* Power ends a stall: add_disk() would wait for ever for a drive that does not answer. */
void hpd_faults_restart(struct hpd_faults *faults)
{
	faults->stall = false;
	faults->stall_every = 0;
	faults->stalled = 0;
	faults->failed = 0;
	faults->done = 0;
}

ssize_t hpd_bad_show(struct hpd *hpd, char *page)
{
	struct hpd_range bad[HPD_BAD_MAX];
	ssize_t len = 0;
	u32 i, n;

	spin_lock_irq(&hpd->lock);
	n = hpd->faults.n_bad;
	memcpy(bad, hpd->faults.bad, n * sizeof(bad[0]));
	spin_unlock_irq(&hpd->lock);
	for (i = 0; i < n; i++)
		len += sysfs_emit_at(page, len, "%s%llu-%llu", i ? " " : "", bad[i].first,
				     bad[i].last);
	return len + sysfs_emit_at(page, len, "\n");
}

/* "5" or "5-9" */
static int range_parse(char *word, struct hpd_range *range)
{
	char *last = strchr(word, '-');

	if (last)
		*last++ = 0;
	if (kstrtou64(word, 10, &range->first) || kstrtou64(last ?: word, 10, &range->last))
		return -EINVAL;
	return range->first <= range->last ? 0 : -EINVAL;
}

static int ranges_parse(char *text, struct hpd_range *range, u32 *n)
{
	char *word;
	int err;

	*n = 0;
	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (*n == HPD_BAD_MAX)
			return -E2BIG;
		err = range_parse(word, &range[*n]);
		if (err)
			return err;
		++*n;
	}
	return 0;
}

/**
 * hpd_bad_store - set which sectors fail
 * @hpd: the disk
 * @page: ranges, separated by blanks; empty: no bad sectors
 * Return: 0, -EINVAL if something is not a range, -E2BIG for too many of them, or -ENOMEM.
 */
int hpd_bad_store(struct hpd *hpd, const char *page)
{
	struct hpd_range bad[HPD_BAD_MAX];
	char *text = kstrdup(page, GFP_KERNEL);
	int err;
	u32 n;

	if (!text)
		return -ENOMEM;
	err = ranges_parse(text, bad, &n);
	kfree(text);
	if (err)
		return err;
	spin_lock_irq(&hpd->lock);
	memcpy(hpd->faults.bad, bad, n * sizeof(bad[0]));
	hpd->faults.n_bad = n;
	spin_unlock_irq(&hpd->lock);
	return 0;
}

const char *hpd_status_name(u32 status)
{
	return statuses[status].name;
}

int hpd_status_parse(const char *text, u32 *status)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++) {
		if (sysfs_streq(text, statuses[i].name)) {
			*status = i;
			return 0;
		}
	}
	return -EINVAL;
}
