/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "record/schema.h"

/*
 * Reads the batteries and power meters of the machine every 10 s, in a thread: behind their files are
 * embedded and management controllers, which answer after tens of milliseconds, or after seconds, or never. A
 * machine without any has no thread. They are searched for as often.
 */
typedef struct AldPowerReader AldPowerReader;

AldPowerReader *ald_power_reader_new(int root);

/* A thread that is still blocked ends by itself; its result is discarded. */
void ald_power_reader_free(AldPowerReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPowerReader, ald_power_reader_free)

/* Sets Batteries and MeterMicroWatts as they were last read, at most 30 s ago, and starts reading them when
 * it is time. The rows are valid until the main loop runs. */
void ald_power_reader_sample(AldPowerReader *reader, uint64_t now_usec, AldSystem *system);
