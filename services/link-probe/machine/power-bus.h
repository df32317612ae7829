/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/common/service.h"

/* Reports whether the machine runs on a battery: according to UPower if it is running, else to the kernel.
 * Each call queries UPower again and returns its previous answer. */
typedef struct AldPower AldPower;

AldPower *ald_power_new(AldService *service);
void ald_power_free(AldPower *power);
bool ald_power_on_battery(AldPower *power);
