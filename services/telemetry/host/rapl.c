/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/kept-file.h"
#include "services/telemetry/host/rapl.h"

#define POWERCAP_DIR "sys/class/powercap"
#define RESCAN_USEC (UINT64_C(10) * 1000 * 1000)

/* From a counter that is read more often, others could infer what programs compute; a timer may be a little
 * early. */
#define PACE_USEC (UINT64_C(950) * 1000)

/* Each counter is kept open; no machine has this many packages. */
#define PACKAGES_MAX 128u

/* No package draws this much. A counter that was reset, and is taken for one that wrapped, shows such
 * values. */
#define PACKAGE_MAX_MICROWATTS 10e9

typedef struct Package {
        AldKeptFile energy;
        int64_t max; /* the counter wraps after this value; 0 if it is not known */
        int64_t last;
        uint64_t last_usec; /* when the counter was first seen at this value */
        bool have_last;
} Package;

struct AldRaplCollector {
        int root;
        GArray *packages; /* of Package */
        uint64_t next_scan_usec;
        uint64_t power; /* as it was last measured; at power_usec, 0 before */
        uint64_t power_usec;
        char *reason;
        bool limit_logged;
};

static void clear_package(void *data)
{
        Package *package = data;

        ald_kept_file_clear(&package->energy);
}

AldRaplCollector *ald_rapl_collector_new(int root)
{
        AldRaplCollector *collector = g_new(AldRaplCollector, 1);

        *collector = (AldRaplCollector){
                .root = root,
                .packages = g_array_new(FALSE, FALSE, sizeof(Package)),
                .power = ALD_ABSENT_UINT64,
        };
        g_array_set_clear_func(collector->packages, clear_package);
        return collector;
}

void ald_rapl_collector_free(AldRaplCollector *collector)
{
        g_array_unref(collector->packages);
        g_free(collector->reason);
        g_free(collector);
}

const char *ald_rapl_collector_reason(const AldRaplCollector *collector)
{
        return collector->reason;
}

/* Returns whether a domain is a whole package: "intel-rapl:0", for any vendor, but not its parts such as
 * "intel-rapl:0:0", nor "intel-rapl-mmio:0", which shows the same package again. */
static bool is_top_domain(const char *name)
{
        static const char prefix[] = "intel-rapl:";

        return g_str_has_prefix(name, prefix) && !strchr(name + strlen(prefix), ':');
}

static void add_package(AldRaplCollector *collector, const char *domain)
{
        g_autofree char *name_path = g_strdup_printf(POWERCAP_DIR "/%s/name", domain);
        g_autofree char *max_path = g_strdup_printf(POWERCAP_DIR "/%s/max_energy_range_uj", domain);
        g_autofree char *energy_path = g_strdup_printf(POWERCAP_DIR "/%s/energy_uj", domain);
        g_autofree char *name = NULL;
        Package package = { 0 };

        if (ald_sysroot_read_string(collector->root, name_path, &name) < 0 ||
                !g_str_has_prefix(name, "package-"))
                return;
        if (ald_sysroot_read_int64(collector->root, max_path, &package.max) < 0 || package.max < 0)
                package.max = 0;
        ald_kept_file_init(&package.energy, collector->root, energy_path);
        g_array_append_val(collector->packages, package);
}

/* Drops all packages of an absurd number, since the sum over a part of them would be wrong. */
static void discard_packages(AldRaplCollector *collector)
{
        g_array_set_size(collector->packages, 0);
        if (!collector->limit_logged)
                g_message("/" POWERCAP_DIR " shows more than %u packages; PowerMicroWatts is omitted",
                        PACKAGES_MAX);
        collector->limit_logged = true;
}

static void rescan(AldRaplCollector *collector, uint64_t now_usec)
{
        g_auto(GStrv) names = NULL;

        collector->next_scan_usec = now_usec + RESCAN_USEC;
        g_array_set_size(collector->packages, 0);
        if (ald_sysroot_list(collector->root, POWERCAP_DIR, &names) < 0)
                return;
        for (char **name = names; *name; name++)
                if (is_top_domain(*name))
                        add_package(collector, *name);
        if (collector->packages->len > PACKAGES_MAX)
                discard_packages(collector);
}

static void set_reason(AldRaplCollector *collector, const Package *denied)
{
        g_clear_pointer(&collector->reason, g_free);
        if (denied)
                collector->reason = g_strdup_printf(
                        "PowerMicroWatts: permission denied reading /%s; to allow it, "
                        "run as root: " ALD_EXAMPLES_DIR "/rapl/enable",
                        denied->energy.path);
}

/* Returns the energy since the last reading in µJ; NaN if the counter went back and cannot have wrapped. */
static double energy_since(const Package *package, int64_t last)
{
        if (package->last >= last)
                return (double) (package->last - last);
        if (package->max < last)
                return NAN;
        return (double) (package->max - last) + (double) package->last;
}

/* Returns the power of a package in µW, or NaN. Sets *ret_error to 0 or the error of reading the counter.
 *
 * A constant counter, as in many virtual machines, does not mean a power of 0, since a running processor
 * draws some power. If it is merely updated late, its next growth covers the whole time since it last grew;
 * after ALD_ENERGY_STILL_MAX_USEC such growth does not give the current power, and counting starts again. */
static double package_power(Package *package, uint64_t now_usec, int *ret_error)
{
        int64_t last = package->last;
        uint64_t since = package->last_usec;
        bool had_last = package->have_last;
        double power;
        int r = ald_kept_file_read_int64(&package->energy, &package->last);

        *ret_error = MIN(r, 0);
        package->have_last = r >= 0 && package->last >= 0;
        package->last_usec = now_usec;
        if (!had_last || !package->have_last || now_usec <= since)
                return NAN;
        if (package->last == last) {
                package->last_usec = since;
                return NAN;
        }
        if (now_usec - since >= ALD_ENERGY_STILL_MAX_USEC)
                return NAN;
        power = energy_since(package, last) * 1e6 / (double) (now_usec - since);
        return power > PACKAGE_MAX_MICROWATTS ? NAN : power;
}

/* Returns the sum over all packages in µW, or NaN. Continues after a failure, so that the next call has start
 * values. Sets *ret_gone if packages should be searched for again. */
static double read_power(AldRaplCollector *collector, uint64_t now_usec, bool *ret_gone)
{
        const Package *denied = NULL;
        double total = 0;

        *ret_gone = collector->packages->len == 0;
        for (guint i = 0; i < collector->packages->len; i++) {
                Package *package = &g_array_index(collector->packages, Package, i);
                int error;

                total += package_power(package, now_usec, &error);
                if (error == -EACCES || error == -EPERM)
                        denied = package;
                else if (error == -ENODEV || error == -ENOENT)
                        *ret_gone = true;
        }
        if ((denied != NULL) != (collector->reason != NULL))
                set_reason(collector, denied);
        return collector->packages->len > 0 ? total : NAN;
}

uint64_t ald_rapl_collector_sample(AldRaplCollector *collector, uint64_t now_usec)
{
        bool gone;
        double power;

        if (collector->power_usec != 0 && now_usec - collector->power_usec < PACE_USEC)
                return collector->power;
        collector->power_usec = now_usec;
        collector->power = ALD_ABSENT_UINT64;
        power = read_power(collector, now_usec, &gone);
        if (gone && now_usec >= collector->next_scan_usec) {
                rescan(collector, now_usec);
                read_power(collector, now_usec, &gone);
        } else if (!isnan(power)) {
                collector->power = (uint64_t) power;
        }
        return collector->power;
}
