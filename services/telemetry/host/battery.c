/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/battery.h"
#include "services/telemetry/host/kept-file.h"

/* Beyond what the battery of any portable machine supplies, or takes. */
#define POWER_MAX_MICRO_WATTS 500e6

/* Fuel gauges are up to this much above what they take for full. */
#define OVERFULL_PERCENT 110

typedef enum BatteryFile {
        FILE_SCOPE,
        FILE_PRESENT,
        FILE_STATUS,
        FILE_CAPACITY,
        FILE_ENERGY_NOW,
        FILE_ENERGY_FULL,
        FILE_CHARGE_NOW,
        FILE_CHARGE_FULL,
        FILE_POWER_NOW,
        FILE_CURRENT_NOW,
        FILE_VOLTAGE_NOW,
        N_FILES,
} BatteryFile;

static const char *const file_names[N_FILES] = { "scope", "present", "status", "capacity", "energy_now",
        "energy_full", "charge_now", "charge_full", "power_now", "current_now", "voltage_now" };

typedef struct Battery {
        char *name;
        AldKeptFile files[N_FILES]; /* without a path if the driver lacks it */
} Battery;

struct AldBatteries {
        GArray *items; /* of Battery */
};

static void clear_battery(void *data)
{
        Battery *battery = data;

        g_free(battery->name);
        for (size_t i = 0; i < N_FILES; i++)
                if (battery->files[i].path)
                        ald_kept_file_clear(&battery->files[i]);
}

/* The type is part of the driver, unlike all that is read later. */
static bool is_battery(int root, const char *name)
{
        g_autofree char *path = g_strdup_printf(ALD_BATTERIES_DIR "/%s/type", name), *type = NULL;

        return ald_sysroot_read_string(root, path, &type) >= 0 && g_str_equal(type, "Battery");
}

AldBatteries *ald_batteries_find(int root, const char *const *names)
{
        AldBatteries *batteries = g_new(AldBatteries, 1);

        batteries->items = g_array_new(FALSE, TRUE, sizeof(Battery));
        g_array_set_clear_func(batteries->items, clear_battery);
        for (const char *const *name = names; *name; name++) {
                Battery battery = {};

                if (!is_battery(root, *name))
                        continue;
                if (batteries->items->len == ALD_BATTERIES_MAX) {
                        g_message("There are more than %u batteries; the others are not read",
                                ALD_BATTERIES_MAX);
                        break;
                }
                battery.name = g_strdup(*name);
                for (size_t i = 0; i < N_FILES; i++) {
                        g_autofree char *path = g_strdup_printf(
                                ALD_BATTERIES_DIR "/%s/%s", *name, file_names[i]);

                        if (ald_sysroot_exists(root, path))
                                ald_kept_file_init(&battery.files[i], root, path);
                }
                g_array_append_val(batteries->items, battery);
        }
        return batteries;
}

void ald_batteries_free(AldBatteries *batteries)
{
        g_array_unref(batteries->items);
        g_free(batteries);
}

size_t ald_batteries_count(const AldBatteries *batteries)
{
        return batteries->items->len;
}

/* Reads a word into the buffer; "" if there is none. Allocates nothing. */
static const char *read_word(Battery *battery, BatteryFile which, char *buffer, size_t size)
{
        AldKeptFile *file = &battery->files[which];

        return file->path && ald_kept_file_read(file, buffer, size) >= 0 ? g_strchomp(buffer) : "";
}

/* Reads the magnitude of a number, or NaN. Some drivers report a negative current or power while the battery
 * discharges, others do not; the status says which way it flows. */
static double read_magnitude(Battery *battery, BatteryFile which)
{
        AldKeptFile *file = &battery->files[which];
        int64_t value;

        if (!file->path || ald_kept_file_read_int64(file, &value) < 0)
                return NAN;
        /* Controllers report an unknown value as 0xffff, in their own units, which are a thousandth, or in
         * those of sysfs. */
        value = value == INT64_MIN ? INT64_MAX : llabs(value);
        if (value == 0xffff || value == INT64_C(0xffff) * 1000 || value >= INT64_C(0xffffffff)) {
                ald_kept_file_warn(file, -ERANGE);
                return NAN;
        }
        return (double) value;
}

static const char *state_of(const char *status)
{
        static const struct {
                const char *status;
                AldBatteryState state;
        } states[] = {
                { "Charging", ALD_BATTERY_STATE_CHARGING },
                { "Discharging", ALD_BATTERY_STATE_DISCHARGING },
                { "Full", ALD_BATTERY_STATE_FULL },
                { "Not charging", ALD_BATTERY_STATE_IDLE },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
                if (g_str_equal(status, states[i].status))
                        return ald_battery_state_to_string(states[i].state);
        return NULL;
}

static double read_percent(Battery *battery)
{
        int64_t capacity;
        double percent;

        if (battery->files[FILE_CAPACITY].path &&
                ald_kept_file_read_int64(&battery->files[FILE_CAPACITY], &capacity) >= 0) {
                if (capacity >= 0 && capacity <= 100)
                        return (double) capacity;
                ald_kept_file_warn(&battery->files[FILE_CAPACITY], -ERANGE);
        }
        percent = 100 * read_magnitude(battery, FILE_ENERGY_NOW) / read_magnitude(battery, FILE_ENERGY_FULL);
        if (isnan(percent))
                percent = 100 * read_magnitude(battery, FILE_CHARGE_NOW) /
                          read_magnitude(battery, FILE_CHARGE_FULL);
        return percent <= OVERFULL_PERCENT ? fmin(percent, 100) : ALD_ABSENT_DOUBLE;
}

/* A machine that runs on a battery draws power, so 0 then means that the battery does not know it. */
static uint64_t read_power(Battery *battery, const char *state)
{
        double power = read_magnitude(battery, FILE_POWER_NOW);

        if (isnan(power)) /* µA and µV */
                power = read_magnitude(battery, FILE_CURRENT_NOW) *
                        read_magnitude(battery, FILE_VOLTAGE_NOW) / 1e6;
        if (isnan(power) || power > POWER_MAX_MICRO_WATTS)
                return ALD_ABSENT_UINT64;
        if (power < 1 && g_strcmp0(state, ald_battery_state_to_string(ALD_BATTERY_STATE_DISCHARGING)) == 0)
                return ALD_ABSENT_UINT64;
        return (uint64_t) power;
}

size_t ald_batteries_read(AldBatteries *batteries, AldBattery rows[static ALD_BATTERIES_MAX])
{
        char word[32];
        size_t n = 0;

        for (guint i = 0; i < batteries->items->len; i++) {
                Battery *battery = &g_array_index(batteries->items, Battery, i);
                AldBattery *row = &rows[n];

                if (g_str_equal(read_word(battery, FILE_SCOPE, word, sizeof word), "Device") ||
                        g_str_equal(read_word(battery, FILE_PRESENT, word, sizeof word), "0"))
                        continue;
                *row = (AldBattery) ALD_BATTERY_INIT;
                row->id = battery->name;
                row->state = state_of(read_word(battery, FILE_STATUS, word, sizeof word));
                row->charge_percent = read_percent(battery);
                row->power_micro_watts = read_power(battery, row->state);
                n++;
        }
        return n;
}
