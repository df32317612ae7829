/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/machine/probe-hours.h"
#include "services/link-probe/machine/work.h"
#include "services/link-probe/net/counters.h"
#include "services/link-probe/net/medium.h"

/* Keeps what this machine does and is connected to, as far as measurements depend on it. */
typedef struct AldMachine AldMachine;

/* `changed` is called when ald_work_reason() may have changed. The locks must outlive the machine. */
AldMachine *ald_machine_new(AldService *service, const AldInhibitors *inhibitors,
        void (*changed)(void *userdata), void *userdata);
void ald_machine_free(AldMachine *machine);

AldCounters *ald_machine_counters(const AldMachine *machine);
AldMedia *ald_machine_media(const AldMachine *machine);
AldWork *ald_machine_work(const AldMachine *machine);

/* The reasons other than work why links must not be loaded, at the last reading. */
typedef struct AldMachineState {
        bool battery, resumed, outside_hours;
} AldMachineState;

/* May call `changed`. */
void ald_machine_read(AldMachine *machine, const AldProbeHours *hours);
const AldMachineState *ald_machine_state(const AldMachine *machine);
