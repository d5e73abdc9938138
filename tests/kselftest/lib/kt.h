/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the kernel modules share: the ioctls without ceremony,
 * devices of their own, seeded numbers, and what may not be left behind.
 *
 * Functions return 0 or a negative errno unless they say otherwise.
 */
#ifndef KT_H
#define KT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/ddio.h>

#define KT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define KT_SECOND 1000000000ULL

/*
 * begin.c: a program's begin
 */
/* Leaves with exit code 4 and the reason, before any case has run. */
void kt_skip_all(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/*
 * Root, /dev/ddio (the module is loaded if it is not), debugfs and configfs mounted, all devices
 * freed at the end; otherwise skips.
 */
void kt_begin(void);
/* Loads a module with parameters, or finds it loaded. */
int kt_modprobe(const char *module, const char *parameters);
/* Returns a number from the environment. */
uint64_t kt_env(const char *name, uint64_t otherwise);
/* DDIO_SEED or 1, printed. */
uint64_t kt_seed(void);

/*
 * files.c: attributes in /proc and /sys
 */
int kt_write(const char *value, const char *path, ...) __attribute__((format(printf, 2, 3)));
/* Empties a file.  The kernel's trace hears of it by O_TRUNC alone, not by truncate(). */
int kt_empty(const char *path);
/* Reads the file's first line without its end. */
int kt_read(char *value, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));
/* The number behind "@key " or "@key:" in a file of such lines; ~0 if there is none. */
uint64_t kt_keyed(const char *path, const char *key);

/*
 * abi.c: ioctls
 */
static inline uint64_t kt_ptr(const void *p)
{
	return (uintptr_t)p;
}

uint64_t kt_now(void);
int kt_open(void);
int kt_call(int fd, unsigned int cmd, void *arg);
int kt_disk_add(int ctx, int fd, uint32_t *id);
/* Opens @path, adds the disk and closes it again. */
int kt_disk_open(int ctx, const char *path, int flags, uint32_t *id);
int kt_buffer_add(int ctx, const void *memory, size_t length, uint32_t flags, uint32_t *id);
int kt_ring_setup(int ctx, uint32_t events, uint32_t slots, struct ddio_ring **ring,
		  size_t *length);
int kt_destroy(int ctx, uint32_t id);
int kt_cancel(int ctx, uint32_t id);
/* Fills in what every submission has: sizes, pointers, no joint, no deadline. */
void kt_submit_init(struct ddio_submit *s, uint32_t op, uint32_t delivery,
		    const struct ddio_block *blocks, uint64_t nr);
int kt_submit(int ctx, struct ddio_submit *s);
/* @out may be NULL.  The collective's error is in it, or returned if it is NULL. */
int kt_wait(int ctx, uint32_t coll, uint64_t deadline, struct ddio_wait *out);
int kt_wait_status(int ctx, uint32_t coll, int32_t *status, uint64_t nr, struct ddio_wait *out);

/*
 * random.c
 */
struct kt_rng {
	uint64_t state;
};

uint64_t kt_random(struct kt_rng *rng);
/* Returns a random number below @n. */
uint64_t kt_below(struct kt_rng *rng, uint64_t n);
void kt_fill(struct kt_rng *rng, void *memory, size_t length);
void kt_shuffle(struct kt_rng *rng, void *items, size_t n, size_t size);

/*
 * dev.c, dev_*.c: devices, freed in the reverse order at the program's end
 */
struct kt_dev {
	char path[64];
	char name[48]; /* in its configfs, or of its map */
	uint64_t bytes;
	uint32_t logical;
	int fd; /* loop: its file; partitions: the whole */
	int nr; /* partitions: number */
	void (*undo)(struct kt_dev *dev);
};

/* The parent and owner of devices: only this process frees them. */
void kt_devs_begin(void);
struct kt_dev *kt_dev_new(void (*undo)(struct kt_dev *dev));
void kt_dev_free(struct kt_dev *dev);
void kt_devs_free(void);
/* Waits for the node, then reads its size and sector. */
int kt_dev_probe(struct kt_dev *dev);

struct kt_null {
	uint32_t megabytes;
	uint32_t block_size; /* 0: 512 */
	const char *more;    /* "attribute=value attribute=value", or NULL */
};

/* All of these return NULL, with errno, where there is no such device. */
struct kt_dev *kt_dev_null(const struct kt_null *how);
struct kt_dev *kt_dev_loop(uint32_t megabytes);
/* @more as in struct kt_null. */
struct kt_dev *kt_dev_hp97560(const char *more);
struct kt_dev *kt_dev_partition(struct kt_dev *whole, int nr, uint64_t offset, uint64_t bytes);
struct kt_dev *kt_dev_scsi_debug(const char *parameters);
struct kt_dev *kt_dev_dm(uint64_t sectors, const char *target, const char *parameters);
/* Gives a running device another table. */
int kt_dm_reload(struct kt_dev *dev, uint64_t sectors, const char *target, const char *parameters);
/* "major:minor" of a device, for a table. */
void kt_dev_numbers(const struct kt_dev *dev, char *text, size_t size);

/*
 * lsm.c: a security module of the test's own
 */
#define KT_MAY_WRITE 2U
#define KT_MAY_READ 4U

/*
 * Has the kernel ask a program that refuses, with EPERM, what reads or writes @dev (KT_MAY_...).
 * Returns a descriptor, at whose closing it ends; an errno where the kernel cannot do that.
 */
int kt_lsm_refuse(const struct kt_dev *dev, unsigned int mask);

/*
 * leak.c: what a test may not leave behind
 */
struct kt_usage {
	uint64_t pinned;   /* pages pinned and not released */
	uint64_t contexts; /* in the module's debugfs */
	uint64_t users;	   /* of the module */
	uint64_t live;	   /* objects and pages, by the module's own count */
	uint64_t slab_kb;  /* unreclaimable */
};

void kt_usage(struct kt_usage *usage);
/*
 * Waits until no more is pinned, open and in use than @before; at most @seconds.  Says what is
 * left, and returns false, if there is more.
 */
bool kt_usage_settled(const struct kt_usage *before, unsigned int seconds);

#endif /* KT_H */
