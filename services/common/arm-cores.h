/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* One kind of core in an Arm processor, from MIDR_EL1. */
typedef struct AldArmCore {
        uint16_t implementer;
        uint16_t part;
} AldArmCore;

/* Returns the name of a core, such as "Cortex-A76"; for an unknown part, its implementer and number. Free
 * with g_free(). */
char *ald_arm_core_name(AldArmCore core);

/* Returns the name of an implementer, such as "Arm"; NULL if unknown. */
const char *ald_arm_implementer_name(unsigned implementer);

/* Returns the rank of a core for sorting: bigger cores have lower ranks. */
unsigned ald_arm_core_rank(AldArmCore core);
