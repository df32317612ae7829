/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/inhibit/inhibitors.h"
#include "state/planner/planner-device.h"

/*
 * Tracks whether this machine has work that takes precedence over measurements: a unit listed in work-units=
 * is active, a lock of Inhibit() is held, processes compute on a device, or a unit uses half of the
 * processors.
 */
typedef struct AldWork AldWork;

/* `changed` is called when ald_work_reason() may have changed. */
AldWork *ald_work_new(AldService *service, const AldInhibitors *inhibitors, void (*changed)(void *userdata),
        void *userdata);
void ald_work_free(AldWork *work);

/* Reads work-units=, yield-to-processors= and share-processes= from the configuration. Call it again when the
 * configuration was reloaded. */
void ald_work_configure(AldWork *work, const AldConfig *config);

/* Describes the work of the machine; NULL if none is known. The text belongs to `work` and is valid until the
 * next call of any function here. If all of it is on the processors, returns since when, in CLOCK_REALTIME;
 * else absent. */
const char *ald_work_reason(AldWork *work, uint64_t *ret_busy_since);

/* Reads again what uses the processors, if it is time. */
void ald_work_read_processors(AldWork *work);

/* Describes the unit that uses half of the processors; NULL if there is none. */
const char *ald_work_processors(const AldWork *work);

/* Returns the active unit, or NULL; and whether that is known yet. It is unknown while the value of
 * work-units= is refused. */
const char *ald_work_unit(const AldWork *work);
bool ald_work_units_known(const AldWork *work);

/* Takes telemetry's record of this node's devices, at CLOCK_REALTIME in µs. The devices of `ours`, which ends
 * in NULL, are skipped, since Alidade itself measures them, or did just now. */
void ald_work_update_devices(
        AldWork *work, const AldDeviceRecords *records, uint64_t now, const char *const *ours);
