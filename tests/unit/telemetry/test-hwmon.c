/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/field.h"
#include "services/telemetry/host/hwmon.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define ABSENT ALD_ABSENT_INT64
#define HWMON "sys/class/hwmon/"
#define ZONE "sys/class/thermal/"
#define SEC UINT64_C(1000000)

typedef struct Machine {
        const char *name;
        int64_t wanted;
        const char *files[24]; /* path and content in turn */
} Machine;

static const Machine machines[] = {
        { "virtual-machine", ABSENT, { NULL } },
        { "two-intel-packages", 73000,
                { HWMON "hwmon0/name", "nvme\n", HWMON "hwmon0/temp1_input", "99000\n", HWMON "hwmon1/name",
                        "coretemp\n", HWMON "hwmon1/temp1_label", "Package id 0\n",
                        HWMON "hwmon1/temp1_input", "73000\n", HWMON "hwmon1/temp2_label", "Core 0\n",
                        HWMON "hwmon1/temp2_input", "95000\n", HWMON "hwmon2/name", "coretemp\n",
                        HWMON "hwmon2/temp1_label", "Package id 1\n", HWMON "hwmon2/temp1_input",
                        "71000\n" } },
        { "intel-atom-without-package", 52000,
                { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp2_label", "Core 0\n",
                        HWMON "hwmon0/temp2_input", "50000\n", HWMON "hwmon0/temp3_label", "Core 1\n",
                        HWMON "hwmon0/temp3_input", "52000\n" } },
        { "amd-with-shifted-tctl", 60000,
                { HWMON "hwmon3/name", "k10temp\n", HWMON "hwmon3/temp1_label", "Tctl\n",
                        HWMON "hwmon3/temp1_input", "87000\n", HWMON "hwmon3/temp2_label", "Tdie\n",
                        HWMON "hwmon3/temp2_input", "60000\n", HWMON "hwmon3/temp3_label", "Tccd1\n",
                        HWMON "hwmon3/temp3_input", "90000\n" } },
        { "strix-halo", 48625,
                { HWMON "hwmon3/name", "k10temp\n", HWMON "hwmon3/temp1_label", "Tctl\n",
                        HWMON "hwmon3/temp1_input", "48625\n", HWMON "hwmon4/name", "amdgpu\n",
                        HWMON "hwmon4/temp1_input", "80000\n" } },
        { "old-amd-without-labels", 33000,
                { HWMON "hwmon0/name", "k10temp\n", HWMON "hwmon0/temp1_input", "33000\n" } },
        { "zenpower", 41250,
                { HWMON "hwmon0/name", "zenpower\n", HWMON "hwmon0/temp1_label", "Tdie\n",
                        HWMON "hwmon0/temp1_input", "41250\n", HWMON "hwmon0/temp2_label", "Tctl\n",
                        HWMON "hwmon0/temp2_input", "68250\n" } },
        { "raspberry-pi", 45277,
                { HWMON "hwmon0/name", "cpu_thermal\n", HWMON "hwmon0/temp1_input", "45277\n" } },
        { "raspberry-pi-zone", 44000,
                { ZONE "thermal_zone0/type", "cpu-thermal\n", ZONE "thermal_zone0/temp", "44000\n",
                        ZONE "cooling_device0/type", "cpu\n", ZONE "cooling_device0/temp", "1\n" } },
        { "juno", 38000,
                { HWMON "hwmon0/name", "scpi_sensors\n", HWMON "hwmon0/temp1_label", "pmic\n",
                        HWMON "hwmon0/temp1_input", "60000\n", HWMON "hwmon0/temp2_label", "soc\n",
                        HWMON "hwmon0/temp2_input", "38000\n" } },
        { "intel-zone-only", 55000,
                { ZONE "thermal_zone0/type", "acpitz\n", ZONE "thermal_zone0/temp", "27800\n",
                        ZONE "thermal_zone1/type", "x86_pkg_temp\n", ZONE "thermal_zone1/temp", "55000\n" } },
        { "best-zone-wins", 55000,
                { ZONE "thermal_zone0/type", "cpu-virtual\n", ZONE "thermal_zone0/temp", "90000\n",
                        ZONE "thermal_zone1/type", "x86_pkg_temp\n", ZONE "thermal_zone1/temp", "55000\n" } },
        { "jetson", 51500,
                { ZONE "thermal_zone0/type", "CPU-therm\n", ZONE "thermal_zone0/temp", "51500\n",
                        ZONE "thermal_zone1/type", "GPU-therm\n", ZONE "thermal_zone1/temp", "70000\n",
                        ZONE "thermal_zone2/type", "PMIC-Die\n", ZONE "thermal_zone2/temp", "100000\n" } },
        { "soc-zone", 40100,
                { ZONE "thermal_zone0/type", "soc-thermal\n", ZONE "thermal_zone0/temp", "40100\n" } },
        { "apm-xgene", 45000,
                { HWMON "hwmon0/name", "apm_xgene\n", HWMON "hwmon0/temp1_label", "SoC Temperature\n",
                        HWMON "hwmon0/temp1_input", "45000\n", HWMON "hwmon1/name", "nvme\n",
                        HWMON "hwmon1/temp1_label", "Composite\n", HWMON "hwmon1/temp1_input", "61000\n" } },
        { "two-sockets", 47000,
                { HWMON "hwmon0/name", "maker_hwmon\n", HWMON "hwmon0/temp1_label", "SoC VRM Temp\n",
                        HWMON "hwmon0/temp1_input", "90000\n", HWMON "hwmon0/temp2_label", "SoC Temp 000\n",
                        HWMON "hwmon0/temp2_input", "46000\n", HWMON "hwmon1/temp1_label", "SoC Temp 001\n",
                        HWMON "hwmon1/temp1_input", "47000\n" } },
        { "power9", 58000,
                { HWMON "hwmon0/name", "ibmpowernv\n", HWMON "hwmon0/temp1_label", "Chip 0 Core 0\n",
                        HWMON "hwmon0/temp1_input", "55000\n", HWMON "hwmon0/temp2_label", "Chip 8 Core 40\n",
                        HWMON "hwmon0/temp2_input", "58000\n", HWMON "hwmon0/temp3_label", "Chip 0 DIMM 0\n",
                        HWMON "hwmon0/temp3_input", "70000\n", HWMON "hwmon0/temp4_label", "Chip 0 GPU 1\n",
                        HWMON "hwmon0/temp4_input", "80000\n" } },
        { "package-before-core", 50000,
                { HWMON "hwmon0/name", "macsmc_hwmon\n", HWMON "hwmon0/temp1_label", "Core 3\n",
                        HWMON "hwmon0/temp1_input", "66000\n", HWMON "hwmon0/temp2_label", "CPU Temp\n",
                        HWMON "hwmon0/temp2_input", "50000\n" } },
        { "name-only", 41000,
                { HWMON "hwmon0/name", "cpu0_thermal\n", HWMON "hwmon0/temp1_input", "41000\n",
                        HWMON "hwmon1/name", "gpu_thermal\n", HWMON "hwmon1/temp1_input", "70000\n" } },
        { "sfctemp", 42000, { HWMON "hwmon0/name", "sfctemp\n", HWMON "hwmon0/temp1_input", "42000\n" } },
        { "cluster-zone", 43000,
                { ZONE "thermal_zone0/type", "cluster0-thermal\n", ZONE "thermal_zone0/temp", "43000\n",
                        ZONE "thermal_zone1/type", "gpu-thermal\n", ZONE "thermal_zone1/temp", "60000\n" } },
        { "board-sensors-only", ABSENT,
                { HWMON "hwmon0/name", "nct6793\n", HWMON "hwmon0/temp1_label", "CPUTIN\n",
                        HWMON "hwmon0/temp1_input", "110000\n", HWMON "hwmon0/temp2_label", "CPU VRM\n",
                        HWMON "hwmon0/temp2_input", "60000\n", HWMON "hwmon0/temp3_label", "SYSTIN\n",
                        HWMON "hwmon0/temp3_input", "30000\n", HWMON "hwmon1/name", "amdgpu\n",
                        HWMON "hwmon1/temp1_label", "edge\n", HWMON "hwmon1/temp1_input", "50000\n" } },
        /* A zone is more certain than a label of an unknown chip. */
        { "zone-before-label", 55000,
                { ZONE "thermal_zone1/type", "x86_pkg_temp\n", ZONE "thermal_zone1/temp", "55000\n",
                        HWMON "hwmon0/name", "dell_smm\n", HWMON "hwmon0/temp1_label", "CPU\n",
                        HWMON "hwmon0/temp1_input", "60000\n" } },
        { "winter", -12000,
                { HWMON "hwmon0/name", "cpu_thermal\n", HWMON "hwmon0/temp1_input", "-12000\n" } },
        /* Broken in one way each. */
        { "too-hot", ABSENT, { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_input", "250001\n" } },
        { "too-cold", ABSENT,
                { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_input", "-100001\n" } },
        { "no-number", ABSENT, { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_input", "hot\n" } },
        { "half-a-number", ABSENT,
                { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_input", "45000 m\n" } },
        { "empty", ABSENT, { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_input", "" } },
        { "endless", ABSENT,
                { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_input",
                        "1000000000000000000000000000000000000000000000000000000000000000000000000000\n" } },
        { "no-name", ABSENT, { HWMON "hwmon0/temp1_input", "45000\n" } },
        { "no-input", ABSENT,
                { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_label", "Package id 0\n" } },
        { "not-connected", ABSENT, { HWMON "hwmon0/name", "k10temp\n", HWMON "hwmon0/temp1_input", "0\n" } },
        { "fault", ABSENT,
                { HWMON "hwmon0/name", "maker_hwmon\n", HWMON "hwmon0/temp1_label", "CPU\n",
                        HWMON "hwmon0/temp1_input", "127875\n", HWMON "hwmon0/temp1_fault", "1\n" } },
        { "one-fault-of-two", 47000,
                { HWMON "hwmon0/name", "maker_hwmon\n", HWMON "hwmon0/temp1_label", "CPU 0\n",
                        HWMON "hwmon0/temp1_input", "127875\n", HWMON "hwmon0/temp1_fault", "1\n",
                        HWMON "hwmon0/temp2_label", "CPU 1\n", HWMON "hwmon0/temp2_input", "47000\n",
                        HWMON "hwmon0/temp2_fault", "0\n" } },
        { "no-parts-of-a-processor", ABSENT,
                { HWMON "hwmon0/name", "acpitz\n", HWMON "hwmon0/temp1_input", "27800\n", HWMON "hwmon1/name",
                        "spd5118\n", HWMON "hwmon1/temp1_input", "41000\n", HWMON "hwmon2/name", "nvme\n",
                        HWMON "hwmon2/temp1_label", "Composite\n", HWMON "hwmon2/temp1_input", "60000\n",
                        ZONE "thermal_zone0/type", "acpitz\n", ZONE "thermal_zone0/temp", "16800\n" } },
        /* One broken sensor costs its own value only. */
        { "one-of-two", 47000,
                { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_label", "Package id 0\n",
                        HWMON "hwmon0/temp1_input", "N/A\n", HWMON "hwmon1/name", "coretemp\n",
                        HWMON "hwmon1/temp1_label", "Package id 1\n", HWMON "hwmon1/temp1_input",
                        "47000\n" } },
};

static void write_machine(FakeRoot *root, const Machine *machine)
{
        for (size_t i = 0; i < G_N_ELEMENTS(machine->files) && machine->files[i]; i += 2)
                fake_root_write(root, machine->files[i], machine->files[i + 1]);
}

static void test_machine(const void *data)
{
        const Machine *machine = data;
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = NULL;

        write_machine(root, machine);
        log_count_reset();
        collector = ald_hwmon_collector_new(root->fd);
        for (uint64_t now = 0; now < 100; now++)
                g_assert_cmpint(ald_hwmon_collector_sample(collector, now * SEC), ==, machine->wanted);
        g_assert_cmpuint(log_count("/sys/"), <=, 1);
}

static const Machine one_package = { .files = { HWMON "hwmon0/name", "coretemp\n", HWMON "hwmon0/temp1_label",
                                             "Package id 0\n", HWMON "hwmon0/temp1_input", "40000\n" } };

static void test_follows_the_file(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);

        write_machine(root, &one_package);
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 0), ==, 40000);
        fake_root_write(root, HWMON "hwmon0/temp1_input", "41000\n");
        g_assert_cmpint(ald_hwmon_collector_sample(collector, SEC), ==, 41000);
}

/* A driver that is loaded again gets another number. */
static void test_sensor_moves(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);

        write_machine(root, &one_package);
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 0), ==, 40000);
        fake_root_remove(root, HWMON "hwmon0");
        fake_root_write_all(
                root, HWMON "hwmon7/name", "coretemp\n", HWMON "hwmon7/temp1_input", "42000\n", NULL);
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 60 * SEC), ==, 42000);
}

/* With a sensor gone and another there, the search goes on without harm to the other, and not all the time.
 */
static void test_sensor_goes(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);

        write_machine(root, &one_package);
        fake_root_write_all(
                root, HWMON "hwmon1/name", "coretemp\n", HWMON "hwmon1/temp1_input", "50000\n", NULL);
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 0), ==, 50000);
        fake_root_remove(root, HWMON "hwmon1/temp1_input");
        for (uint64_t now = 1; now < 100; now++)
                g_assert_cmpint(ald_hwmon_collector_sample(collector, now * SEC), ==, 40000);
}

static void test_driver_comes_late(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);
        uint64_t now = 0;

        g_assert_cmpint(ald_hwmon_collector_sample(collector, now), ==, ABSENT);
        write_machine(root, &one_package);
        while (ald_hwmon_collector_sample(collector, now) == ABSENT && now < 60 * SEC)
                now += SEC;
        g_assert_cmpuint(now, >, 0);
        g_assert_cmpuint(now, <, 60 * SEC);
}

/* A fault comes and goes while the file of the temperature stays. */
static void test_fault_comes(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);

        write_machine(root, &one_package);
        fake_root_write(root, HWMON "hwmon0/temp1_fault", "0\n");
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 0), ==, 40000);
        fake_root_write(root, HWMON "hwmon0/temp1_fault", "1\n");
        g_assert_cmpint(ald_hwmon_collector_sample(collector, SEC), ==, ABSENT);
        fake_root_write(root, HWMON "hwmon0/temp1_fault", "0\n");
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 2 * SEC), ==, 40000);
}

/* The complaint is not made again because sensors were looked for again. */
static void test_complains_once_over_scans(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);

        log_count_reset();
        write_machine(root, &one_package);
        fake_root_write(root, HWMON "hwmon0/temp1_input", "broken\n");
        fake_root_write_all(
                root, HWMON "hwmon1/name", "k10temp\n", HWMON "hwmon1/temp1_input", "1000\n", NULL);
        ald_hwmon_collector_sample(collector, 0);
        fake_root_remove(root, HWMON "hwmon1");
        for (uint64_t now = 1; now < 200; now++)
                g_assert_cmpint(ald_hwmon_collector_sample(collector, now * SEC), ==, ABSENT);
        g_assert_cmpuint(log_count("hwmon0"), ==, 1);
        g_assert_cmpuint(log_count("hwmon1"), ==, 1);
}

static unsigned count_open_files(void)
{
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
        unsigned n = 0;

        while (g_dir_read_name(dir))
                n++;
        return n;
}

/* An absurd number of chips takes neither the descriptors nor the log. */
static void test_thousands_of_chips(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldHwmonCollector) collector = ald_hwmon_collector_new(root->fd);
        unsigned before = count_open_files();

        log_count_reset();
        for (unsigned i = 0; i < 300; i++) {
                g_autofree char *name = g_strdup_printf(HWMON "hwmon%u/name", i);
                g_autofree char *input = g_strdup_printf(HWMON "hwmon%u/temp1_input", i);

                fake_root_write_all(root, name, "coretemp\n", input, "45000\n", NULL);
        }
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 0), ==, 45000);
        fake_root_remove(root, HWMON "hwmon0");
        g_assert_cmpint(ald_hwmon_collector_sample(collector, 60 * SEC), ==, 45000);
        g_assert_cmpuint(count_open_files() - before, <=, 128);
        g_assert_cmpuint(log_count("128 sensors"), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
                g_autofree char *path = g_strdup_printf("/hwmon/machine/%s", machines[i].name);

                g_test_add_data_func(path, &machines[i], test_machine);
        }
        g_test_add_func("/hwmon/follows-the-file", test_follows_the_file);
        g_test_add_func("/hwmon/sensor-moves", test_sensor_moves);
        g_test_add_func("/hwmon/sensor-goes", test_sensor_goes);
        g_test_add_func("/hwmon/driver-comes-late", test_driver_comes_late);
        g_test_add_func("/hwmon/fault-comes", test_fault_comes);
        g_test_add_func("/hwmon/complains-once-over-scans", test_complains_once_over_scans);
        g_test_add_func("/hwmon/thousands-of-chips", test_thousands_of_chips);
        return g_test_run();
}
