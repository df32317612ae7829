/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/hwmon.h"
#include "services/telemetry/host/kept-file.h"

#define HWMON_DIR "sys/class/hwmon"
#define THERMAL_DIR "sys/class/thermal"

/* A sensor beyond these limits is broken or not connected. */
#define COLDEST_MILLI (-100 * 1000)
#define HOTTEST_MILLI (250 * 1000)

#define RESCAN_USEC (UINT64_C(10) * 1000 * 1000)

/* Each sensor is kept open and read at every sample; no machine has this many processor packages. */
#define SENSORS_MAX 128u

/* Chips within the processor, which are right whatever else the machine has, and the labels of their inputs
 * for the temperature of the package. All inputs with the first label that any input has are read, or the
 * first input if no label matches. */
static const struct Chip {
        const char *name;
        const char *labels[4];
} chips[] = {
        { "coretemp", { "Package id", "Physical id", "Core" } },
        { "k10temp", { "Tdie", "Tctl" } }, /* Tctl is shifted on some models */
        { "zenpower", { "Tdie", "Tctl" } }, { "cpu_thermal", { NULL } }, { "soc_thermal", { NULL } },
        { "scpi_sensors", { "soc", "big", "cpu" } },
        { "sfctemp", { NULL } }, /* StarFive, which has one sensor and no label */
};

/* Types of thermal zones, best first. They are prefixes, since vendors differ in what follows: cpu-thermal,
 * CPU-therm, cpu0-thermal. */
static const char *const zones[] = { "x86_pkg_temp", "package", "cpu", "soc" };

/* Zones for machines that have neither one of these nor a chip with a known label: clusters of cores of Arm
 * and RISC-V, and the names that Intel's firmware gives the processor. */
static const char *const core_zones[] = { "tj", "tcpu", "b0d4", "cluster", "bigcore", "big", "mpu", "core",
        "littlecore", "little" };

typedef struct Sensor {
        AldKeptFile input;
        AldKeptFile fault; /* without a path if the driver does not report faults of this sensor */
} Sensor;

struct AldHwmonCollector {
        int root;
        GArray *sensors; /* of Sensor */
        uint64_t next_scan_usec;
        bool limit_logged;
};

static void clear_sensor(void *data)
{
        Sensor *sensor = data;

        ald_kept_file_clear(&sensor->input);
        if (sensor->fault.path)
                ald_kept_file_clear(&sensor->fault);
}

static GArray *new_sensors(void)
{
        GArray *sensors = g_array_new(FALSE, FALSE, sizeof(Sensor));

        g_array_set_clear_func(sensors, clear_sensor);
        return sensors;
}

AldHwmonCollector *ald_hwmon_collector_new(int root)
{
        AldHwmonCollector *collector = g_new(AldHwmonCollector, 1);

        *collector = (AldHwmonCollector){
                .root = root,
                .sensors = new_sensors(),
        };
        return collector;
}

void ald_hwmon_collector_free(AldHwmonCollector *collector)
{
        g_array_unref(collector->sensors);
        g_free(collector);
}

static bool has_prefix(const char *text, const char *prefix)
{
        return g_ascii_strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static void log_limit(AldHwmonCollector *collector)
{
        if (!collector->limit_logged)
                g_message("More than %u sensors report processor temperatures; the others are not read",
                        SENSORS_MAX);
        collector->limit_logged = true;
}

/* Sets up "temp1_fault" for "temp1_input", if it exists. Thermal zones have no such file. */
static void find_fault(Sensor *sensor, int root, const char *path)
{
        g_autofree char *stem = g_strndup(path, strlen(path) - strlen("input")), *fault = NULL;

        if (!g_str_has_suffix(path, "_input"))
                return;
        fault = g_strdup_printf("%sfault", stem);
        if (ald_sysroot_exists(root, fault))
                ald_kept_file_init(&sensor->fault, root, fault);
}

/* Adds a sensor. A known one keeps its open files, and its record of logged errors. */
static void add_sensor(AldHwmonCollector *collector, GArray *found, const char *path)
{
        Sensor sensor = {};

        if (found->len >= SENSORS_MAX) {
                log_limit(collector);
                return;
        }
        for (guint i = 0; i < collector->sensors->len; i++) {
                Sensor *known = &g_array_index(collector->sensors, Sensor, i);

                if (g_strcmp0(known->input.path, path) != 0)
                        continue;
                sensor = *known;
                g_array_append_val(found, sensor);
                *known = (Sensor){ .input.fd = -1 };
                return;
        }
        ald_kept_file_init(&sensor.input, collector->root, path);
        find_fault(&sensor, collector->root, path);
        g_array_append_val(found, sensor);
}

/* Returns the names in a directory that end in `suffix`, without the suffix: "temp1" for "temp1_input". */
static GPtrArray *list_stems(int root, const char *dir, const char *suffix)
{
        GPtrArray *stems = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(root, dir, &names) < 0)
                return stems;
        for (char **name = names; *name; name++)
                if (g_str_has_prefix(*name, "temp") && g_str_has_suffix(*name, suffix))
                        g_ptr_array_add(stems, g_strndup(*name, strlen(*name) - strlen(suffix)));
        return stems;
}

static bool add_labelled(AldHwmonCollector *collector, GArray *found, const char *dir, const char *label)
{
        g_autoptr(GPtrArray) stems = list_stems(collector->root, dir, "_label");
        guint before = found->len;

        for (guint i = 0; i < stems->len; i++) {
                const char *stem = stems->pdata[i];
                g_autofree char *label_path = g_strdup_printf("%s/%s_label", dir, stem);
                g_autofree char *input_path = g_strdup_printf("%s/%s_input", dir, stem);
                g_autofree char *text = NULL;

                if (ald_sysroot_read_string(collector->root, label_path, &text) >= 0 &&
                        has_prefix(text, label))
                        add_sensor(collector, found, input_path);
        }
        return found->len > before;
}

/* Returns whether a text begins with a word, regardless of case. A digit may follow at once: "Core0". */
static bool begins_with_word(const char *text, const char *word)
{
        return has_prefix(text, word) && !g_ascii_isalpha(text[strlen(word)]);
}

static bool has_word(const char *text, const char *word)
{
        for (const char *at = text; *at; at++)
                if ((at == text || !g_ascii_isalpha(at[-1])) && begins_with_word(at, word))
                        return true;
        return false;
}

/*
 * Ranks how well a label names the temperature of a processor. 0 is best; -1 means something else, such as a
 * voltage regulator or memory beside it. Drivers of servers and single-board computers have labels of their
 * own, but these describe what is measured: "SoC Temperature", "CPU Temp", "Chip 0 Core 4".
 */
static int rank_of_label(const char *label)
{
        static const char *const others[] = { "ambient", "board", "ddr", "dimm", "fan", "gpu", "inlet", "mem",
                "memory", "outlet", "power", "pwr", "socket", "vcore", "voltage", "vr", "vrd", "vrm" };
        static const char *const processors[] = { "package", "tdie", "tctl", "cpu", "processor", "proc",
                "soc" };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (has_word(label, others[i]))
                        return -1;
        for (size_t i = 0; i < G_N_ELEMENTS(processors); i++)
                if (begins_with_word(label, processors[i]))
                        return (int) i;
        /* The hottest core stands for its package. */
        return begins_with_word(label, "core") || (begins_with_word(label, "chip") && has_word(label, "core"))
                       ? (int) G_N_ELEMENTS(processors)
                       : -1;
}

/* Adds the inputs with the best rank among those of all chips. */
static void add_by_label(AldHwmonCollector *collector, GArray *found, GStrv names)
{
        g_autoptr(GPtrArray) best = g_ptr_array_new_with_free_func(g_free);
        int best_rank = INT_MAX;

        for (char **entry = names; *entry; entry++) {
                g_autofree char *dir = g_strdup_printf(HWMON_DIR "/%s", *entry);
                g_autoptr(GPtrArray) stems = list_stems(collector->root, dir, "_label");

                for (guint i = 0; i < stems->len; i++) {
                        const char *stem = stems->pdata[i];
                        g_autofree char *path = g_strdup_printf("%s/%s_label", dir, stem), *text = NULL;
                        int rank = ald_sysroot_read_string(collector->root, path, &text) >= 0
                                           ? rank_of_label(text)
                                           : -1;

                        if (rank < 0 || rank > best_rank)
                                continue;
                        if (rank < best_rank)
                                g_ptr_array_set_size(best, 0);
                        best_rank = rank;
                        g_ptr_array_add(best, g_strdup_printf("%s/%s_input", dir, stem));
                }
        }
        for (guint i = 0; i < best->len; i++)
                add_sensor(collector, found, best->pdata[i]);
}

static void add_chip(AldHwmonCollector *collector, GArray *found, const char *dir, const struct Chip *chip)
{
        g_autoptr(GPtrArray) stems = NULL;
        g_autofree char *path = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(chip->labels) && chip->labels[i]; i++)
                if (add_labelled(collector, found, dir, chip->labels[i]))
                        return;

        stems = list_stems(collector->root, dir, "_input");
        if (stems->len == 0)
                return;
        path = g_strdup_printf("%s/%s_input", dir, (const char *) stems->pdata[0]);
        add_sensor(collector, found, path);
}

static void scan_hwmon(AldHwmonCollector *collector, GArray *found)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(collector->root, HWMON_DIR, &names) < 0)
                return;
        for (char **entry = names; *entry; entry++) {
                g_autofree char *dir = g_strdup_printf(HWMON_DIR "/%s", *entry);
                g_autofree char *path = g_strdup_printf("%s/name", dir);
                g_autofree char *name = NULL;

                if (ald_sysroot_read_string(collector->root, path, &name) < 0)
                        continue;
                for (size_t i = 0; i < G_N_ELEMENTS(chips); i++)
                        if (g_str_equal(name, chips[i].name))
                                add_chip(collector, found, dir, &chips[i]);
        }
}

static void add_zones(AldHwmonCollector *collector, GArray *found, GStrv names, const char *wanted)
{
        for (char **entry = names; *entry; entry++) {
                g_autofree char *type_path = g_strdup_printf(THERMAL_DIR "/%s/type", *entry);
                g_autofree char *temp_path = g_strdup_printf(THERMAL_DIR "/%s/temp", *entry);
                g_autofree char *type = NULL;

                if (!g_str_has_prefix(*entry, "thermal_zone"))
                        continue;
                if (ald_sysroot_read_string(collector->root, type_path, &type) >= 0 &&
                        has_prefix(type, wanted))
                        add_sensor(collector, found, temp_path);
        }
}

static void scan_zones(AldHwmonCollector *collector, GArray *found, const char *const *types, size_t n_types)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(collector->root, THERMAL_DIR, &names) < 0)
                return;
        for (size_t i = 0; i < n_types && found->len == 0; i++)
                add_zones(collector, found, names, types[i]);
}

/* Returns whether a chip without useful labels is named after the processor: cpu0_thermal, via_cputemp. */
static bool names_processor(const char *name)
{
        static const char *const words[] = { "package", "cpu", "soc" };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (has_word(name, words[i]))
                        return true;
        return strstr(name, "cputemp") || strstr(name, "cpuss");
}

static void add_by_name(AldHwmonCollector *collector, GArray *found, GStrv names)
{
        static const struct Chip unlabelled = { "", { NULL } };

        for (char **entry = names; *entry; entry++) {
                g_autofree char *dir = g_strdup_printf(HWMON_DIR "/%s", *entry);
                g_autofree char *path = g_strdup_printf("%s/name", dir), *name = NULL;

                if (ald_sysroot_read_string(collector->root, path, &name) >= 0 && names_processor(name))
                        add_chip(collector, found, dir, &unlabelled);
        }
}

/* Looks for sensors from the most to the least certain: known chips, zones, labels and names of other chips,
 * and zones of core clusters. */
static void find_sensors(AldHwmonCollector *collector, GArray *found)
{
        g_auto(GStrv) names = NULL;

        scan_hwmon(collector, found);
        if (found->len == 0)
                scan_zones(collector, found, zones, G_N_ELEMENTS(zones));
        if (found->len > 0)
                return;
        if (ald_sysroot_list(collector->root, HWMON_DIR, &names) >= 0) {
                add_by_label(collector, found, names);
                if (found->len == 0)
                        add_by_name(collector, found, names);
        }
        if (found->len == 0)
                scan_zones(collector, found, core_zones, G_N_ELEMENTS(core_zones));
}

static void rescan(AldHwmonCollector *collector, uint64_t now_usec)
{
        g_autoptr(GArray) found = new_sensors();

        find_sensors(collector, found);
        g_array_unref(collector->sensors);
        collector->sensors = g_steal_pointer(&found);
        collector->next_scan_usec = now_usec + RESCAN_USEC;
}

static bool has_fault(Sensor *sensor)
{
        int64_t fault;

        return sensor->fault.path && ald_kept_file_read_int64(&sensor->fault, &fault) >= 0 && fault != 0;
}

/* Many drivers report 0 for a sensor that does not exist. */
static bool is_plausible(int64_t milli)
{
        return milli >= COLDEST_MILLI && milli <= HOTTEST_MILLI && milli != 0;
}

/* Returns the temperature of the hottest readable sensor. Sets *ret_gone if sensors should be searched for
 * again. */
static int64_t read_hottest(AldHwmonCollector *collector, bool *ret_gone)
{
        int64_t hottest = ALD_ABSENT_INT64;

        *ret_gone = collector->sensors->len == 0;
        for (guint i = 0; i < collector->sensors->len; i++) {
                Sensor *sensor = &g_array_index(collector->sensors, Sensor, i);
                int64_t value;
                int r = ald_kept_file_read_int64(&sensor->input, &value);

                if (r == -ENODEV || r == -ENOENT)
                        *ret_gone = true;
                else if (r >= 0 && has_fault(sensor))
                        ald_kept_file_warn(&sensor->input, -EIO);
                else if (r >= 0 && !is_plausible(value))
                        ald_kept_file_warn(&sensor->input, -ERANGE);
                else if (r >= 0)
                        hottest = MAX(hottest, value);
        }
        return hottest;
}

int64_t ald_hwmon_collector_sample(AldHwmonCollector *collector, uint64_t now_usec)
{
        bool gone;
        int64_t hottest = read_hottest(collector, &gone);

        if (!gone || now_usec < collector->next_scan_usec)
                return hottest;
        rescan(collector, now_usec);
        return read_hottest(collector, &gone);
}
