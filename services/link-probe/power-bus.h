/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/common/service.h"

/* Whether the machine runs on a battery: as UPower says where that runs, else as the kernel does. UPower is
 * asked anew at each call, and its answer counts from the next call on. */
typedef struct AldPower AldPower;

AldPower *ald_power_new(AldService *service);
void ald_power_free(AldPower *power);
bool ald_power_on_battery(AldPower *power);
