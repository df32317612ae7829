/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/kept-file.h"
#include "services/telemetry/host/power-meter.h"

/* Beyond what any machine draws, and so beyond 0xffffffff mW, which firmware reports for an unknown power. */
#define POWER_MAX_MICRO_WATTS INT64_C(200000000000)

/* No machine has this many supplies with a meter each. */
#define METERS_MAX 16u

typedef struct Meter {
        AldKeptFile power;
        AldKeptFile is_battery; /* without a path if the driver lacks it */
} Meter;

struct AldPowerMeters {
        GArray *items; /* of Meter */
};

static void clear_meter(void *data)
{
        Meter *meter = data;

        ald_kept_file_clear(&meter->power);
        if (meter->is_battery.path)
                ald_kept_file_clear(&meter->is_battery);
}

/* Adds the meter whose attributes are in this folder, if they are: old kernels have them in that of the ACPI
 * device of the chip. */
static void add_meter(AldPowerMeters *meters, int root, const char *folder)
{
        g_autofree char *name_path = g_strdup_printf("%s/name", folder), *name = NULL;
        g_autofree char *battery = g_strdup_printf("%s/power1_is_battery", folder);
        g_autofree char *average = g_strdup_printf("%s/power1_average", folder);
        g_autofree char *input = g_strdup_printf("%s/power1_input", folder);
        const char *power = ald_sysroot_exists(root, average) ? average : input;
        Meter meter = {};

        if (ald_sysroot_read_string(root, name_path, &name) < 0 || !g_str_equal(name, "power_meter") ||
                !ald_sysroot_exists(root, power))
                return;
        if (meters->items->len == METERS_MAX) {
                g_message("There are more than %u power meters; the others are not read", METERS_MAX);
                return;
        }
        ald_kept_file_init(&meter.power, root, power);
        if (ald_sysroot_exists(root, battery))
                ald_kept_file_init(&meter.is_battery, root, battery);
        g_array_append_val(meters->items, meter);
}

AldPowerMeters *ald_power_meters_find(int root, const char *const *names)
{
        AldPowerMeters *meters = g_new(AldPowerMeters, 1);

        meters->items = g_array_new(FALSE, TRUE, sizeof(Meter));
        g_array_set_clear_func(meters->items, clear_meter);
        for (const char *const *name = names; *name; name++) {
                g_autofree char *folder = g_strdup_printf(ALD_POWER_METERS_DIR "/%s", *name);
                g_autofree char *device = g_strdup_printf("%s/device", folder);
                guint before = meters->items->len;

                add_meter(meters, root, folder);
                if (meters->items->len == before)
                        add_meter(meters, root, device);
        }
        return meters;
}

void ald_power_meters_free(AldPowerMeters *meters)
{
        g_array_unref(meters->items);
        g_free(meters);
}

size_t ald_power_meters_count(const AldPowerMeters *meters)
{
        return meters->items->len;
}

/* Returns whether what the meter measures is a battery, which has a row of its own. */
static bool measures_battery(Meter *meter)
{
        int64_t value;

        return meter->is_battery.path && ald_kept_file_read_int64(&meter->is_battery, &value) >= 0 &&
               value == 1;
}

uint64_t ald_power_meters_read(AldPowerMeters *meters)
{
        uint64_t sum = ALD_ABSENT_UINT64;
        bool all = true;

        for (guint i = 0; i < meters->items->len; i++) {
                Meter *meter = &g_array_index(meters->items, Meter, i);
                int64_t value;

                if (measures_battery(meter))
                        continue;
                if (ald_kept_file_read_int64(&meter->power, &value) < 0) {
                        all = false;
                } else if (value <= 0 || value > POWER_MAX_MICRO_WATTS) {
                        ald_kept_file_warn(&meter->power, -ERANGE);
                        all = false;
                } else {
                        sum = sum == ALD_ABSENT_UINT64 ? (uint64_t) value : sum + (uint64_t) value;
                }
        }
        return all ? sum : ALD_ABSENT_UINT64;
}
