// SPDX-License-Identifier: GPL-2.0-only
/* A disk's settings, and which values are allowed. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "hpd.h"

/* Numbers left out here are the drive's own, filled in when the module is loaded. */
struct hpd_settings hpd_defaults = {
	.block_size = 512,
	.queue_depth = 64,
	.time_scale = HPD_SCALE_ONE,
	.timeout_ms = 30000,
	.immediate_report = true,
	.read_ahead = true,
};

/**
 * struct hpd_number - which values of a number are allowed
 * @offset: of the number in struct hpd_settings
 * @refusal: message about any other value
 * @least: smallest
 * @most: largest; 0: the drive's capacity
 * @or_zero: 0 is allowed, too
 * @power_of_2: only powers of two are allowed
 */
struct hpd_number {
	size_t offset;
	const char *refusal;
	u32 least;
	u32 most;
	bool or_zero;
	bool power_of_2;
};

#define HPD_NUMBER(name) \
	.offset = offsetof(struct hpd_settings, name), .refusal = #name " is out of range"

static const struct hpd_number numbers[] = {
	{ HPD_NUMBER(size), .least = 8 },
	{ HPD_NUMBER(block_size), .least = 512, .most = 4096, .power_of_2 = true },
	{ HPD_NUMBER(queue_depth), .least = 1, .most = 1024 },
	{ HPD_NUMBER(time_scale), .least = 1000, .most = 1000000000, .or_zero = true },
	{ HPD_NUMBER(timeout_ms), .most = 3600000 },
	{ HPD_NUMBER(buffer_sectors), .least = 4, .most = 65536 },
	{ HPD_NUMBER(dirty_sectors), .least = 4, .most = 65536 },
	{ HPD_NUMBER(memory_limit), .most = U32_MAX },
};

static bool number_ok(const struct hpd_number *number, u32 v)
{
	struct hp97560_params p;
	u64 most = number->most;

	hp97560_params_default(&p);
	if (!most)
		most = hp97560_capacity(&p);
	if (number->power_of_2 && !is_power_of_2(v))
		return false;
	return (v >= number->least && v <= most) || (!v && number->or_zero);
}

/**
 * hpd_number_set - change a number
 * @s: settings
 * @offset: of the number in them
 * @v: value
 * Return: 0, or -EINVAL for a value that is not allowed.
 */
int hpd_number_set(struct hpd_settings *s, size_t offset, u32 v)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].offset != offset)
			continue;
		if (!number_ok(&numbers[i], v))
			break;
		*(u32 *)((char *)s + offset) = v;
		return 0;
	}
	return -EINVAL;
}

/**
 * hpd_settings_fill - fill in the drive's own numbers where none were given
 * @s: settings
 */
void hpd_settings_fill(struct hpd_settings *s)
{
	struct hp97560_params p;

	hp97560_params_default(&p);
	s->size = s->size ?: hp97560_capacity(&p);
	s->buffer_sectors = s->buffer_sectors ?: p.buffer_sectors;
	s->dirty_sectors = s->dirty_sectors ?: p.dirty_sectors;
}

/**
 * hpd_settings_params - make the model's parameters of settings
 * @s: settings
 * @p: filled in
 * Return: 0, or -EINVAL if there is no such drive.
 */
int hpd_settings_params(const struct hpd_settings *s, struct hp97560_params *p)
{
	hp97560_params_default(p);
	p->immediate_report = s->immediate_report;
	p->read_ahead = s->read_ahead;
	p->bus_overlap = s->bus_overlap;
	p->buffer_sectors = s->buffer_sectors;
	p->dirty_sectors = s->dirty_sectors;
	return hp97560_params_check(p);
}

/**
 * hpd_settings_check - see whether settings make a disk
 * @s: settings
 * Return: NULL, or what is wrong with them.
 */
const char *hpd_settings_check(const struct hpd_settings *s)
{
	struct hp97560_params p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!number_ok(&numbers[i], *(const u32 *)((const char *)s + numbers[i].offset)))
			return numbers[i].refusal;
	if (s->size % (s->block_size >> SECTOR_SHIFT))
		return "size is not a whole number of blocks";
	if (s->dirty_sectors > s->buffer_sectors)
		return "dirty_sectors is more than buffer_sectors";
	if (hpd_settings_params(s, &p))
		return "the settings make no drive";
	return NULL;
}
