/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/telemetry/holders/holder-list.h"

/* Recognises which holders of devices are work that others make room for, by what they use of the device over
 * two looks. */
typedef struct AldWorkWatch AldWorkWatch;

/* Shares of an engine, and of the memory of the device together with any use. */
#define ALD_WORK_USAGE_PERCENT 20.0
#define ALD_WORK_MEMORY_PERCENT 30u

AldWorkWatch *ald_work_watch_new(void);
void ald_work_watch_free(AldWorkWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWorkWatch, ald_work_watch_free)

/* Takes the holders of a look, 5 s after the look before, marks those that work and counts them. A process
 * works if it computes, or was busy over both looks; a display server never does. */
void ald_work_watch_note(AldWorkWatch *watch, AldHolderList *list);

/* Returns how many processes work on a device, or ALD_ABSENT_UINT64 if that is not certain; `listed` is the
 * number of those in NVML's list of compute processes, or absent. */
uint64_t ald_work_count(const AldHolderDevice *device, uint64_t listed);
