/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "record/record.h"
#include "services/telemetry/host/battery.h"
#include "services/telemetry/host/power-meter.h"
#include "services/telemetry/host/power-reader.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define ABSENT ALD_ABSENT_UINT64
#define BAT "sys/class/power_supply/BAT0/"
#define MAC "sys/class/power_supply/macsmc-battery/"
#define METER "sys/class/hwmon/hwmon0/"
#define SEC UINT64_C(1000000)

typedef struct Machine {
        const char *name;
        unsigned n_rows;
        const char *state;
        double percent; /* NaN is absent */
        uint64_t power;
        const char *files[24]; /* path and content in turn */
} Machine;

static const Machine machines[] = {
        { "laptop-discharging", 1, "discharging", 74, 11250000,
                { BAT "type", "Battery\n", BAT "present", "1\n", BAT "status", "Discharging\n",
                        BAT "capacity", "74\n", BAT "power_now", "11250000\n", BAT "energy_now", "37000000\n",
                        BAT "energy_full", "50000000\n" } },
        { "laptop-charging-by-current", 1, "charging", 50, 24000000,
                { BAT "type", "Battery\n", BAT "status", "Charging\n", BAT "charge_now", "2000000\n",
                        BAT "charge_full", "4000000\n", BAT "current_now", "2000000\n", BAT "voltage_now",
                        "12000000\n" } },
        { "full-and-a-bit-more", 1, "full", 100, 0,
                { BAT "type", "Battery\n", BAT "status", "Full\n", BAT "power_now", "0\n", BAT "energy_now",
                        "51000000\n", BAT "energy_full", "50000000\n" } },
        { "held-at-a-threshold", 1, "idle", 80, 0,
                { BAT "type", "Battery\n", BAT "status", "Not charging\n", BAT "capacity", "80\n",
                        BAT "power_now", "0\n" } },
        { "asahi", 1, "discharging", 63, 8600000,
                { MAC "type", "Battery\n", MAC "present", "1\n", MAC "status", "Discharging\n",
                        MAC "capacity", "63\n", MAC "power_now", "-8600000\n", MAC "current_now", "-700000\n",
                        MAC "voltage_now", "12286000\n", MAC "charge_full", "4500000\n" } },
        { "negative-current", 1, "discharging", 63, 8400000,
                { BAT "type", "Battery\n", BAT "status", "Discharging\n", BAT "capacity", "63\n",
                        BAT "current_now", "-700000\n", BAT "voltage_now", "12000000\n" } },
        { "does-not-know-its-rate-yet", 1, "discharging", 63, ABSENT,
                { BAT "type", "Battery\n", BAT "status", "Discharging\n", BAT "capacity", "63\n",
                        BAT "power_now", "0\n" } },
        { "unknown-markers", 1, NULL, NAN, ABSENT,
                { BAT "type", "Battery\n", BAT "status", "Unknown\n", BAT "capacity", "255\n",
                        BAT "power_now", "65535000\n", BAT "energy_now", "4294967295\n", BAT "energy_full",
                        "50000000\n" } },
        { "minus-one-in-16-bits", 1, "discharging", 40, ABSENT,
                { BAT "type", "Battery\n", BAT "status", "Discharging\n", BAT "capacity", "40\n",
                        BAT "current_now", "65535000\n", BAT "voltage_now", "12000000\n" } },
        { "absurd-power", 1, "discharging", 40, ABSENT,
                { BAT "type", "Battery\n", BAT "status", "Discharging\n", BAT "capacity", "40\n",
                        BAT "power_now", "-9223372036854775808\n" } },
        { "broken-files", 1, "charging", NAN, 5000000,
                { BAT "type", "Battery\n", BAT "status", "Charging\n", BAT "capacity", "many\n",
                        BAT "power_now", "\n", BAT "current_now", "500000\n", BAT "voltage_now", "10000000\n",
                        BAT "energy_now", "\xff\n" } },
        { "no-longer-in-its-bay", 0, NULL, NAN, ABSENT,
                { BAT "type", "Battery\n", BAT "present", "0\n", BAT "capacity", "1\n" } },
        { "mouse", 0, NULL, NAN, ABSENT,
                { BAT "type", "Battery\n", BAT "scope", "Device\n", BAT "status", "Discharging\n",
                        BAT "capacity", "20\n" } },
        { "ups", 0, NULL, NAN, ABSENT,
                { BAT "type", "UPS\n", BAT "status", "Discharging\n", BAT "capacity", "20\n" } },
        { "mains", 0, NULL, NAN, ABSENT, { BAT "type", "Mains\n", BAT "online", "1\n" } },
};

static void write_files(FakeRoot *root, const char *const *files)
{
        for (; *files; files += 2)
                fake_root_write(root, files[0], files[1]);
}

/* Waits for the thread that the sample starts, if it starts one, and returns what has been read. */
static AldSystem sample(AldPowerReader *reader, uint64_t now, bool reads)
{
        AldSystem system = ALD_SYSTEM_INIT;

        ald_power_reader_sample(reader, now, &system);
        if (reads)
                g_main_context_iteration(NULL, TRUE);
        g_assert_false(g_main_context_pending(NULL));
        ald_power_reader_sample(reader, now, &system);
        return system;
}

static const AldBattery *only_battery(const AldSystem *system)
{
        g_assert_cmpuint(system->batteries.n, ==, 1);
        return ald_rows_at(&system->batteries, 0);
}

static void test_batteries(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
                const Machine *machine = &machines[i];
                g_autoptr(FakeRoot) root = fake_root_new();
                static const char *const names[] = { "AC", "BAT0", "macsmc-battery", NULL };
                g_autoptr(AldBatteries) batteries = NULL;
                AldBattery rows[ALD_BATTERIES_MAX];
                size_t n;

                g_test_message("%s", machine->name);
                write_files(root, machine->files);
                batteries = ald_batteries_find(root->fd, names);
                n = ald_batteries_read(batteries, rows);
                g_assert_cmpuint(n, ==, machine->n_rows);
                if (n == 0)
                        continue;
                g_assert_cmpstr(rows[0].state, ==, machine->state);
                if (isnan(machine->percent))
                        g_assert_true(isnan(rows[0].charge_percent));
                else
                        g_assert_cmpfloat(rows[0].charge_percent, ==, machine->percent);
                g_assert_cmpuint(rows[0].power_micro_watts, ==, machine->power);
        }
}

static void test_broken_files_are_logged_once(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        static const char *const names[] = { "BAT0", NULL };
        g_autoptr(AldBatteries) batteries = NULL;
        AldBattery rows[ALD_BATTERIES_MAX];

        fake_root_write_all(root, BAT "type", "Battery\n", BAT "capacity", "-1\n", BAT "power_now",
                "4294967295000\n", NULL);
        batteries = ald_batteries_find(root->fd, names);
        log_count_reset();
        for (unsigned i = 0; i < 5; i++)
                g_assert_cmpuint(ald_batteries_read(batteries, rows), ==, 1);
        g_assert_true(isnan(rows[0].charge_percent));
        g_assert_cmpuint(rows[0].power_micro_watts, ==, ABSENT);
        g_assert_cmpuint(log_count("capacity"), ==, 1);
        g_assert_cmpuint(log_count("power_now"), ==, 1);
        g_assert_cmpuint(log_count(""), ==, 2);
}

static void test_absurd_number_of_batteries(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(AldBatteries) batteries = NULL;

        log_count_reset();
        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *path = g_strdup_printf("sys/class/power_supply/BAT%u/type", i);

                fake_root_write(root, path, "Battery\n");
                g_ptr_array_add(names, g_strdup_printf("BAT%u", i));
        }
        g_ptr_array_add(names, NULL);
        batteries = ald_batteries_find(root->fd, (const char *const *) names->pdata);
        g_assert_cmpuint(ald_batteries_count(batteries), ==, ALD_BATTERIES_MAX);
        g_assert_cmpuint(log_count("more than 16 batteries"), ==, 1);
}

static uint64_t read_meters(FakeRoot *root)
{
        static const char *const names[] = { "hwmon0", "hwmon1", NULL };
        g_autoptr(AldPowerMeters) meters = ald_power_meters_find(root->fd, names);

        return ald_power_meters_read(meters);
}

static void test_meters(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        static const char *const broken[] = { "", "0\n", "-5\n", "4294967295000\n", "watts\n" };

        fake_root_write_all(root, METER "name", "power_meter\n", METER "power1_average", "412000000\n",
                METER "power1_is_battery", "0\n", "sys/class/hwmon/hwmon1/name", "amdgpu\n",
                "sys/class/hwmon/hwmon1/power1_average", "30000000\n", NULL);
        g_assert_cmpuint(read_meters(root), ==, 412000000);

        /* A meter for each of two supplies; old kernels have its attributes elsewhere. */
        fake_root_remove(root, "sys/class/hwmon/hwmon1");
        fake_root_write_all(root, "sys/class/hwmon/hwmon1/device/name", "power_meter\n",
                "sys/class/hwmon/hwmon1/device/power1_input", "88000000\n", NULL);
        g_assert_cmpuint(read_meters(root), ==, 500000000);

        /* A sum that lacks one of them is none. */
        for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
                fake_root_write(root, METER "power1_average", broken[i]);
                g_assert_cmpuint(read_meters(root), ==, ABSENT);
        }
        fake_root_write(root, METER "power1_is_battery", "1\n");
        g_assert_cmpuint(read_meters(root), ==, 88000000);
}

static void test_nothing_there(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldPowerReader) reader = ald_power_reader_new(root->fd);
        AldSystem system;

        for (uint64_t now = 1; now < 50; now++) {
                system = sample(reader, now * SEC, false);
                g_assert_cmpuint(system.batteries.n, ==, 0);
                g_assert_cmpuint(system.meter_micro_watts, ==, ABSENT);
        }
        /* A battery is put in, and taken out again. */
        fake_root_write_all(root, BAT "type", "Battery\n", BAT "capacity", "7\n", NULL);
        system = sample(reader, 60 * SEC, true);
        g_assert_cmpfloat(only_battery(&system)->charge_percent, ==, 7);
        fake_root_remove(root, "sys/class/power_supply/BAT0");
        system = sample(reader, 69 * SEC, false);
        g_assert_cmpstr(only_battery(&system)->id, ==, "BAT0");
        system = sample(reader, 70 * SEC, false);
        g_assert_cmpuint(system.batteries.n, ==, 0);
}

/* Another device that comes meanwhile does not make the row disappear. */
static void test_every_ten_seconds(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldPowerReader) reader = ald_power_reader_new(root->fd);
        AldSystem system = ALD_SYSTEM_INIT;

        fake_root_write_all(root, BAT "type", "Battery\n", BAT "capacity", "70\n", METER "name",
                "power_meter\n", METER "power1_average", "90000000\n", NULL);
        system = sample(reader, 5 * SEC, true);
        g_assert_cmpfloat(only_battery(&system)->charge_percent, ==, 70);
        g_assert_cmpuint(system.meter_micro_watts, ==, 90000000);
        fake_root_write(root, BAT "capacity", "69\n");
        fake_root_write_all(root, MAC "type", "Battery\n", MAC "capacity", "3\n", NULL);
        system = sample(reader, 14 * SEC, false);
        g_assert_cmpfloat(only_battery(&system)->charge_percent, ==, 70);
        ald_power_reader_sample(reader, 15 * SEC, &system);
        g_assert_cmpstr(only_battery(&system)->id, ==, "BAT0");
        g_main_context_iteration(NULL, TRUE);
        system = sample(reader, 15 * SEC, false);
        g_assert_cmpuint(system.batteries.n, ==, 2);
        g_assert_cmpfloat(((const AldBattery *) ald_rows_at(&system.batteries, 0))->charge_percent, ==, 69);
        g_assert_cmpfloat(((const AldBattery *) ald_rows_at(&system.batteries, 1))->charge_percent, ==, 3);
}

/* A controller that does not answer: as long as the main loop has not heard of the thread, it may as well
 * hang. */
static void test_no_answer(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldPowerReader *reader = ald_power_reader_new(root->fd);
        AldSystem system = ALD_SYSTEM_INIT;

        fake_root_write_all(root, BAT "type", "Battery\n", BAT "capacity", "70\n", NULL);
        sample(reader, SEC, true);
        log_count_reset();
        for (uint64_t now = 11; now < 31; now++)
                ald_power_reader_sample(reader, now * SEC, &system);
        g_assert_cmpuint(system.batteries.n, ==, 1);
        for (uint64_t now = 31; now < 60; now++) {
                ald_power_reader_sample(reader, now * SEC, &system);
                g_assert_cmpuint(system.batteries.n, ==, 0);
        }
        g_assert_cmpuint(log_count("have not answered for 20 s"), ==, 1);
        g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(log_count("answer again"), ==, 1);
        system = sample(reader, 60 * SEC, true);
        g_assert_cmpuint(system.batteries.n, ==, 1);

        /* The service ends while a thread reads. */
        ald_power_reader_sample(reader, 70 * SEC, &system);
        ald_power_reader_free(reader);
        g_main_context_iteration(NULL, TRUE);
        g_assert_false(g_main_context_pending(NULL));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/power-reader/batteries", test_batteries);
        g_test_add_func("/power-reader/broken-files-are-logged-once", test_broken_files_are_logged_once);
        g_test_add_func("/power-reader/absurd-number-of-batteries", test_absurd_number_of_batteries);
        g_test_add_func("/power-reader/meters", test_meters);
        g_test_add_func("/power-reader/nothing-there", test_nothing_there);
        g_test_add_func("/power-reader/every-ten-seconds", test_every_ten_seconds);
        g_test_add_func("/power-reader/no-answer", test_no_answer);
        return g_test_run();
}
