/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "common/fd.h"
#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/battery.h"
#include "services/telemetry/host/power-meter.h"
#include "services/telemetry/host/power-reader.h"
#include "services/telemetry/host/thread-call.h"

#define READ_USEC (UINT64_C(10) * 1000 * 1000)

/* Once a thread has taken this long, what was read before it no longer holds. */
#define LATE_USEC (UINT64_C(20) * 1000 * 1000)

/* The batteries and meters with their last figures. All but `asker` belongs to the thread while it reads. */
typedef struct Supplies {
        AldPowerReader *asker; /* NULL once the result is not needed */
        int root;
        AldBatteries *batteries;
        AldPowerMeters *meters;
        AldBattery rows[ALD_BATTERIES_MAX];
        size_t n_rows;
        uint64_t meter_micro_watts;
} Supplies;

struct AldPowerReader {
        int root;
        char **battery_names, **hwmon_names; /* in the folders, when `supplies` was made */
        Supplies *supplies;
        bool pending, late; /* a thread reads them, and takes too long */
        uint64_t asked_usec;

        const Supplies *shown; /* has the names in `rows`; the same, or its predecessor until that was read */
        AldBattery rows[ALD_BATTERIES_MAX];
        size_t n_rows;
        uint64_t meter_micro_watts;
};

static void supplies_free(Supplies *supplies)
{
        if (!supplies)
                return;
        ald_batteries_free(supplies->batteries);
        ald_power_meters_free(supplies->meters);
        ald_fd_close(&supplies->root);
        g_free(supplies);
}

AldPowerReader *ald_power_reader_new(int root)
{
        AldPowerReader *reader = g_new0(AldPowerReader, 1);

        reader->root = root;
        reader->meter_micro_watts = ALD_ABSENT_UINT64;
        return reader;
}

void ald_power_reader_free(AldPowerReader *reader)
{
        if (reader->shown != reader->supplies)
                supplies_free((Supplies *) reader->shown);
        if (reader->pending)
                reader->supplies->asker = NULL;
        else
                supplies_free(reader->supplies);
        g_strfreev(reader->battery_names);
        g_strfreev(reader->hwmon_names);
        g_free(reader);
}

static void forget_values(AldPowerReader *reader)
{
        reader->n_rows = 0;
        reader->meter_micro_watts = ALD_ABSENT_UINT64;
}

static void show_values(AldPowerReader *reader)
{
        const Supplies *supplies = reader->supplies;

        if (reader->shown != supplies)
                supplies_free((Supplies *) reader->shown);
        reader->shown = supplies;
        memcpy(reader->rows, supplies->rows, sizeof reader->rows);
        reader->n_rows = supplies->n_rows;
        reader->meter_micro_watts = supplies->meter_micro_watts;
}

/* Returns the names in a folder, which also may not exist. */
static char **list_names(int root, const char *folder)
{
        char **names;

        return ald_sysroot_list(root, folder, &names) < 0 ? g_new0(char *, 1) : names;
}

static bool same_names(char **a, char **b)
{
        return g_strv_equal((const char *const *) a, (const char *const *) b);
}

/* Searches for supplies if a device has come or gone; listing the names asks none of them. */
static void find_supplies(AldPowerReader *reader)
{
        g_auto(GStrv) batteries = list_names(reader->root, ALD_BATTERIES_DIR);
        g_auto(GStrv) hwmon = list_names(reader->root, ALD_POWER_METERS_DIR);
        Supplies *supplies;

        if (reader->supplies && same_names(batteries, reader->battery_names) &&
                same_names(hwmon, reader->hwmon_names))
                return;
        if (reader->supplies != reader->shown)
                supplies_free(reader->supplies);
        supplies = reader->supplies = g_new0(Supplies, 1);
        supplies->asker = reader;
        supplies->root = fcntl(
                reader->root, F_DUPFD_CLOEXEC, 3); /* the reader's may be closed while a thread reads */
        supplies->batteries = ald_batteries_find(supplies->root, (const char *const *) batteries);
        supplies->meters = ald_power_meters_find(supplies->root, (const char *const *) hwmon);
        supplies->meter_micro_watts = ALD_ABSENT_UINT64;
        g_strfreev(reader->battery_names);
        g_strfreev(reader->hwmon_names);
        reader->battery_names = g_steal_pointer(&batteries);
        reader->hwmon_names = g_steal_pointer(&hwmon);
}

static void read_supplies(void *userdata)
{
        Supplies *supplies = userdata;

        supplies->n_rows = ald_batteries_read(supplies->batteries, supplies->rows);
        supplies->meter_micro_watts = ald_power_meters_read(supplies->meters);
}

static void on_read(void *userdata)
{
        Supplies *supplies = userdata;
        AldPowerReader *reader = supplies->asker;

        if (!reader) {
                supplies_free(supplies);
                return;
        }
        if (reader->late)
                g_message("Batteries and power meters answer again");
        reader->pending = reader->late = false;
        show_values(reader);
}

static void begin_reading(AldPowerReader *reader, uint64_t now_usec)
{
        find_supplies(reader);
        reader->asked_usec = now_usec;
        if (ald_batteries_count(reader->supplies->batteries) +
                        ald_power_meters_count(reader->supplies->meters) ==
                0)
                show_values(reader);
        else if (ald_thread_call("power", read_supplies, on_read, reader->supplies) < 0)
                forget_values(reader);
        else
                reader->pending = true;
}

void ald_power_reader_sample(AldPowerReader *reader, uint64_t now_usec, AldSystem *system)
{
        if (!reader->pending && (!reader->supplies || now_usec - reader->asked_usec >= READ_USEC))
                begin_reading(reader, now_usec);
        if (reader->pending && !reader->late && now_usec - reader->asked_usec >= LATE_USEC) {
                reader->late = true;
                forget_values(reader);
                g_warning("Batteries and power meters have not answered for %u s; their values are omitted",
                        (unsigned) (LATE_USEC / G_USEC_PER_SEC));
        }
        system->batteries.items = reader->rows;
        system->batteries.n = reader->n_rows;
        system->meter_micro_watts = reader->meter_micro_watts;
}
