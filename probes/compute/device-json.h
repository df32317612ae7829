/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "probes/compute/device.h"

/* All that one process tells another of a device, and back. NULL where it makes no sense. */
json_t *ald_device_to_json(const AldDevice *device);
AldDevice *ald_device_from_json(const json_t *object);

/* The same for users: what is not known is not there. */
json_t *ald_device_describe(const AldDevice *device);

/* Adds what names a device and its driver. */
void ald_device_name(const AldDevice *device, json_t *object);
