/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/telemetry/helper/nvml-api.h"

/*
 * What NVML reports of the devices with these Ids, ended by NULL: a record of Message1.NvmlAnswer. A device
 * that NVML does not know has an Error. -E2BIG if it exceeds the limit of a record.
 */
int ald_nvml_read(const AldNvml *nvml, const char *const *ids, AldRecord **ret);
