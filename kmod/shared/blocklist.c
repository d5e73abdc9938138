// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Sorts by the digits of the key, least significant first; each pass moves the
 * entries from one array to the other and keeps the order of equal digits.
 * Unlike quicksort it has no bad input, and unlike heapsort, which the kernel's
 * sort() uses, it walks memory in a few sequential streams.
 */
#include "blocklist.h"

/* Steps from one call of relax to the next: well under a millisecond. */
#define RELAX_STEPS (1U << 14)

/* From this length on, a table of counters for long digits is worth its cost. */
#define LONG_DIGITS (1U << 13)
#define SHORT_BITS 8

/* Up to this length, entries are inserted one by one. */
#define FEW 24

static int relax_at(const struct ddio_relax *relax, u64 step)
{
	if (step & (RELAX_STEPS - 1) || !relax || !relax->fn)
		return 0;
	return relax->fn(relax->arg);
}

/**
 * ddio_block_check - check that a block lies on its disk
 * @offset: of the block, bytes
 * @length: of the block, bytes
 * @disk_bytes: size of the disk
 * @logical: its logical sector, a power of two
 *
 * Return: 0; -EINVAL if the block is empty or not whole sectors; -EOVERFLOW if its end does not fit
 * into 64 bits; -ERANGE if it ends beyond the disk
 */
int ddio_block_check(u64 offset, u32 length, u64 disk_bytes, u32 logical)
{
	if (!length || (offset | length) & (logical - 1))
		return -EINVAL;
	if (offset > U64_MAX - length)
		return -EOVERFLOW;
	if (offset + length > disk_bytes)
		return -ERANGE;
	return 0;
}

/**
 * ddio_entries_group - put the entries of each disk together, keeping their order
 * @from: entries; their @chan is below @groups
 * @to: array of as many, for the result
 * @nr: how many
 * @first: @groups + 1 numbers: where each group begins in @to, and the end
 * @groups: how many
 * @relax: may be NULL
 *
 * Return: 0, or the error with which @relax gave up
 */
int ddio_entries_group(const struct ddio_entry *from, struct ddio_entry *to, u64 nr, u64 *first,
		       u32 groups, const struct ddio_relax *relax)
{
	u64 i;
	u32 g;
	int ret;

	memset(first, 0, (groups + 1) * sizeof(*first));
	for (i = 0; i < nr; i++) {
		ret = relax_at(relax, i);
		if (ret)
			return ret;
		first[from[i].chan + 1]++;
	}
	for (g = 1; g <= groups; g++)
		first[g] += first[g - 1];
	for (i = 0; i < nr; i++) {
		ret = relax_at(relax, i);
		if (ret)
			return ret;
		to[first[from[i].chan]++] = from[i];
	}
	/* Each group's number now says where the next group begins: moves them up by one. */
	for (g = groups; g; g--)
		first[g] = first[g - 1];
	first[0] = 0;
	return 0;
}

static u64 key_of(const struct ddio_entry *entry, enum ddio_sort_key key)
{
	return key == DDIO_SORT_OFFSET ? entry->offset : entry->index;
}

/* Sets bits in @varying where keys differ.  Returns 1 if sorted, 0 if not, or an error. */
static int look(const struct ddio_entry *entry, u32 nr, enum ddio_sort_key key,
		const struct ddio_relax *relax, u64 *varying)
{
	u64 first = key_of(entry, key), last = first;
	bool sorted = true;
	u32 i;
	int ret;

	*varying = 0;
	for (i = 1; i < nr; i++) {
		u64 k = key_of(entry + i, key);

		ret = relax_at(relax, i);
		if (ret)
			return ret;
		*varying |= k ^ first;
		sorted &= k >= last;
		last = k;
	}
	return sorted;
}

static void insert(struct ddio_entry *entry, u32 nr, enum ddio_sort_key key)
{
	u32 i, j;

	for (i = 1; i < nr; i++) {
		struct ddio_entry e = entry[i];
		u64 k = key_of(&e, key);

		for (j = i; j && key_of(&entry[j - 1], key) > k; j--)
			entry[j] = entry[j - 1];
		entry[j] = e;
	}
}

/* Sorts by the digit at @shift. */
static int pass(const struct ddio_entry *from, struct ddio_entry *to, u32 nr,
		enum ddio_sort_key key, u32 shift, u32 bits, struct ddio_sorter *sorter)
{
	u32 mask = (1U << bits) - 1, sum = 0, i;
	int ret;

	memset(sorter->at, 0, (mask + 1) * sizeof(sorter->at[0]));
	for (i = 0; i < nr; i++) {
		ret = relax_at(&sorter->relax, i);
		if (ret)
			return ret;
		sorter->at[key_of(from + i, key) >> shift & mask]++;
	}
	for (i = 0; i <= mask; i++) {
		u32 n = sorter->at[i];

		sorter->at[i] = sum;
		sum += n;
	}
	for (i = 0; i < nr; i++) {
		ret = relax_at(&sorter->relax, i);
		if (ret)
			return ret;
		to[sorter->at[key_of(from + i, key) >> shift & mask]++] = from[i];
	}
	return 0;
}

static int copy(const struct ddio_entry *from, struct ddio_entry *to, u32 nr,
		const struct ddio_relax *relax)
{
	u32 i, n;
	int ret;

	for (i = 0; i < nr; i += n) {
		n = nr - i < RELAX_STEPS ? nr - i : RELAX_STEPS;
		ret = relax_at(relax, 0);
		if (ret)
			return ret;
		memcpy(to + i, from + i, n * sizeof(*to));
	}
	return 0;
}

/**
 * ddio_entries_sort - sort by offset or by index, keeping the order of what is equal
 * @entry: entries
 * @spare: array of as many, scratch
 * @nr: how many
 * @key: by what
 * @sorter: scratch, and what to call now and then
 *
 * Return: 0, or the error with which relax gave up; then some entries may be there twice, others
 * not
 */
int ddio_entries_sort(struct ddio_entry *entry, struct ddio_entry *spare, u32 nr,
		      enum ddio_sort_key key, struct ddio_sorter *sorter)
{
	u32 bits = nr < LONG_DIGITS ? SHORT_BITS : DDIO_SORT_BITS, shift = 0;
	struct ddio_entry *from = entry, *to = spare, *swap;
	u64 varying;
	int ret;

	if (nr < 2)
		return 0;
	ret = look(entry, nr, key, &sorter->relax, &varying);
	if (ret)
		return ret < 0 ? ret : 0;
	if (nr <= FEW) {
		insert(entry, nr, key);
		return 0;
	}
	while (varying >> shift) {
		if (!(varying >> shift & 1)) {
			shift++;
			continue;
		}
		ret = pass(from, to, nr, key, shift, bits, sorter);
		if (ret)
			return ret;
		swap = from;
		from = to;
		to = swap;
		shift += bits;
		if (shift >= 64)
			break;
	}
	return from == entry ? 0 : copy(from, entry, nr, &sorter->relax);
}

/* Returns 1 if two of the entries with indices below @limit overlap, 0 if not, or relax's error. */
static int overlap_below(const struct ddio_entry *entry, u64 nr, u64 limit,
			 const struct ddio_relax *relax)
{
	u64 i, end = 0;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = relax_at(relax, i);
		if (ret)
			return ret;
		if (entry[i].index >= limit)
			continue;
		if (entry[i].offset < end)
			return 1;
		end = entry[i].offset + entry[i].length;
	}
	return 0;
}

/**
 * ddio_entries_overlap - find the first block of the list that overlaps one before it
 * @entry: entries of one disk, sorted by offset
 * @nr: how many
 * @relax: may be NULL
 * @index: that block's index; DDIO_NO_ENTRY if no two overlap
 *
 * Return: 0, or the error with which @relax gave up
 */
int ddio_entries_overlap(const struct ddio_entry *entry, u64 nr, const struct ddio_relax *relax,
			 u64 *index)
{
	/* No two of those below @low overlap, two of those below @high do. */
	u64 low = 0, high = 1ULL << 32, middle;
	int ret;

	*index = DDIO_NO_ENTRY;
	ret = overlap_below(entry, nr, high, relax);
	if (ret <= 0)
		return ret;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		ret = overlap_below(entry, nr, middle, relax);
		if (ret < 0)
			return ret;
		if (ret)
			high = middle;
		else
			low = middle;
	}
	*index = high - 1;
	return 0;
}
