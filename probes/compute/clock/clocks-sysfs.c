/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "probes/common/small-files.h"
#include "probes/compute/clock/clocks-private.h"

#define CLOCK_HZ_MAX 1e11
#define MICROWATTS_MAX UINT64_C(100000000000)
#define NAMES_MAX 64u
#define KFD "sys/class/kfd/kfd"

/* Paths below the root; NULL if there is no such file. */
typedef struct Sysfs {
        char *root;
        char *clock;
        double scale;    /* to Hz */
        char *states;    /* "1: 2100Mhz *" */
        char *throttles; /* a folder of files that hold 0 or 1 */
        char *usage;
        char *power_limit;
        char *device;    /* its folder, if it reports memory of its own */
        uint64_t kfd_id; /* of its node in KFD, amdgpu's driver for computing; 0 if none */
} Sysfs;

static char *existing_path(const Sysfs *sysfs, const char *folder, const char *name)
{
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *full = g_build_filename(sysfs->root, path, NULL);

        return g_file_test(full, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}

static void set_clock(Sysfs *sysfs, const char *folder, const char *name, double scale)
{
        if (sysfs->clock)
                return;
        sysfs->clock = existing_path(sysfs, folder, name);
        sysfs->scale = scale;
}

/* Sets the file of the power limit. i915 and xe have the limit of the card, or of its package; amdgpu calls
 * it the cap, which of xe is the limit of short bursts. */
static void set_power_limit(Sysfs *sysfs, const char *folder)
{
        static const char *const names[] = { "power1_max", "power2_max", "power1_cap" };

        for (size_t i = 0; i < G_N_ELEMENTS(names) && !sysfs->power_limit; i++)
                sysfs->power_limit = existing_path(sysfs, folder, names[i]);
}

/* Finds the files in the subfolders of a folder of the device. xe has them at the device, i915 at the card,
 * amdgpu at its only hwmon. */
static void find_files_below(Sysfs *sysfs, const char *device, const char *kind)
{
        g_autofree char *folder = g_build_filename(device, kind, NULL);
        g_autofree char *full = g_build_filename(sysfs->root, folder, NULL);
        g_autoptr(GDir) names = g_dir_open(full, 0, NULL);
        const char *name;

        for (unsigned i = 0; names && i < NAMES_MAX && (name = g_dir_read_name(names)); i++) {
                g_autofree char *one = g_build_filename(folder, name, NULL);

                set_clock(sysfs, one, "freq1_input", 1);
                set_power_limit(sysfs, one);
                set_clock(sysfs, one, "gt/gt0/rps_act_freq_mhz", 1e6);
                set_clock(sysfs, one, "gt_act_freq_mhz", 1e6);
                if (!sysfs->throttles && g_str_has_prefix(name, "card"))
                        sysfs->throttles = existing_path(sysfs, one, "gt/gt0");
        }
}

static void close_sysfs(void *data)
{
        Sysfs *sysfs = data;

        g_free(sysfs->root);
        g_free(sysfs->clock);
        g_free(sysfs->states);
        g_free(sysfs->throttles);
        g_free(sysfs->usage);
        g_free(sysfs->power_limit);
        g_free(sysfs->device);
        g_free(sysfs);
}

static bool is_node_at(const char *node, unsigned domain, unsigned location)
{
        uint64_t value;

        return ald_file_field(node, "properties", "domain ", &value) && value == domain &&
               ald_file_field(node, "properties", "location_id ", &value) && value == location;
}

static uint64_t find_kfd_id(const char *root, const char *pci)
{
        g_autofree char *folder = g_build_filename(root, KFD "/topology/nodes", NULL);
        g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);
        unsigned domain, bus, slot, function;
        const char *name;
        uint64_t id;

        if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
                return 0;
        while (names && (name = g_dir_read_name(names))) {
                g_autofree char *node = g_build_filename(folder, name, NULL);

                if (is_node_at(node, domain, bus << 8 | slot << 3 | function) &&
                        ald_file_number(node, "gpu_id", &id))
                        return id;
        }
        return 0;
}

void *ald_clocks_sysfs_open(const char *root, const AldOpenclTarget *device)
{
        g_autofree char *folder = device->listed.pci
                                          ? g_build_filename("sys/bus/pci/devices", device->listed.pci, NULL)
                                          : NULL;
        Sysfs *sysfs;

        if (!folder)
                return NULL;
        sysfs = g_new0(Sysfs, 1);
        sysfs->root = g_strdup(root);
        set_clock(sysfs, folder, "tile0/gt0/freq0/act_freq", 1e6);
        sysfs->throttles = existing_path(sysfs, folder, "tile0/gt0/freq0/throttle");
        find_files_below(sysfs, folder, "hwmon");
        find_files_below(sysfs, folder, "drm");
        sysfs->states = existing_path(sysfs, folder, "pp_dpm_sclk");
        sysfs->usage = existing_path(sysfs, folder, "gpu_busy_percent");
        sysfs->device = g_strdup(folder);
        sysfs->kfd_id = find_kfd_id(root, device->listed.pci);
        return sysfs;
}

/* Reads the clock in MHz from the line with a star. */
static bool read_state(const Sysfs *sysfs, uint64_t *ret)
{
        g_autofree char *text = ald_file_text(sysfs->root, sysfs->states);
        g_auto(GStrv) lines = text ? g_strsplit(text, "\n", -1) : NULL;

        for (char **line = lines; line && *line; line++) {
                const char *colon = strchr(*line, ':');

                if (!colon || !strchr(*line, '*'))
                        continue;
                *ret = g_ascii_strtoull(colon + 1, NULL, 10);
                return *ret > 0;
        }
        return false;
}

static unsigned read_reasons(const Sysfs *sysfs)
{
        g_autofree char *folder = g_build_filename(sysfs->root, sysfs->throttles, NULL);
        g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);
        unsigned ret = 0;
        const char *name;

        while (names && (name = g_dir_read_name(names))) {
                uint64_t on;

                if (ald_throttle_from_intel(name) != 0 && ald_file_number(folder, name, &on) && on != 0)
                        ret |= ald_throttle_from_intel(name);
        }
        return ret;
}

static void read_sysfs(void *data, AldClockReading *ret)
{
        Sysfs *sysfs = data;
        double scale = sysfs->scale;
        uint64_t value;

        if (sysfs->throttles)
                ret->reasons = read_reasons(sysfs);
        if (!sysfs->clock || !ald_file_number(sysfs->root, sysfs->clock, &value)) {
                scale = 1e6;
                if (!sysfs->states || !read_state(sysfs, &value))
                        return;
        }
        if ((double) value * scale <= CLOCK_HZ_MAX)
                ret->hz = (uint64_t) ((double) value * scale);
}

static int usage_of_sysfs(void *data)
{
        Sysfs *sysfs = data;
        uint64_t percent;

        if (!sysfs->usage || !ald_file_number(sysfs->root, sysfs->usage, &percent) || percent > 100)
                return -1;
        return (int) percent;
}

static uint64_t power_limit_of_sysfs(void *data)
{
        Sysfs *sysfs = data;
        uint64_t microwatts;

        if (!sysfs->power_limit || !ald_file_number(sysfs->root, sysfs->power_limit, &microwatts))
                return 0;
        return microwatts <= MICROWATTS_MAX ? microwatts : 0;
}

static bool has_queue(const Sysfs *sysfs, const char *context)
{
        g_autofree char *folder = g_build_filename(context, "queues", NULL);
        g_autoptr(GDir) names = g_dir_open(folder, 0, NULL);
        const char *name;
        uint64_t id;

        while (names && (name = g_dir_read_name(names))) {
                g_autofree char *queue = g_build_filename(folder, name, NULL);

                if (ald_file_number(queue, "gpuid", &id) && id == sysfs->kfd_id)
                        return true;
        }
        return false;
}

/* Returns whether a process computes, which means that it has a queue on the device. Newer kernels give a
 * process several contexts, all but the first in their own folders. */
static bool is_computing(const Sysfs *sysfs, const char *process)
{
        g_autoptr(GDir) names = NULL;
        const char *name;

        if (has_queue(sysfs, process))
                return true;
        names = g_dir_open(process, 0, NULL);
        while (names && (name = g_dir_read_name(names))) {
                g_autofree char *context = g_build_filename(process, name, NULL);

                if (g_str_has_prefix(name, "context_") && has_queue(sysfs, context))
                        return true;
        }
        return false;
}

static int processes_of_sysfs(void *data)
{
        Sysfs *sysfs = data;
        g_autofree char *folder = g_build_filename(sysfs->root, KFD "/proc", NULL);
        g_autoptr(GDir) names = sysfs->kfd_id != 0 ? g_dir_open(folder, 0, NULL) : NULL;
        const char *name;
        int n = 0;

        if (!names)
                return -1;
        while ((name = g_dir_read_name(names))) {
                g_autofree char *process = g_build_filename(folder, name, NULL);

                n += is_computing(sysfs, process);
        }
        return n;
}

static uint64_t memory_free_of_sysfs(void *data)
{
        Sysfs *sysfs = data;
        g_autofree char *folder = g_build_filename(sysfs->root, sysfs->device, NULL);
        uint64_t total, used;

        if (!ald_file_number(folder, "mem_info_vram_total", &total) ||
                !ald_file_number(folder, "mem_info_vram_used", &used) || used > total)
                return 0;
        return total - used;
}

const AldClockSource ald_clocks_sysfs = {
        .close = close_sysfs,
        .read = read_sysfs,
        .usage = usage_of_sysfs,
        .power_limit = power_limit_of_sysfs,
        .processes = processes_of_sysfs,
        .memory_free = memory_free_of_sysfs,
};
