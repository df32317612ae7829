/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* One kind of core in an Arm processor, as MIDR_EL1 tells it. */
typedef struct AldArmCore {
        uint16_t implementer;
        uint16_t part;
} AldArmCore;

/* Cortex-A76; for a part that is not known, its implementer and number. To be freed. */
char *ald_arm_core_name(AldArmCore core);

/* Who made it, or designed it: Arm. NULL where that is not known. */
const char *ald_arm_implementer_name(unsigned implementer);

/* Where a core stands among its kin: the bigger one has the lower rank. */
unsigned ald_arm_core_rank(AldArmCore core);
