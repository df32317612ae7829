/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures that drivers show in sysfs, and when they may be read. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/telemetry/gpu/gpu-live.h"
#include "services/telemetry/gpu/gpu-pci.h"
#include "services/telemetry/gpu/gpu-platform.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define SEC INT64_C(1000000)
#define RADEON "0000:03:00.0"

typedef struct Fixture {
        FakeRoot *root;
        GPtrArray *gpus;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer make)
{
        void (*const function)(FakeRoot *) = (void (*)(FakeRoot *)) make;

        log_count_reset();
        fixture->root = fake_root_new();
        fixture->gpus = ald_gpu_list_new();
        function(fixture->root);
        ald_gpu_pci_scan(fixture->root->fd, fixture->gpus);
        ald_gpu_platform_scan(fixture->root->fd, fixture->gpus);
        for (guint i = 0; i < fixture->gpus->len; i++)
                ald_gpu_live_prepare(fixture->root->fd, fixture->gpus->pdata[i]);
}

static void tear_down(Fixture *fixture, gconstpointer make)
{
        g_ptr_array_unref(fixture->gpus);
        fake_root_free(fixture->root);
}

static AldDevice sample(Fixture *fixture, int64_t now)
{
        AldGpu *gpu = fixture->gpus->pdata[0];
        AldDevice device;

        ald_gpu_live_sample(gpu, now, &device);
        ald_gpu_live_note_usage(gpu->live, device.usage, now);
        return device;
}

static void assert_no_figures(const AldDevice *device)
{
        g_assert_true(isnan(device->usage));
        g_assert_cmpuint(device->memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(device->temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        g_assert_cmpuint(device->power_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device->clock_hz, ==, ALD_ABSENT_UINT64);
}

static void test_radeon(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpstr(device.id, ==, RADEON);
        g_assert_cmpstr(device.power_state, ==, "active");
        g_assert_cmpfloat(device.usage, ==, 37);
        g_assert_cmpuint(device.memory_used_bytes, ==, 1610612736);
        g_assert_cmpint(device.temperature_milli_celsius, ==, 45000);
        g_assert_cmpuint(device.power_micro_watts, ==, 55000000);
        g_assert_cmpuint(device.clock_hz, ==, 1500000000);
        g_assert_cmpuint(log_count(""), ==, 0);
}

/* A table of amdgpu's firmware, version 1.3, of a card that is too hot, with a memory clock and busy video
 * engines. */
static void set_metrics(FakeRoot *root, const char *id, uint8_t content)
{
        g_autofree char *path = g_strdup_printf("sys/bus/pci/devices/%s/gpu_metrics", id);
        const uint64_t reasons = UINT64_C(1) << 34;
        const uint16_t size = 120, clock = 1100, video = 64;
        uint8_t table[120];

        memset(table, 0xff, sizeof table);
        memcpy(table, &size, sizeof size);
        table[2] = 1;
        table[3] = content;
        memcpy(table + 20, &video, sizeof video);
        memcpy(table + 58, &clock, sizeof clock);
        memcpy(table + 112, &reasons, sizeof reasons);
        fake_root_write_bytes(root, path, table, sizeof table);
}

static void make_radeon_with_all(FakeRoot *root)
{
        gpu_root_radeon(root);
        gpu_root_set(root, RADEON, "hwmon/hwmon3/power1_cap", "303000000\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/fan1_input", "1420\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/pwm1", "102\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/pwm1_max", "255\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/temp1_label", "edge\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/temp3_label", "mem\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/temp3_input", "84000\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/freq2_label", "mclk\n");
        gpu_root_set(root, RADEON, "hwmon/hwmon3/freq2_input", "1249000000\n");
        set_metrics(root, RADEON, 3);
}

static void assert_throttled(const AldDevice *device, const char *expected)
{
        g_autofree char *text = device->throttle_reasons ? g_strjoinv(" ", (char **) device->throttle_reasons)
                                                         : g_strdup("");

        g_assert_cmpint(device->throttled, ==, *expected != '\0');
        g_assert_cmpstr(text, ==, expected);
}

static void test_radeon_with_all(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpuint(device.power_limit_micro_watts, ==, 303000000);
        g_assert_cmpuint(device.fan_rpm, ==, 1420);
        g_assert_cmpfloat_with_epsilon(device.fan_percent, 40, 0.01);
        g_assert_cmpint(device.memory_temperature_milli_celsius, ==, 84000);
        /* The file of its own goes before the table. */
        g_assert_cmpuint(device.memory_clock_hz, ==, 1249000000);
        g_assert_cmpfloat(device.encoder_usage, ==, 64);
        g_assert_cmpfloat(device.decoder_usage, ==, 64);
        g_assert_cmpuint(device.energy_micro_joules, ==, ALD_ABSENT_UINT64);
        assert_throttled(&device, "thermal");
        g_assert_cmpuint(log_count(""), ==, 0);

        /* A limit that is off, a fan that cannot be, a gated clock. */
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/power1_cap", "0\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/fan1_input", "4294967295\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/pwm1", "256\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/temp3_input", "300000\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/freq2_input", "0\n");
        device = sample(fixture, 2 * SEC);
        g_assert_cmpuint(device.power_limit_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.fan_rpm, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(device.fan_percent));
        g_assert_cmpint(device.memory_temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        g_assert_cmpuint(device.memory_clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpfloat(device.usage, ==, 37);
}

/* A table that is too short, and one of a later version, cost what is in it alone, and a line each. */
static void test_bad_metrics(Fixture *fixture, gconstpointer make)
{
        AldDevice device;

        fake_root_write_bytes(fixture->root, "sys/bus/pci/devices/" RADEON "/gpu_metrics", "\x78\0\1\3", 4);
        for (int i = 1; i < 4; i++)
                device = sample(fixture, i * SEC);
        g_assert_cmpint(device.throttled, ==, ALD_ABSENT_BOOLEAN);
        g_assert_null(device.throttle_reasons);
        g_assert_true(isnan(device.decoder_usage));
        g_assert_cmpuint(device.memory_clock_hz, ==, 1249000000);
        g_assert_cmpfloat(device.usage, ==, 37);
        g_assert_cmpuint(log_count("gpu_metrics"), ==, 1);
        set_metrics(fixture->root, RADEON, 200);
        device = sample(fixture, 4 * SEC);
        g_assert_cmpint(device.throttled, ==, ALD_ABSENT_BOOLEAN);
        set_metrics(fixture->root, RADEON, 3);
        device = sample(fixture, 5 * SEC);
        assert_throttled(&device, "thermal");
}

#define BATTLEMAGE "0000:04:00.0"
#define BATTLEMAGE_THROTTLE "tile0/gt0/freq0/throttle/"

static void make_battlemage(FakeRoot *root)
{
        gpu_root_arc(root);
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/power1_max", "190000000\n");
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/power1_cap", "250000000\n");
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/fan1_input", "900\n");
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/fan2_input", "1100\n");
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/temp2_label", "pkg\n");
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/temp3_label", "vram\n");
        gpu_root_set(root, BATTLEMAGE, "hwmon/hwmon5/temp3_input", "56000\n");
        gpu_root_set(root, BATTLEMAGE, BATTLEMAGE_THROTTLE "status", "0\n");
        gpu_root_set(root, BATTLEMAGE, BATTLEMAGE_THROTTLE "reason_pl1", "0\n");
        gpu_root_set(root, BATTLEMAGE, BATTLEMAGE_THROTTLE "reason_thermal", "0\n");
        gpu_root_set(root, BATTLEMAGE, "tile0/gt1/freq0/throttle/status", "0\n");
        gpu_root_set(root, BATTLEMAGE, "tile0/gt1/freq0/throttle/reason_prochot", "1\n");
}

static void test_battlemage(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpuint(device.power_limit_micro_watts, ==, 190000000);
        g_assert_cmpuint(device.energy_micro_joules, ==, 1000000);
        g_assert_cmpuint(device.fan_rpm, ==, 1100);
        g_assert_true(isnan(device.fan_percent));
        g_assert_cmpint(device.temperature_milli_celsius, ==, 52000);
        g_assert_cmpint(device.memory_temperature_milli_celsius, ==, 56000);
        assert_throttled(&device, "");
        gpu_root_set(fixture->root, BATTLEMAGE, BATTLEMAGE_THROTTLE "status", "1\n");
        gpu_root_set(fixture->root, BATTLEMAGE, BATTLEMAGE_THROTTLE "reason_pl1", "1\n");
        gpu_root_set(fixture->root, BATTLEMAGE, "hwmon/hwmon5/energy1_input", "91000000\n");
        device = sample(fixture, 2 * SEC);
        assert_throttled(&device, "power");
        g_assert_cmpuint(device.energy_micro_joules, ==, 91000000);
        g_assert_cmpuint(device.power_micro_watts, ==, 90000000);
        gpu_root_set(fixture->root, BATTLEMAGE, "tile0/gt1/freq0/throttle/status", "1\n");
        device = sample(fixture, 3 * SEC);
        assert_throttled(&device, "power hardware");
        /* One block that cannot be read hides no other. */
        gpu_root_set(fixture->root, BATTLEMAGE, "tile0/gt1/freq0/throttle/status", "odd\n");
        device = sample(fixture, 4 * SEC);
        assert_throttled(&device, "power");
        gpu_root_set(fixture->root, BATTLEMAGE, BATTLEMAGE_THROTTLE "status", "\n");
        g_assert_cmpint(sample(fixture, 5 * SEC).throttled, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpuint(log_count("throttle/status"), ==, 2);
}

static void make_throttled_iris(FakeRoot *root)
{
        gpu_root_iris(root);
        gpu_root_set(root, "0000:00:02.0", "drm/card0/gt/gt0/throttle_reason_status", "1\n");
        gpu_root_set(root, "0000:00:02.0", "drm/card0/gt/gt0/throttle_reason_pl2", "0\n");
        gpu_root_set(root, "0000:00:02.0", "drm/card0/gt/gt0/throttle_reason_prochot", "1\n");
        gpu_root_set(root, "0000:00:02.0", "drm/card0/gt/gt0/throttle_reason_of_the_future", "1\n");
}

static void test_throttled_iris(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        assert_throttled(&device, "hardware");
        g_assert_cmpuint(device.power_limit_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.energy_micro_joules, ==, ALD_ABSENT_UINT64);
}

/* As nobody, who may not read one of the files. */
static void test_refused_file(Fixture *fixture, gconstpointer make)
{
        AldGpu *gpu = fixture->gpus->pdata[0];
        g_autofree char *path = g_strdup_printf(
                "%s/sys/bus/pci/devices/" RADEON "/hwmon/hwmon3/power1_cap", fixture->root->dir);
        AldDevice device;

        g_assert_cmpint(chmod(fixture->root->dir, 0755), ==, 0);
        g_assert_cmpint(chmod(path, 0), ==, 0);
        if (geteuid() == 0)
                g_assert_cmpint(seteuid(65534), ==, 0);
        device = sample(fixture, SEC);
        if (getuid() == 0)
                g_assert_cmpint(seteuid(0), ==, 0);
        g_assert_cmpuint(device.power_limit_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.fan_rpm, ==, 1420);
        g_assert_true(g_str_has_suffix(ald_gpu_reader_refused_file(gpu->live->reader), "/power1_cap"));
        /* It is told until the file can be read. */
        g_assert_cmpint(chmod(path, 0444), ==, 0);
        g_assert_cmpuint(sample(fixture, 2 * SEC).power_limit_micro_watts, ==, 303000000);
        g_assert_null(ald_gpu_reader_refused_file(gpu->live->reader));
}

/* The fans of the machine are not those of its GPU, and sysfs shows nothing else of it. */
static void make_asahi(FakeRoot *root)
{
        fake_root_write_all(root, "proc/meminfo", "MemTotal:       16000000 kB\n",
                "sys/devices/soc/406400000.gpu/drm/renderD128/dev", "226:128\n",
                "sys/devices/soc/406400000.gpu/of_node/compatible", "apple,agx-g13g",
                "sys/class/hwmon/hwmon1/name", "macsmc_hwmon\n", "sys/class/hwmon/hwmon1/fan1_input",
                "1800\n", NULL);
        fake_root_mkdir(root, "sys/class/drm/card0");
        fake_root_link(root, "sys/class/drm/card0/device", "../../../devices/soc/406400000.gpu");
        fake_root_link(root, "sys/devices/soc/406400000.gpu/subsystem", "../../../bus/platform");
        fake_root_link(root, "sys/devices/soc/406400000.gpu/driver", "../../../bus/platform/drivers/asahi");
}

static void assert_no_live_figures(const AldDevice *device)
{
        g_assert_cmpuint(device->power_limit_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device->energy_micro_joules, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(device->fan_percent));
        g_assert_cmpuint(device->fan_rpm, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(device->memory_temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        g_assert_cmpuint(device->memory_clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(device->throttled, ==, ALD_ABSENT_BOOLEAN);
        g_assert_true(isnan(device->encoder_usage));
        g_assert_true(isnan(device->decoder_usage));
}

static void test_asahi(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpstr(device.id, ==, "406400000.gpu");
        assert_no_figures(&device);
        assert_no_live_figures(&device);
        g_assert_cmpuint(log_count(""), ==, 0);
}

/* Figures of NVML are shown until the next ones are late. */
static void test_old_nvml(Fixture *fixture, gconstpointer make)
{
        AldGpu *gpu = fixture->gpus->pdata[0];

        gpu->live->nvml.power_limit_micro_watts = 450000000;
        gpu->live->nvml_is_new = true;
        g_assert_cmpuint(sample(fixture, 100 * SEC).power_limit_micro_watts, ==, 450000000);
        g_assert_cmpuint(sample(fixture, 110 * SEC).power_limit_micro_watts, ==, 450000000);
        g_assert_cmpuint(sample(fixture, 111 * SEC).power_limit_micro_watts, ==, ALD_ABSENT_UINT64);
}

static void test_strix_halo(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpfloat(device.usage, ==, 2);
        /* Of what was carved out for it, and of the rest of the host's. */
        g_assert_cmpuint(device.memory_used_bytes, ==, 400000000);
        g_assert_cmpuint(device.shared_used_bytes, ==, 1000000000);
        g_assert_cmpuint(device.power_micro_watts, ==, 12000000);
}

/* All of its memory is the host's. */
static void test_mi300a(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpuint(device.memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.shared_used_bytes, ==, 3000000000);
        /* More than there is. */
        gpu_root_set(fixture->root, "0000:05:00.0", "mem_info_vram_used", "137438953473\n");
        g_assert_cmpuint(sample(fixture, 2 * SEC).shared_used_bytes, ==, ALD_ABSENT_UINT64);
}

static void test_iris(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpuint(device.clock_hz, ==, 1300000000);
        g_assert_true(isnan(device.usage));
        /* A gated clock has no frequency. */
        gpu_root_set(fixture->root, "0000:00:02.0", "drm/card0/gt/gt0/rps_act_freq_mhz", "0\n");
        g_assert_cmpuint(sample(fixture, 2 * SEC).clock_hz, ==, ALD_ABSENT_UINT64);
}

static void test_arc(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpuint(device.clock_hz, ==, 2400000000);
        g_assert_cmpint(device.temperature_milli_celsius, ==, 52000);
        g_assert_cmpuint(device.power_micro_watts, ==, ALD_ABSENT_UINT64);
        gpu_root_set(fixture->root, "0000:04:00.0", "hwmon/hwmon5/energy1_input", "151000000\n");
        g_assert_cmpuint(sample(fixture, 3 * SEC).power_micro_watts, ==, 75000000);
        /* The sum starts anew. */
        gpu_root_set(fixture->root, "0000:04:00.0", "hwmon/hwmon5/energy1_input", "5\n");
        g_assert_cmpuint(sample(fixture, 4 * SEC).power_micro_watts, ==, ALD_ABSENT_UINT64);
        gpu_root_set(fixture->root, "0000:04:00.0", "hwmon/hwmon5/energy1_input", "30000005\n");
        g_assert_cmpuint(sample(fixture, 5 * SEC).power_micro_watts, ==, 30000000);
}

static void test_raspberry(Fixture *fixture, gconstpointer make)
{
        g_assert_true(isnan(sample(fixture, SEC).usage));
        fake_root_write(fixture->root, "sys/devices/soc/v3d/gpu_stats",
                "queue\ttimestamp\tjobs\truntime\nbin\t2000000000\t11\t100500000\n"
                "render\t2000000000\t21\t250900000\n");
        g_assert_cmpfloat_with_epsilon(sample(fixture, 2 * SEC).usage, 25.0, 0.01);
        fake_root_write(
                fixture->root, "sys/devices/soc/v3d/gpu_stats", "queue\ttimestamp\tjobs\truntime\nbin\t3");
        g_assert_true(isnan(sample(fixture, 3 * SEC).usage));
        g_assert_true(isnan(sample(fixture, 4 * SEC).usage));
        g_assert_cmpuint(log_count("gpu_stats"), ==, 1);
}

static void test_jetson(Fixture *fixture, gconstpointer make)
{
        AldDevice device = sample(fixture, SEC);

        g_assert_cmpstr(device.id, ==, "17000000.gpu");
        g_assert_cmpfloat_with_epsilon(device.usage, 51.5, 0.01);
        g_assert_cmpuint(device.clock_hz, ==, 918000000);
}

/* What NVML of JetPack 6 reports: nothing, as zeros, or the memory of the host. */
static void test_jetson_nvml(Fixture *fixture, gconstpointer make)
{
        AldGpu *gpu = fixture->gpus->pdata[0];
        AldDevice device;
        AldBackend row;

        gpu->live->nvml.usage = 0;
        gpu->live->nvml.memory_used_bytes = gpu->live->nvml.compute_processes = 0;
        gpu->live->nvml.temperature_milli_celsius = 0;
        gpu->live->nvml.power_micro_watts = gpu->live->nvml.clock_hz = 0;
        gpu->live->nvml.power_limit_micro_watts = gpu->live->nvml.energy_micro_joules = 0;
        gpu->live->nvml.fan_percent = gpu->live->nvml.encoder_usage = gpu->live->nvml.decoder_usage = 0;
        gpu->live->nvml.memory_temperature_milli_celsius = 0;
        gpu->live->nvml.memory_clock_hz = 0;
        gpu->live->nvml.throttled = 0;
        gpu->nvml.memory_total_bytes = 0;
        gpu->nvml.unified = 0;
        device = sample(fixture, SEC);
        g_assert_cmpfloat_with_epsilon(device.usage, 51.5, 0.01);
        g_assert_cmpuint(device.clock_hz, ==, 918000000);
        g_assert_cmpuint(device.memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.compute_processes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(device.temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        assert_no_live_figures(&device);
        ald_gpu_backend(gpu, &row);
        g_assert_cmpint(row.unified, ==, 1);
        /* What it does know, and sysfs does not. */
        gpu->live->nvml.temperature_milli_celsius = 48000;
        gpu->live->nvml.usage = 7;
        device = sample(fixture, 2 * SEC);
        g_assert_cmpint(device.temperature_milli_celsius, ==, 48000);
        g_assert_cmpfloat_with_epsilon(device.usage, 51.5, 0.01);
}

/* Each broken file costs its field and one line, however often it is read. */
static void test_broken_files(Fixture *fixture, gconstpointer make)
{
        AldDevice device;

        gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "busy\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/power1_average", "");
        gpu_root_set(fixture->root, RADEON, "mem_info_vram_used", "-5\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/freq1_input", "99999999999999999999999\n");
        for (int i = 1; i <= 5; i++)
                device = sample(fixture, i * SEC);
        g_assert_true(isnan(device.usage));
        g_assert_cmpuint(device.power_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device.clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(device.temperature_milli_celsius, ==, 45000);
        g_assert_cmpuint(log_count("gpu_busy_percent"), ==, 1);
        g_assert_cmpuint(log_count("power1_average"), ==, 1);
        g_assert_cmpuint(log_count("freq1_input"), ==, 1);
        g_assert_cmpuint(log_count("temp1_input"), ==, 0);

        gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "101\n");
        gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/temp1_input", "9999999\n");
        device = sample(fixture, 6 * SEC);
        g_assert_true(isnan(device.usage));
        g_assert_cmpint(device.temperature_milli_celsius, ==, ALD_ABSENT_INT64);

        /* And it comes back. */
        gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "12\n");
        g_assert_cmpfloat(sample(fixture, 7 * SEC).usage, ==, 12);
}

/* More in use than there is, is not believed, and said once. */
static void test_memory_in_excess(Fixture *fixture, gconstpointer make)
{
        gpu_root_set(fixture->root, RADEON, "mem_info_vram_used", "25753026560\n");
        g_assert_cmpuint(sample(fixture, SEC).memory_used_bytes, ==, 25753026560);
        gpu_root_set(fixture->root, RADEON, "mem_info_vram_used", "25753026561\n");
        g_assert_cmpuint(sample(fixture, 2 * SEC).memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(sample(fixture, 3 * SEC).memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(log_count("mem_info_vram_used"), ==, 1);
}

/* A device that is awake draws something. */
static void test_energy_stands_still(Fixture *fixture, gconstpointer make)
{
        for (int i = 1; i < 4; i++)
                g_assert_cmpuint(sample(fixture, i * SEC).power_micro_watts, ==, ALD_ABSENT_UINT64);
        /* It is renewed less often than it is read. */
        gpu_root_set(fixture->root, "0000:04:00.0", "hwmon/hwmon5/energy1_input", "31000000\n");
        g_assert_cmpuint(sample(fixture, 4 * SEC).power_micro_watts, ==, 10000000);
        for (int i = 5; i < 30; i++)
                g_assert_cmpuint(sample(fixture, i * SEC).power_micro_watts, ==, ALD_ABSENT_UINT64);
        /* Its growth in all that time does not give the current power. */
        gpu_root_set(fixture->root, "0000:04:00.0", "hwmon/hwmon5/energy1_input", "91000000\n");
        g_assert_cmpuint(sample(fixture, 30 * SEC).power_micro_watts, ==, ALD_ABSENT_UINT64);
        gpu_root_set(fixture->root, "0000:04:00.0", "hwmon/hwmon5/energy1_input", "151000000\n");
        g_assert_cmpuint(sample(fixture, 33 * SEC).power_micro_watts, ==, 20000000);
}

/* What would wake it is not read, or it would be complained about. */
static void test_suspended(Fixture *fixture, gconstpointer make)
{
        AldDevice device;
        const char *const sleeping[] = { "suspended\n", "suspending\n" };

        for (size_t i = 0; i < G_N_ELEMENTS(sleeping); i++) {
                gpu_root_power(fixture->root, RADEON, sleeping[i], "auto\n");
                gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "woken\n");
                gpu_root_set(fixture->root, RADEON, "hwmon/hwmon3/temp1_input", "woken\n");
                device = sample(fixture, (int64_t) i * SEC);
                g_assert_cmpstr(device.id, ==, RADEON);
                g_assert_cmpstr(device.power_state, ==, "asleep");
                assert_no_figures(&device);
        }
        gpu_root_power(fixture->root, RADEON, "resuming\n", "auto\n");
        device = sample(fixture, 3 * SEC);
        g_assert_cmpstr(device.power_state, ==, "active");
        assert_no_figures(&device);
        g_assert_cmpuint(log_count("Cannot read"), ==, 0);

        gpu_root_power(fixture->root, RADEON, "active\n", "auto\n");
        gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "3\n");
        g_assert_cmpfloat(sample(fixture, 4 * SEC).usage, ==, 3);
}

static void test_no_power_management(Fixture *fixture, gconstpointer make)
{
        AldGpu *gpu = fixture->gpus->pdata[0];

        fake_root_remove(fixture->root, "sys/bus/pci/devices/" RADEON "/power");
        g_clear_pointer(&gpu->live, ald_gpu_live_free);
        ald_gpu_live_prepare(fixture->root->fd, gpu);
        g_assert_cmpstr(sample(fixture, SEC).power_state, ==, NULL);
        g_assert_cmpfloat(sample(fixture, SEC).usage, ==, 37);
}

/* An idle device that may suspend itself is not read for its delay and 5 s, every 5 min. */
static void test_paused(Fixture *fixture, gconstpointer make)
{
        gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "0\n");
        for (int i = 0; i < 10; i++)
                g_assert_cmpfloat(sample(fixture, (100 + i) * SEC).usage, ==, 0);
        g_assert_cmpfloat(sample(fixture, 110 * SEC).usage, ==, 0);
        for (int i = 11; i < 20; i++) {
                AldDevice device = sample(fixture, (100 + i) * SEC);

                g_assert_cmpstr(device.power_state, ==, "active");
                assert_no_figures(&device);
        }
        /* Somebody else keeps it awake. */
        for (int i = 20; i < 310; i++)
                g_assert_cmpfloat(sample(fixture, (100 + i) * SEC).usage, ==, 0);
        g_assert_cmpfloat(sample(fixture, 410 * SEC).usage, ==, 0);
        g_assert_true(isnan(sample(fixture, 411 * SEC).usage));

        /* It slept: the next time it is idle it is let go at once. */
        gpu_root_power(fixture->root, RADEON, "suspended\n", "auto\n");
        sample(fixture, 412 * SEC);
        gpu_root_power(fixture->root, RADEON, "active\n", "auto\n");
        for (int i = 0; i <= 10; i++)
                g_assert_cmpfloat(sample(fixture, (420 + i) * SEC).usage, ==, 0);
        g_assert_true(isnan(sample(fixture, 431 * SEC).usage));
}

/* Another source may report the usage; without any, a holder that works counts as usage. */
static void test_used_by_what_others_say(Fixture *fixture, gconstpointer make)
{
        AldGpuLive *live = ((AldGpu *) fixture->gpus->pdata[0])->live;
        AldDevice device;

        for (int i = 0; i < 100; i++) {
                ald_gpu_live_sample(fixture->gpus->pdata[0], (100 + i) * SEC, &device);
                g_assert_cmpint(live->state, ==, ALD_GPU_POWER_AWAKE);
                live->has_work = i >= 50;
                ald_gpu_live_note_usage(live, i < 50 ? 12 : (double) NAN, (100 + i) * SEC);
        }
        live->has_work = false;
        for (int i = 0; i <= 10; i++)
                ald_gpu_live_note_usage(live, NAN, (200 + i) * SEC);
        ald_gpu_live_sample(fixture->gpus->pdata[0], 211 * SEC, &device);
        g_assert_cmpint(live->state, ==, ALD_GPU_POWER_PAUSED);
}

static void test_busy_or_always_on(Fixture *fixture, gconstpointer make)
{
        for (int i = 0; i < 100; i++)
                g_assert_cmpfloat(sample(fixture, (100 + i) * SEC).usage, ==, 37);
        gpu_root_power(fixture->root, RADEON, "active\n", "on\n");
        gpu_root_set(fixture->root, RADEON, "gpu_busy_percent", "0\n");
        for (int i = 0; i < 100; i++)
                g_assert_cmpfloat(sample(fixture, (200 + i) * SEC).usage, ==, 0);
}

/* Files that come later are found, and what was complained about is remembered otherwise. */
static void test_prepare_again(Fixture *fixture, gconstpointer make)
{
        AldGpu *gpu = fixture->gpus->pdata[0];
        const AldGpuReader *before = gpu->live->reader;

        ald_gpu_live_prepare(fixture->root->fd, gpu);
        g_assert_true(gpu->live->reader == before);
        fake_root_remove(fixture->root, "sys/bus/pci/devices/" RADEON "/hwmon");
        ald_gpu_live_prepare(fixture->root->fd, gpu);
        g_assert_true(gpu->live->reader != before);
        g_assert_cmpint(sample(fixture, SEC).temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        g_assert_cmpfloat(sample(fixture, SEC).usage, ==, 37);
}

static void test_v3d_stats(void)
{
        AldV3dStats stats, later;

        g_assert_true(ald_gpu_parse_v3d_stats(
                "queue\ttimestamp\tjobs\truntime\nbin\t5\t1\t2\ncsd\t5\t3\t4\n", &stats));
        g_assert_cmpuint(stats.n_queues, ==, 2);
        g_assert_cmpuint(stats.when_ns, ==, 5);
        g_assert_cmpuint(stats.busy_ns[1], ==, 4);
        later = stats;
        g_assert_true(isnan(ald_gpu_v3d_usage(&stats, &later)));
        later.when_ns = 7;
        later.busy_ns[0] = 100;
        g_assert_cmpfloat(ald_gpu_v3d_usage(&stats, &later), ==, 100);
        later.busy_ns[1] = 0;
        g_assert_true(isnan(ald_gpu_v3d_usage(&stats, &later)));
        g_assert_false(ald_gpu_parse_v3d_stats("", &stats));
        g_assert_false(ald_gpu_parse_v3d_stats("queue\n", &stats));
        g_assert_false(ald_gpu_parse_v3d_stats("queue\nbin\t5\t-1\t2\n", &stats));
        g_assert_false(ald_gpu_parse_v3d_stats("queue\nbin\t5\t1\n", &stats));
}

int main(int argc, char *argv[])
{
        static const struct {
                const char *path;
                void (*make)(FakeRoot *root);
                void (*run)(Fixture *fixture, gconstpointer make);
        } tests[] = {
                { "/gpu-figures/radeon", gpu_root_radeon, test_radeon },
                { "/gpu-figures/radeon-with-all", make_radeon_with_all, test_radeon_with_all },
                { "/gpu-figures/bad-metrics", make_radeon_with_all, test_bad_metrics },
                { "/gpu-figures/refused-file", make_radeon_with_all, test_refused_file },
                { "/gpu-figures/battlemage", make_battlemage, test_battlemage },
                { "/gpu-figures/throttled-iris", make_throttled_iris, test_throttled_iris },
                { "/gpu-figures/asahi", make_asahi, test_asahi },
                { "/gpu-figures/old-nvml", gpu_root_radeon, test_old_nvml },
                { "/gpu-figures/strix-halo", gpu_root_strix_halo, test_strix_halo },
                { "/gpu-figures/mi300a", gpu_root_mi300a, test_mi300a },
                { "/gpu-figures/iris", gpu_root_iris, test_iris },
                { "/gpu-figures/arc", gpu_root_arc, test_arc },
                { "/gpu-figures/raspberry", gpu_root_raspberry, test_raspberry },
                { "/gpu-figures/jetson", gpu_root_jetson, test_jetson },
                { "/gpu-figures/jetson-nvml", gpu_root_jetson, test_jetson_nvml },
                { "/gpu-figures/energy-stands-still", gpu_root_arc, test_energy_stands_still },
                { "/gpu-figures/memory-in-excess", gpu_root_radeon, test_memory_in_excess },
                { "/gpu-figures/broken-files", gpu_root_radeon, test_broken_files },
                { "/gpu-figures/suspended", gpu_root_radeon, test_suspended },
                { "/gpu-figures/no-power-management", gpu_root_radeon, test_no_power_management },
                { "/gpu-figures/paused", gpu_root_radeon, test_paused },
                { "/gpu-figures/used-by-what-others-say", gpu_root_radeon, test_used_by_what_others_say },
                { "/gpu-figures/busy-or-always-on", gpu_root_radeon, test_busy_or_always_on },
                { "/gpu-figures/prepare-again", gpu_root_radeon, test_prepare_again },
        };

        g_test_init(&argc, &argv, NULL);
        log_count_install();
        for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
                g_test_add(tests[i].path, Fixture, (gconstpointer) tests[i].make, set_up, tests[i].run,
                        tear_down);
        g_test_add_func("/gpu-figures/v3d-stats", test_v3d_stats);
        return g_test_run();
}
