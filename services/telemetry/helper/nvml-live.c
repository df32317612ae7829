/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/throttle.h"
#include "services/telemetry/helper/nvml-live.h"

static void read_temperature(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        AldNvmlTemperature versioned = { .version = ALD_NVML_VERSION(AldNvmlTemperature, 1),
                .sensor = ALD_NVML_TEMPERATURE_GPU };
        unsigned temperature;

        if (nvml->temperature_v && nvml->temperature_v(device, &versioned) == ALD_NVML_SUCCESS)
                row->temperature_milli_celsius = versioned.temperature * INT64_C(1000);
        else if (nvml->temperature &&
                 nvml->temperature(device, ALD_NVML_TEMPERATURE_GPU, &temperature) == ALD_NVML_SUCCESS)
                row->temperature_milli_celsius = temperature * INT64_C(1000);
}

static void read_clocks(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        unsigned mhz;

        if (!nvml->clock)
                return;
        if (nvml->clock(device, ALD_NVML_CLOCK_SM, &mhz) == ALD_NVML_SUCCESS ||
                nvml->clock(device, ALD_NVML_CLOCK_GRAPHICS, &mhz) == ALD_NVML_SUCCESS)
                row->clock_hz = mhz * UINT64_C(1000000);
        if (nvml->clock(device, ALD_NVML_CLOCK_MEMORY, &mhz) == ALD_NVML_SUCCESS)
                row->memory_clock_hz = mhz * UINT64_C(1000000);
}

/* The memory of most GPUs has no sensor; some drivers then report 0. */
static void read_memory_temperature(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        AldNvmlField field = { .id = ALD_NVML_FIELD_MEMORY_TEMPERATURE };

        if (nvml->fields && nvml->fields(device, 1, &field) == ALD_NVML_SUCCESS &&
                field.result == ALD_NVML_SUCCESS && field.type == ALD_NVML_TYPE_UNSIGNED_INT &&
                field.value.number != 0)
                row->memory_temperature_milli_celsius = field.value.number * INT64_C(1000);
}

static void read_power(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        unsigned long long millijoules;
        unsigned milliwatts;

        if (nvml->power && nvml->power(device, &milliwatts) == ALD_NVML_SUCCESS)
                row->power_micro_watts = milliwatts * UINT64_C(1000);
        if (nvml->power_limit && nvml->power_limit(device, &milliwatts) == ALD_NVML_SUCCESS)
                row->power_limit_micro_watts = milliwatts * UINT64_C(1000);
        if (nvml->energy && nvml->energy(device, &millijoules) == ALD_NVML_SUCCESS &&
                millijoules <= UINT64_MAX / 1000)
                row->energy_micro_joules = millijoules * UINT64_C(1000);
}

/* Reads the fastest fan. The driver counts none on a card that others cool. */
static void read_fans(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        unsigned n = 0, percent, fastest = 0;
        bool known = false;

        if (nvml->n_fans && nvml->fan && nvml->n_fans(device, &n) == ALD_NVML_SUCCESS) {
                for (unsigned i = 0; i < n && i < ALD_NVML_FANS_MAX; i++) {
                        if (nvml->fan(device, i, &percent) != ALD_NVML_SUCCESS || percent > 100)
                                continue;
                        known = true;
                        fastest = MAX(fastest, percent);
                }
        } else {
                known = nvml->only_fan && nvml->only_fan(device, &fastest) == ALD_NVML_SUCCESS;
        }
        if (known)
                row->fan_percent = fastest;
}

static void read_throttling(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        unsigned long long bits;
        unsigned reasons;

        if (!nvml->clock_reasons || nvml->clock_reasons(device, &bits) != ALD_NVML_SUCCESS)
                return;
        reasons = ald_throttle_from_nvml(bits);
        row->throttled = reasons != 0;
        row->throttle_reasons = ald_throttle_words(reasons);
}

void ald_nvml_read_live(const AldNvml *nvml, AldNvmlHandle *device, AldNvmlDevice *row)
{
        unsigned percent, period;

        read_temperature(nvml, device, row);
        read_memory_temperature(nvml, device, row);
        read_power(nvml, device, row);
        read_clocks(nvml, device, row);
        read_fans(nvml, device, row);
        read_throttling(nvml, device, row);
        if (nvml->encoder && nvml->encoder(device, &percent, &period) == ALD_NVML_SUCCESS)
                row->encoder_usage = percent;
        if (nvml->decoder && nvml->decoder(device, &percent, &period) == ALD_NVML_SUCCESS)
                row->decoder_usage = percent;
}
