/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/schema.h"
#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-drm.h"
#include "services/telemetry/gpu/gpu-hwmon.h"
#include "services/telemetry/gpu/gpu-pmu.h"
#include "services/telemetry/host/kept-file.h"
#include "services/telemetry/host/rapl.h"

#define MEMORY_MAX (UINT64_C(1) << 50)    /* bytes */
#define PROCESSES_MAX (UINT64_C(1) << 22) /* more than any machine has */
#define TEMPERATURE_MIN (-100 * 1000)
#define TEMPERATURE_MAX (250 * 1000)
#define POWER_MAX (UINT64_C(20000) * 1000 * 1000)
#define CLOCK_MAX (UINT64_C(20) * 1000 * 1000 * 1000)

/* Discards impossible figures of a driver or a file. */
static void drop_impossible_figures(AldDevice *device)
{
        if (!(device->usage >= 0 && device->usage <= 100))
                device->usage = ALD_ABSENT_DOUBLE;
        if (device->memory_used_bytes > MEMORY_MAX)
                device->memory_used_bytes = ALD_ABSENT_UINT64;
        if (device->shared_used_bytes > MEMORY_MAX)
                device->shared_used_bytes = ALD_ABSENT_UINT64;
        if (device->compute_processes > PROCESSES_MAX)
                device->compute_processes = ALD_ABSENT_UINT64;
        if (device->temperature_milli_celsius < TEMPERATURE_MIN ||
                device->temperature_milli_celsius > TEMPERATURE_MAX)
                device->temperature_milli_celsius = ALD_ABSENT_INT64;
        if (device->power_micro_watts > POWER_MAX)
                device->power_micro_watts = ALD_ABSENT_UINT64;
        /* A gated clock reads as 0, which means that there is none. */
        if (device->clock_hz == 0 || device->clock_hz > CLOCK_MAX)
                device->clock_hz = ALD_ABSENT_UINT64;
}

#define STATS_MAX 2048u
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
        FIGURE_ENERGY, /* a sum in µJ, if there is no power */
        FIGURE_CLOCK,
        N_FIGURES,
} Figure;

struct AldGpuReader {
        Gauge gauges[N_FIGURES];
        AldKeptFile stats; /* of v3d */
        AldV3dStats before;
        AldGpuPmu *pmu; /* of i915 */
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

static void find_hwmon(AldGpuReader *reader, int root, const char *device)
{
        g_autofree char *hwmon = ald_gpu_hwmon_path(root, device);

        try_gauge(reader, FIGURE_TEMPERATURE, root, hwmon, "temp1_input", 1);
        try_gauge(reader, FIGURE_TEMPERATURE, root, hwmon, "temp2_input", 1);
        try_gauge(reader, FIGURE_POWER, root, hwmon, "power1_average", 1);
        try_gauge(reader, FIGURE_POWER, root, hwmon, "power1_input", 1);
        if (!reader->gauges[FIGURE_POWER].file.path) {
                try_gauge(reader, FIGURE_ENERGY, root, hwmon, "energy1_input", 1);
                try_gauge(reader, FIGURE_ENERGY, root, hwmon, "energy2_input", 1);
        }
        try_gauge(reader, FIGURE_CLOCK, root, hwmon, "freq1_input", 1);
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
        if (ald_sysroot_exists(root, stats))
                ald_kept_file_init(&reader->stats, root, stats);
        if (g_strcmp0(gpu->driver, "i915") == 0)
                reader->pmu = ald_gpu_pmu_new(root, gpu->id);
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
        ald_gpu_pmu_free(reader->pmu);
        g_free(reader);
}

bool ald_gpu_reader_same(const AldGpuReader *a, const AldGpuReader *b)
{
        for (Figure figure = 0; figure < N_FIGURES; figure++)
                if (g_strcmp0(a->gauges[figure].file.path, b->gauges[figure].file.path) != 0)
                        return false;
        return g_strcmp0(a->stats.path, b->stats.path) == 0 && !a->pmu == !b->pmu &&
               ald_gpu_reader_refusal(a) == ald_gpu_reader_refusal(b);
}

int ald_gpu_reader_refusal(const AldGpuReader *reader)
{
        return reader->pmu ? ald_gpu_pmu_error(reader->pmu) : 0;
}

static bool read_gauge(AldGpuReader *reader, Figure figure, int64_t *ret)
{
        Gauge *gauge = &reader->gauges[figure];

        return gauge->file.path && ald_kept_file_read_int64(&gauge->file, ret) >= 0;
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
static uint64_t read_energy(AldGpuReader *reader, int64_t now_usec)
{
        int64_t before = reader->energy, since = reader->energy_usec, energy;

        reader->energy_usec = 0;
        if (!read_gauge(reader, FIGURE_ENERGY, &energy) || energy < 0)
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

void ald_gpu_reader_read(AldGpuReader *reader, int64_t now_usec, AldDevice *device)
{
        AldDevice figures = ALD_DEVICE_INIT;
        int64_t value;

        if (read_gauge(reader, FIGURE_USAGE, &value))
                figures.usage = (double) value * reader->gauges[FIGURE_USAGE].scale;
        else if (reader->stats.path)
                figures.usage = read_v3d_usage(reader);
        else if (reader->pmu)
                figures.usage = ald_gpu_pmu_read(reader->pmu);
        if (read_gauge(reader, FIGURE_TEMPERATURE, &value))
                figures.temperature_milli_celsius = value;
        figures.memory_used_bytes = read_uint64(reader, FIGURE_MEMORY);
        figures.shared_used_bytes = read_uint64(reader, FIGURE_SHARED);
        figures.power_micro_watts = reader->gauges[FIGURE_ENERGY].file.path
                                            ? read_energy(reader, now_usec)
                                            : read_uint64(reader, FIGURE_POWER);
        figures.clock_hz = read_uint64(reader, FIGURE_CLOCK);
        drop_impossible_figures(&figures);
        ald_struct_overlay(&ald_device_struct, device, &figures);
}
