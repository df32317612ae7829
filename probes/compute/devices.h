/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/device.h"

#define ALD_CPU_ID "cpu"

/* Every device of every platform: a list of AldOpenclTarget without ids, that owns them. */
int ald_devices_ask(const AldCl *cl, GPtrArray **ret, AldFailure *failure);
GPtrArray *ald_devices_new(void);

/*
 * Gives each device its id: "cpu", its PCI address, the only card (a list of AldCard) that it may be, or its
 * name. Takes out what is only another view of one that is there: by another platform than its vendor's, or a
 * part of it. They are left sorted, GPUs first.
 */
void ald_devices_match(GPtrArray *devices, const GPtrArray *cards);

/* NULL where there is none. */
const AldOpenclTarget *ald_devices_find(const GPtrArray *devices, const char *id);

/* The same of matched devices for what a user asks for: also for a MIG instance as "0000:01:00.0/1-0", which
 * is the only instance that OpenCL shows at that address. */
int ald_devices_choose(
        const GPtrArray *devices, const char *id, const AldOpenclTarget **ret, AldFailure *failure);
