// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all files of the module stand on: its workqueue, and the counts of what there is.
 */
#include "ddio_priv.h"

struct workqueue_struct *ddio_wq;
struct ddio_live ddio_live;
