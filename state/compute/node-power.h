/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"

/* What the power of a node was measured of. */
typedef enum AldPowerOf {
        ALD_POWER_OF_NOTHING,
        ALD_POWER_OF_METER,   /* the whole machine, by its power meter */
        ALD_POWER_OF_BATTERY, /* the whole machine, by the battery it runs on */
        ALD_POWER_OF_PROCESSORS_AND_GPUS,
        ALD_POWER_OF_PROCESSORS,
        ALD_POWER_OF_GPUS,
        ALD_POWER_OF_N,
} AldPowerOf;

/* Returns "meter", "battery", "processors+gpus", "processors" or "gpus"; NULL for nothing. */
const char *ald_power_of_to_string(AldPowerOf of);

/* Returns whether it is only a part of what the machine draws. */
bool ald_power_is_of_parts(AldPowerOf of);

/*
 * Determines the power of a node in µW; absent if nothing reports it. What measures the whole machine comes
 * first: a meter, else the batteries, if it runs on them. Otherwise the processors are added to the GPUs and
 * accelerators, of which some may be missing: one that is asleep reports no power. Instances count with their
 * card, and a GPU that is unified with the processors only if these report nothing, since their power
 * includes its own. Each record may be NULL.
 */
AldPowerOf ald_node_power(const AldBackends *backends, const AldSystem *system, uint64_t *ret_micro_watts);
