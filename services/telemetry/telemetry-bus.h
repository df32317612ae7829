/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* What main() passes to the daemon skeleton. */

extern const AldConfigKey ald_telemetry_config_keys[];

int ald_telemetry_start(AldService *service, void **ret);
void ald_telemetry_reload(void *userdata);
void ald_telemetry_stop(void *userdata);
