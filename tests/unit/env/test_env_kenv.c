// SPDX-License-Identifier: GPL-2.0-only
/* Disks that leave the kernel's context while a transfer still uses them, with a kernel that says so. */
#include <errno.h>
#include "env/kernel/kdev.h"
#include "tests/unit/lib/ut.h"

static int answer;
static uint32_t asked, last;

static int fake_destroy(struct ddio_kdev *kdev, uint32_t id)
{
	(void)kdev;
	asked++;
	last = id;
	return answer;
}

/* No events. */
static const struct ddio_event *fake_event(const struct ddio_kdev *kdev)
{
	(void)kdev;
	return NULL;
}

#define ddio_kdev_destroy fake_destroy
#define ddio_kdev_event fake_event
#include "userlib/env/kernel/kenv.c"

static struct kleaving *leaving_new(uint32_t id)
{
	struct kleaving *leaving = malloc(sizeof(*leaving));

	leaving->id = id;
	return leaving;
}

static void busy(void)
{
	struct kenv kenv = { .refs = 1 };

	ddio_list_init(&kenv.later);
	ddio_list_init(&kenv.leaving);
	answer = -EBUSY;
	kenv_leave(&kenv, leaving_new(5));
	kenv_leave(&kenv, leaving_new(6));
	CU_ASSERT(asked == 3 && !ddio_list_empty(&kenv.leaving));
	/* Each round of events is an occasion; afterwards nobody asks again. */
	kenv_ready(&kenv);
	CU_ASSERT_EQUAL(asked, 5);
	answer = 0;
	kenv_ready(&kenv);
	CU_ASSERT(asked == 7 && last == 6);
	CU_ASSERT(ddio_list_empty(&kenv.leaving));
	kenv_ready(&kenv);
	CU_ASSERT_EQUAL(asked, 7);
	/* The context ends: the kernel is not asked, and nothing is left behind. */
	answer = -EBUSY;
	kenv_leave(&kenv, leaving_new(7));
	leave_all(&kenv, true);
	CU_ASSERT(asked == 8 && ddio_list_empty(&kenv.leaving));
}

static const struct ut_case cases[] = { { "busy", busy }, { 0 } };

int main(void)
{
	const struct ut_suite suites[] = { { "a context's disks", cases } };

	return ut_run("env_kenv", suites, 1);
}
