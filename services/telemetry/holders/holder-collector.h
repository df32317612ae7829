/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/witness-client.h"
#include "services/telemetry/gpu/gpu.h"
#include "services/telemetry/holders/holder-rows.h"

/*
 * The processes that hold devices of this machine. Every ALD_HOLDERS_EVERY_USEC it reads the lists of NVML
 * and KFD and asks the witness for all other processes, unless the processor is the only device. Without the
 * witness, only processes in these lists are known. Nothing here blocks, and no suspended device is woken.
 */
typedef struct AldHolderCollector AldHolderCollector;

#define ALD_HOLDERS_EVERY_USEC (INT64_C(5) * 1000 * 1000)

/* Called with the record for the cluster, which is valid during the call: after each look, and when the
 * sharing changes. */
typedef void (*AldHoldersChangedTo)(const AldProcesses *processes, void *userdata);

/* The collector of devices must outlive it. Without timing of the witness, the usual one holds. */
AldHolderCollector *ald_holder_collector_new(AldGpuCollector *gpu, AldSharing sharing,
        const AldWitnessTiming *timing, AldHoldersChangedTo changed, void *userdata);
void ald_holder_collector_free(AldHolderCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHolderCollector, ald_holder_collector_free)

/* Sets what is shared from now on, which also holds for what was seen before. */
void ald_holder_collector_share(AldHolderCollector *collector, AldSharing sharing);

/* Sets the number of processes that work on the devices (AldDevice) of Node1.System. */
void ald_holder_collector_count_work(const AldHolderCollector *collector, GArray *devices);

/* Returns the rows that this user may see, of the last look. They are valid until control returns to the main
 * loop. */
const AldHolderRows *ald_holder_collector_rows(AldHolderCollector *collector, uid_t uid);
