/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/schema.h"
#include "record/throttle.h"
#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-drm.h"
#include "services/telemetry/gpu/gpu-hwmon.h"
#include "services/telemetry/gpu/gpu-metrics.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-throttle.h"
#include "services/telemetry/host/kept-file.h"
#include "services/telemetry/host/rapl.h"

#define MEMORY_MAX (UINT64_C(1) << 50)    /* bytes */
#define PROCESSES_MAX (UINT64_C(1) << 22) /* more than any machine has */
#define TEMPERATURE_MIN (-100 * 1000)
#define TEMPERATURE_MAX (250 * 1000)
#define POWER_MAX (UINT64_C(20000) * 1000 * 1000)
#define CLOCK_MAX (UINT64_C(20) * 1000 * 1000 * 1000)
#define FAN_RPM_MAX UINT64_C(100000)

static double percent_or_absent(double value)
{
        return value >= 0 && value <= 100 ? value : ALD_ABSENT_DOUBLE;
}

/* A gated clock reads as 0, which means that there is none. */
static uint64_t clock_or_absent(uint64_t value)
{
        return value > 0 && value <= CLOCK_MAX ? value : ALD_ABSENT_UINT64;
}

static int64_t temperature_or_absent(int64_t value)
{
        return value >= TEMPERATURE_MIN && value <= TEMPERATURE_MAX ? value : ALD_ABSENT_INT64;
}

/* Discards impossible figures of a driver or a file. */
static void drop_impossible_figures(AldDevice *device)
{
        device->usage = percent_or_absent(device->usage);
        device->fan_percent = percent_or_absent(device->fan_percent);
        device->encoder_usage = percent_or_absent(device->encoder_usage);
        device->decoder_usage = percent_or_absent(device->decoder_usage);
        if (device->memory_used_bytes > MEMORY_MAX)
                device->memory_used_bytes = ALD_ABSENT_UINT64;
        if (device->shared_used_bytes > MEMORY_MAX)
                device->shared_used_bytes = ALD_ABSENT_UINT64;
        if (device->compute_processes > PROCESSES_MAX)
                device->compute_processes = ALD_ABSENT_UINT64;
        device->temperature_milli_celsius = temperature_or_absent(device->temperature_milli_celsius);
        device->memory_temperature_milli_celsius = temperature_or_absent(
                device->memory_temperature_milli_celsius);
        if (device->power_micro_watts > POWER_MAX)
                device->power_micro_watts = ALD_ABSENT_UINT64;
        /* A limit of 0 is one that is switched off. */
        if (device->power_limit_micro_watts == 0 || device->power_limit_micro_watts > POWER_MAX)
                device->power_limit_micro_watts = ALD_ABSENT_UINT64;
        if (device->fan_rpm > FAN_RPM_MAX)
                device->fan_rpm = ALD_ABSENT_UINT64;
        device->clock_hz = clock_or_absent(device->clock_hz);
        device->memory_clock_hz = clock_or_absent(device->memory_clock_hz);
}

#define STATS_MAX 2048u
#define FANS_MAX 3
#define TEMPERATURES_MAX 16
#define PWM_MAX 255 /* of hwmon, if a driver shows no other */
#define USEC_PER_SEC 1000000

/* A file with one number; it has no path if there is no such file. */
typedef struct Gauge {
        AldKeptFile file;
        double scale;       /* to the unit of the field */
        uint64_t max_value; /* larger values are discarded */
} Gauge;

typedef enum Figure {
        FIGURE_USAGE,
        FIGURE_MEMORY,
        FIGURE_SHARED,
        FIGURE_TEMPERATURE,
        FIGURE_POWER,
        FIGURE_ENERGY, /* a sum in µJ */
        FIGURE_CLOCK,
        FIGURE_POWER_LIMIT,
        FIGURE_FAN,
        FIGURE_FAN_RPM, /* and those of further fans */
        FIGURE_FAN_RPM_LAST = FIGURE_FAN_RPM + FANS_MAX - 1,
        FIGURE_MEMORY_TEMPERATURE,
        FIGURE_MEMORY_CLOCK,
        FIGURE_VIDEO, /* of the engines of amdgpu that encode and decode */
        N_FIGURES,
} Figure;

struct AldGpuReader {
        Gauge gauges[N_FIGURES];
        AldKeptFile stats; /* of v3d */
        AldV3dStats before;
        AldGpuThrottle *throttle; /* of i915 and xe; or NULL */
        AldKeptFile metrics;      /* of amdgpu */
        AldGpuMetrics metrics_before;
        const char *refused; /* path of a file that the last reading was not allowed to read, or NULL */
        int64_t energy;
        int64_t energy_usec; /* when the sum was first seen at this value; 0 before the first reading */
};

/* Uses the file if it exists, unless an earlier one was found. */
static void try_gauge(
        AldGpuReader *reader, Figure figure, int root, const char *folder, const char *name, double scale)
{
        Gauge *gauge = &reader->gauges[figure];
        g_autofree char *path = NULL;

        if (gauge->file.path || !folder)
                return;
        path = g_strdup_printf("%s/%s", folder, name);
        if (!ald_sysroot_exists(root, path))
                return;
        ald_kept_file_init(&gauge->file, root, path);
        gauge->scale = scale;
        gauge->max_value = ALD_INTEGER_MAX;
}

/* Uses a file with the bytes in use. The total may be absent. */
static void try_memory(
        AldGpuReader *reader, Figure figure, int root, const AldGpu *gpu, const char *name, uint64_t total)
{
        try_gauge(reader, figure, root, gpu->path, name, 1);
        if (total != ALD_ABSENT_UINT64)
                reader->gauges[figure].max_value = total;
}

static bool has_label(int root, const char *hwmon, const char *name, const char *const *labels)
{
        g_autofree char *path = g_strdup_printf("%s/%s_label", hwmon, name), *label = NULL;

        return ald_sysroot_read_string(root, path, &label) >= 0 && g_strv_contains(labels, label);
}

/* Finds what describes the memory, by its label: amdgpu calls it mem and mclk, xe vram. */
static void find_memory_sensors(AldGpuReader *reader, int root, const char *hwmon)
{
        static const char *const temperatures[] = { "mem", "vram", NULL }, *const clocks[] = { "mclk", NULL };

        for (unsigned i = 1; i <= TEMPERATURES_MAX; i++) {
                g_autofree char *name = g_strdup_printf("temp%u", i);
                g_autofree char *input = g_strdup_printf("%s_input", name);

                if (has_label(root, hwmon, name, temperatures))
                        try_gauge(reader, FIGURE_MEMORY_TEMPERATURE, root, hwmon, input, 1);
        }
        if (has_label(root, hwmon, "freq2", clocks))
                try_gauge(reader, FIGURE_MEMORY_CLOCK, root, hwmon, "freq2_input", 1);
}

static void find_fans(AldGpuReader *reader, int root, const char *hwmon)
{
        g_autofree char *path = g_strdup_printf("%s/pwm1_max", hwmon);
        int64_t most;

        if (ald_sysroot_read_int64(root, path, &most) < 0 || most <= 0)
                most = PWM_MAX;
        try_gauge(reader, FIGURE_FAN, root, hwmon, "pwm1", 100.0 / (double) most);
        for (unsigned i = 0; i < FANS_MAX; i++) {
                g_autofree char *name = g_strdup_printf("fan%u_input", i + 1);

                try_gauge(reader, FIGURE_FAN_RPM + i, root, hwmon, name, 1);
        }
}

static void find_hwmon(AldGpuReader *reader, int root, const char *device)
{
        g_autofree char *hwmon = ald_gpu_hwmon_path(root, device);

        if (!hwmon)
                return;
        try_gauge(reader, FIGURE_TEMPERATURE, root, hwmon, "temp1_input", 1);
        try_gauge(reader, FIGURE_TEMPERATURE, root, hwmon, "temp2_input", 1);
        try_gauge(reader, FIGURE_POWER, root, hwmon, "power1_average", 1);
        try_gauge(reader, FIGURE_POWER, root, hwmon, "power1_input", 1);
        try_gauge(reader, FIGURE_ENERGY, root, hwmon, "energy1_input", 1);
        try_gauge(reader, FIGURE_ENERGY, root, hwmon, "energy2_input", 1);
        try_gauge(reader, FIGURE_CLOCK, root, hwmon, "freq1_input", 1);
        /* i915 and xe show the limit of the card, or of its package, as the most; of xe, the cap is the limit
         * of short bursts. amdgpu has the cap alone. */
        try_gauge(reader, FIGURE_POWER_LIMIT, root, hwmon, "power1_max", 1);
        try_gauge(reader, FIGURE_POWER_LIMIT, root, hwmon, "power2_max", 1);
        try_gauge(reader, FIGURE_POWER_LIMIT, root, hwmon, "power1_cap", 1);
        find_fans(reader, root, hwmon);
        find_memory_sensors(reader, root, hwmon);
}

/* Looks for Intel's clock, which i915 shows in MHz at the card, and xe at the device. */
static void find_intel_clock(AldGpuReader *reader, int root, const char *device)
{
        g_autofree char *folder = g_strdup_printf("%s/drm", device);
        g_auto(GStrv) names = NULL;

        try_gauge(reader, FIGURE_CLOCK, root, device, "tile0/gt0/freq0/act_freq", 1e6);
        if (ald_sysroot_list(root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *card = g_strdup_printf("%s/%s", folder, *name);

                try_gauge(reader, FIGURE_CLOCK, root, card, "gt/gt0/rps_act_freq_mhz", 1e6);
                try_gauge(reader, FIGURE_CLOCK, root, card, "gt_act_freq_mhz", 1e6);
        }
}

static void find_devfreq_clock(AldGpuReader *reader, int root, const char *device)
{
        g_autofree char *folder = g_strdup_printf("%s/devfreq", device);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *one = g_strdup_printf("%s/%s", folder, *name);

                try_gauge(reader, FIGURE_CLOCK, root, one, "cur_freq", 1);
        }
}

static bool is_tegra(const AldGpu *gpu)
{
        return g_strcmp0(gpu->driver, "gk20a") == 0 || g_strcmp0(gpu->driver, "nvgpu") == 0;
}

AldGpuReader *ald_gpu_reader_new(int root, const AldGpu *gpu)
{
        AldGpuReader *reader = g_new0(AldGpuReader, 1);
        g_autofree char *stats = g_strdup_printf("%s/gpu_stats", gpu->path);
        g_autofree char *metrics = g_strdup_printf("%s/" ALD_GPU_METRICS_FILE, gpu->path);

        try_gauge(reader, FIGURE_USAGE, root, gpu->path, "gpu_busy_percent", 1);
        /* The unit is a tenth of a percent. */
        if (is_tegra(gpu))
                try_gauge(reader, FIGURE_USAGE, root, gpu->path, "load", 0.1);
        /* Memory that an APU without memory of its own uses as VRAM belongs to the host. */
        if (gpu->sysfs.unified != 1 || gpu->sysfs.memory_total_bytes != ALD_ABSENT_UINT64)
                try_memory(reader, FIGURE_MEMORY, root, gpu, "mem_info_vram_used",
                        gpu->sysfs.memory_total_bytes);
        try_memory(reader, FIGURE_SHARED, root, gpu,
                gpu->sysfs.vram_is_shared ? "mem_info_vram_used" : "mem_info_gtt_used",
                gpu->sysfs.shared_bytes);
        find_hwmon(reader, root, gpu->path);
        find_intel_clock(reader, root, gpu->path);
        find_devfreq_clock(reader, root, gpu->path);
        try_gauge(reader, FIGURE_VIDEO, root, gpu->path, "vcn_busy_percent", 1);
        if (g_strcmp0(gpu->driver, "amdgpu") == 0 && ald_sysroot_exists(root, metrics))
                ald_kept_file_init(&reader->metrics, root, metrics);
        if (gpu->pci_vendor == ALD_PCI_INTEL)
                reader->throttle = ald_gpu_throttle_new(root, gpu->path);
        if (ald_sysroot_exists(root, stats))
                ald_kept_file_init(&reader->stats, root, stats);
        return reader;
}

void ald_gpu_reader_free(AldGpuReader *reader)
{
        if (!reader)
                return;
        for (Figure figure = 0; figure < N_FIGURES; figure++)
                if (reader->gauges[figure].file.path)
                        ald_kept_file_clear(&reader->gauges[figure].file);
        if (reader->stats.path)
                ald_kept_file_clear(&reader->stats);
        if (reader->metrics.path)
                ald_kept_file_clear(&reader->metrics);
        ald_gpu_throttle_free(reader->throttle);
        g_free(reader);
}

bool ald_gpu_reader_same(const AldGpuReader *a, const AldGpuReader *b)
{
        for (Figure figure = 0; figure < N_FIGURES; figure++)
                if (g_strcmp0(a->gauges[figure].file.path, b->gauges[figure].file.path) != 0)
                        return false;
        return g_strcmp0(a->stats.path, b->stats.path) == 0 &&
               g_strcmp0(a->metrics.path, b->metrics.path) == 0 && !a->throttle == !b->throttle;
}

const char *ald_gpu_reader_refused_file(const AldGpuReader *reader)
{
        return reader->refused;
}

static bool read_gauge(AldGpuReader *reader, Figure figure, int64_t *ret)
{
        Gauge *gauge = &reader->gauges[figure];
        int r = gauge->file.path ? ald_kept_file_read_int64(&gauge->file, ret) : -ENOENT;

        if (r == -EACCES || r == -EPERM)
                reader->refused = gauge->file.path;
        return r >= 0;
}

static uint64_t read_uint64(AldGpuReader *reader, Figure figure)
{
        Gauge *gauge = &reader->gauges[figure];
        int64_t value;

        if (!read_gauge(reader, figure, &value) || value < 0)
                return ALD_ABSENT_UINT64;
        if ((double) value * gauge->scale > (double) gauge->max_value) {
                ald_kept_file_warn(&gauge->file, -ERANGE);
                return ALD_ABSENT_UINT64;
        }
        return (uint64_t) ((double) value * gauge->scale);
}

/*
 * Returns the mean power since the sum last grew. The sum restarts when the device was off. A constant sum
 * does not mean a power of 0, since an active device draws some power: either the sum is updated less often
 * than it is read, so that its next growth covers the whole time, or it is broken. After
 * ALD_ENERGY_STILL_MAX_USEC the growth does not give the current power, and counting starts again.
 */
static uint64_t power_from_energy(AldGpuReader *reader, uint64_t sum, int64_t now_usec)
{
        int64_t before = reader->energy, since = reader->energy_usec, energy = (int64_t) sum;

        reader->energy_usec = 0;
        if (sum == ALD_ABSENT_UINT64)
                return ALD_ABSENT_UINT64;
        reader->energy = energy;
        reader->energy_usec = now_usec;
        if (since == 0 || now_usec <= since || energy < before)
                return ALD_ABSENT_UINT64;
        if (energy == before) {
                reader->energy_usec = since;
                return ALD_ABSENT_UINT64;
        }
        if (now_usec - since >= ALD_ENERGY_STILL_MAX_USEC)
                return ALD_ABSENT_UINT64;
        return (uint64_t) ((double) (energy - before) * USEC_PER_SEC / (double) (now_usec - since));
}

bool ald_gpu_parse_v3d_stats(const char *text, AldV3dStats *ret)
{
        AldV3dStats stats = {};

        for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
                const char *field = line + 1 + strcspn(line + 1, "\t\n");
                uint64_t numbers[3]; /* when, jobs, busy */

                if (line[1] == '\0')
                        break;
                for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
                        char *end;

                        if (*field != '\t' || !g_ascii_isdigit(field[1]))
                                return false;
                        numbers[i] = g_ascii_strtoull(field + 1, &end, 10);
                        field = end;
                }
                if (stats.n_queues == ALD_V3D_QUEUES_MAX)
                        return false;
                stats.when_ns = numbers[0];
                stats.busy_ns[stats.n_queues++] = numbers[2];
        }
        if (stats.n_queues == 0)
                return false;
        *ret = stats;
        return true;
}

double ald_gpu_v3d_usage(const AldV3dStats *before, const AldV3dStats *after)
{
        uint64_t busiest = 0;

        if (before->n_queues != after->n_queues || after->when_ns <= before->when_ns)
                return ALD_ABSENT_DOUBLE;
        for (unsigned i = 0; i < after->n_queues; i++) {
                if (after->busy_ns[i] < before->busy_ns[i])
                        return ALD_ABSENT_DOUBLE;
                busiest = MAX(busiest, after->busy_ns[i] - before->busy_ns[i]);
        }
        return MIN(100.0, 100.0 * (double) busiest / (double) (after->when_ns - before->when_ns));
}

static double read_v3d_usage(AldGpuReader *reader)
{
        char text[STATS_MAX];
        AldV3dStats before = reader->before;

        reader->before = (AldV3dStats){};
        if (ald_kept_file_read(&reader->stats, text, sizeof text) < 0)
                return ALD_ABSENT_DOUBLE;
        if (!ald_gpu_parse_v3d_stats(text, &reader->before)) {
                ald_kept_file_warn(&reader->stats, -EBADMSG);
                return ALD_ABSENT_DOUBLE;
        }
        return before.n_queues > 0 ? ald_gpu_v3d_usage(&before, &reader->before) : ALD_ABSENT_DOUBLE;
}

static void set_throttling(AldDevice *figures, unsigned reasons)
{
        figures->throttled = reasons != 0;
        figures->throttle_reasons = ald_throttle_words(reasons);
}

/* Reads what limits the device, and what cools it. */
static void read_limits(AldGpuReader *reader, AldDevice *figures)
{
        int reasons = reader->throttle ? ald_gpu_throttle_read(reader->throttle) : -ENOENT;
        int64_t value;

        figures->power_limit_micro_watts = read_uint64(reader, FIGURE_POWER_LIMIT);
        if (read_gauge(reader, FIGURE_FAN, &value))
                figures->fan_percent = (double) value * reader->gauges[FIGURE_FAN].scale;
        for (Figure fan = FIGURE_FAN_RPM; fan <= FIGURE_FAN_RPM_LAST; fan++) {
                uint64_t rpm = read_uint64(reader, fan);

                if (rpm != ALD_ABSENT_UINT64 &&
                        (figures->fan_rpm == ALD_ABSENT_UINT64 || rpm > figures->fan_rpm))
                        figures->fan_rpm = rpm;
        }
        if (read_gauge(reader, FIGURE_MEMORY_TEMPERATURE, &value))
                figures->memory_temperature_milli_celsius = value;
        figures->memory_clock_hz = read_uint64(reader, FIGURE_MEMORY_CLOCK);
        if (read_gauge(reader, FIGURE_VIDEO, &value))
                figures->encoder_usage = figures->decoder_usage = (double) value;
        if (reasons >= 0)
                set_throttling(figures, (unsigned) reasons);
}

/* Adds what the table of amdgpu's firmware shows, where no file of its own does. */
static void read_metrics(AldGpuReader *reader, AldDevice *figures)
{
        AldGpuMetrics before = reader->metrics_before, metrics;
        char table[ALD_GPU_METRICS_MAX];
        ssize_t n = ald_kept_file_read(&reader->metrics, table, sizeof table);
        int r = n < 0 ? (int) n : ald_gpu_metrics_parse(table, (size_t) n, &metrics);

        reader->metrics_before = (AldGpuMetrics){};
        if (n >= 0 && r < 0)
                ald_kept_file_warn(&reader->metrics, r);
        if (r < 0)
                return;
        reader->metrics_before = metrics;
        if (figures->energy_micro_joules == ALD_ABSENT_UINT64)
                figures->energy_micro_joules = metrics.energy_micro_joules;
        if (figures->memory_clock_hz == ALD_ABSENT_UINT64)
                figures->memory_clock_hz = metrics.memory_clock_hz;
        if (isnan(figures->encoder_usage))
                figures->encoder_usage = figures->decoder_usage = metrics.video_usage;
        if (metrics.throttled != ALD_ABSENT_BOOLEAN)
                set_throttling(figures, metrics.reasons);
        else if (before.n_residencies > 0 && metrics.n_residencies > 0)
                set_throttling(figures, ald_gpu_metrics_reasons_between(&before, &metrics));
}

void ald_gpu_reader_read(AldGpuReader *reader, int64_t now_usec, AldDevice *device)
{
        AldDevice figures = ALD_DEVICE_INIT;
        int64_t value;

        reader->refused = NULL;
        if (read_gauge(reader, FIGURE_USAGE, &value))
                figures.usage = (double) value * reader->gauges[FIGURE_USAGE].scale;
        else if (reader->stats.path)
                figures.usage = read_v3d_usage(reader);
        if (read_gauge(reader, FIGURE_TEMPERATURE, &value))
                figures.temperature_milli_celsius = value;
        figures.memory_used_bytes = read_uint64(reader, FIGURE_MEMORY);
        figures.shared_used_bytes = read_uint64(reader, FIGURE_SHARED);
        figures.energy_micro_joules = read_uint64(reader, FIGURE_ENERGY);
        figures.power_micro_watts = reader->gauges[FIGURE_POWER].file.path
                                            ? read_uint64(reader, FIGURE_POWER)
                                            : power_from_energy(
                                                      reader, figures.energy_micro_joules, now_usec);
        figures.clock_hz = read_uint64(reader, FIGURE_CLOCK);
        read_limits(reader, &figures);
        if (reader->metrics.path)
                read_metrics(reader, &figures);
        drop_impossible_figures(&figures);
        ald_struct_overlay(&ald_device_struct, device, &figures);
}
