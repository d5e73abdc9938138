/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /dev/ddio for programs: the ioctls of <uapi/linux/ddio.h> as functions that
 * return 0 (unless stated otherwise) or a negative errno, and the ring with its barriers.
 *
 * One thread at a time may read events; slots may be released, and every
 * ioctl made, by any thread.
 *
 * The ring's types are the kernel's, which are not <stdatomic.h>'s: hence the compiler's builtins here,
 * and only here.
 */
#ifndef DDIO_KDEV_H
#define DDIO_KDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uapi/linux/ddio.h>

#define KDEV_PATH "/dev/ddio"

/**
 * struct ddio_kdev - a context
 * @fd: the open device; polls readable as the ABI says
 * @ring: the mapped ring, or NULL
 * @event: its events
 * @slot: its slots
 * @length: bytes mapped
 * @nr_events: room for events
 * @nr_slots: slots
 * @head: events consumed
 */
struct ddio_kdev {
	int fd;
	struct ddio_ring *ring;
	struct ddio_event *event;
	struct ddio_slot *slot;
	size_t length;
	uint32_t nr_events;
	uint32_t nr_slots;
	uint32_t head;
};

/**
 * ddio_kdev_open - open the device: a context without disks, buffers or ring
 * @kdev: filled in; on failure ddio_kdev_close() need not, but may, be called
 * @path: NULL for KDEV_PATH
 */
int ddio_kdev_open(struct ddio_kdev *kdev, const char *path);
/* Cancels what runs; memory is unpinned when all transfers in flight have ended. */
void ddio_kdev_close(struct ddio_kdev *kdev);

int kdev_info(struct ddio_kdev *kdev, struct ddio_info *info);
/* @disk is filled in; @disk->out_disk is the id. */
int ddio_kdev_disk_add(struct ddio_kdev *kdev, int fd, struct ddio_disk_add *disk);
/* @flags: DDIO_BUFFER_*; @id: of the buffer. */
int ddio_kdev_buffer_add(struct ddio_kdev *kdev, const void *memory, size_t length, uint32_t flags,
			 uint32_t *id);
/* Makes the ring and maps it. */
int ddio_kdev_ring_setup(struct ddio_kdev *kdev, uint32_t events, uint32_t slots);
int ddio_kdev_destroy(struct ddio_kdev *kdev, uint32_t id);

/* @submit: all but size, which is set here; the outs are filled in. */
int ddio_kdev_submit(struct ddio_kdev *kdev, struct ddio_submit *submit);
/* @wait: all but size; the outs are filled in. */
int ddio_kdev_wait(struct ddio_kdev *kdev, struct ddio_wait *wait);
/* Waits until the collective has ended, also across signals, and destroys it; returns its error. */
int ddio_kdev_finish(struct ddio_kdev *kdev, uint32_t collective, int32_t *status,
		     uint64_t nr_status);
int ddio_kdev_cancel(struct ddio_kdev *kdev, uint32_t collective);
int ddio_kdev_kick(struct ddio_kdev *kdev, uint32_t collective, uint32_t slot);

/* Returns the joint's descriptor, or a negative errno. */
int ddio_kdev_joint_create(struct ddio_kdev *kdev, uint32_t members);
/* Returns the membership's descriptor, or a negative errno. */
int ddio_kdev_joint_join(int joint_fd, uint32_t member, const void *memory, size_t length,
			 uint32_t flags);
/* Waits until more than @ended have ended; @wait, unless NULL, is filled in. */
int ddio_kdev_joint_wait(int member_fd, uint64_t ended, uint64_t deadline,
			 struct ddio_joint_wait *wait);

/**
 * ddio_kdev_event - the oldest event that has not been consumed
 * Returns NULL when there is none; never waits.  The entry stays valid until
 * ddio_kdev_event_done().
 */
static inline const struct ddio_event *ddio_kdev_event(const struct ddio_kdev *kdev)
{
	if (__atomic_load_n(&kdev->ring->tail, __ATOMIC_ACQUIRE) == kdev->head)
		return NULL;
	return &kdev->event[kdev->head & (kdev->nr_events - 1)];
}

/* Consumes the oldest event. */
static inline void ddio_kdev_event_done(struct ddio_kdev *kdev)
{
	kdev->head++;
	__atomic_store_n(&kdev->ring->head, kdev->head, __ATOMIC_RELEASE);
}

/* Waits in poll() for an event; -ETIMEDOUT after @timeout_ms, -1 for no end; -EINTR. */
int ddio_kdev_event_wait(struct ddio_kdev *kdev, int timeout_ms);

/**
 * ddio_kdev_release_quietly - give a slot back to its stream, without a call
 *
 * Returns whether the module sleeps: then one ddio_kdev_kick() with any of a disk's slots does
 * for all of them that have been given back so far.
 */
static inline bool ddio_kdev_release_quietly(struct ddio_kdev *kdev, uint32_t collective,
					     uint32_t slot)
{
	/* A slot that is another stream's by now stays that one's. */
	__atomic_compare_exchange_n(&kdev->slot[slot].holder, &collective, 0, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&kdev->slot[slot].asleep, __ATOMIC_SEQ_CST);
}

/**
 * ddio_kdev_release - give a slot back to its stream
 *
 * Makes a system call only where the module sleeps.  Returns 0 without a call, 1 after
 * one, or the call's error.
 */
static inline int ddio_kdev_release(struct ddio_kdev *kdev, uint32_t collective, uint32_t slot)
{
	int ret;

	if (!ddio_kdev_release_quietly(kdev, collective, slot))
		return 0;
	ret = ddio_kdev_kick(kdev, collective, slot);
	return ret ? ret : 1;
}

#endif /* DDIO_KDEV_H */
