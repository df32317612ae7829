/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "state/compute/compute-summary.h"
#include "state/compute/node-power.h"

const char *ald_power_of_to_string(AldPowerOf of)
{
        static const char *const words[ALD_POWER_OF_N] = {
                [ALD_POWER_OF_METER] = "meter",
                [ALD_POWER_OF_BATTERY] = "battery",
                [ALD_POWER_OF_PROCESSORS_AND_GPUS] = "processors+gpus",
                [ALD_POWER_OF_PROCESSORS] = "processors",
                [ALD_POWER_OF_GPUS] = "gpus",
        };

        return words[of];
}

bool ald_power_is_of_parts(AldPowerOf of)
{
        return of >= ALD_POWER_OF_PROCESSORS_AND_GPUS;
}

/* Sums the batteries that the machine runs on. It does not if one of them is being charged: then something
 * else supplies it. Nor is the sum known if one that it draws on does not report its power. */
static uint64_t sum_batteries(const AldSystem *system)
{
        uint64_t sum = ALD_ABSENT_UINT64;

        for (size_t i = 0; i < system->batteries.n; i++) {
                const AldBattery *battery = ald_rows_at(&system->batteries, i);
                int state = ald_battery_state_from_string(battery->state);

                if (state != ALD_BATTERY_STATE_CHARGING && state != ALD_BATTERY_STATE_DISCHARGING)
                        continue;
                if (state == ALD_BATTERY_STATE_CHARGING || battery->power_micro_watts == ALD_ABSENT_UINT64)
                        return ALD_ABSENT_UINT64;
                ald_sum_add(&sum, battery->power_micro_watts);
        }
        return sum;
}

static uint64_t sum_gpus(const AldBackends *backends, const AldSystem *system, bool has_processors)
{
        uint64_t sum = ALD_ABSENT_UINT64;

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *backend = ald_rows_at(&backends->devices, i);
                const AldDevice *device = ald_rows_find(&system->devices, backend->id);

                if (!device || backend->parent ||
                        ald_backend_class_from_string(backend->class) == ALD_BACKEND_CLASS_CPU ||
                        (backend->unified == 1 && has_processors))
                        continue;
                ald_sum_add(&sum, device->power_micro_watts);
        }
        return sum;
}

AldPowerOf ald_node_power(const AldBackends *backends, const AldSystem *system, uint64_t *ret_micro_watts)
{
        uint64_t meter = ALD_ABSENT_UINT64, battery, processors = ALD_ABSENT_UINT64, gpus, sum;

        *ret_micro_watts = ALD_ABSENT_UINT64;
        if (!system)
                return ALD_POWER_OF_NOTHING;
        ald_sum_add(&meter, system->meter_micro_watts);
        battery = sum_batteries(system);
        if (meter != ALD_ABSENT_UINT64 || battery != ALD_ABSENT_UINT64) {
                *ret_micro_watts = meter != ALD_ABSENT_UINT64 ? meter : battery;
                return meter != ALD_ABSENT_UINT64 ? ALD_POWER_OF_METER : ALD_POWER_OF_BATTERY;
        }
        ald_sum_add(&processors, system->power_micro_watts);
        gpus = sum_gpus(backends, system, processors != ALD_ABSENT_UINT64);
        sum = processors;
        ald_sum_add(&sum, gpus);
        *ret_micro_watts = sum;
        if (sum == ALD_ABSENT_UINT64)
                return ALD_POWER_OF_NOTHING;
        if (gpus == ALD_ABSENT_UINT64)
                return ALD_POWER_OF_PROCESSORS;
        return processors == ALD_ABSENT_UINT64 ? ALD_POWER_OF_GPUS : ALD_POWER_OF_PROCESSORS_AND_GPUS;
}
