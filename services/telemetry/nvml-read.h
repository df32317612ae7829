/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "services/telemetry/nvml-api.h"

/*
 * Answers a request {"ids":[…]} with {"driver_version":…,"devices":[{"id":…,…}]}. An Id that is no PCI
 * address is that of the GPU within a Tegra, which NVML knows by its index only. What the driver does not
 * tell is left out; a device that it does not know has an "error".
 */
json_t *ald_nvml_answer(const AldNvml *nvml, const char *request, size_t length);
