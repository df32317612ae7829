/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "probes/compute/opencl/cards.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/run/enumerate.h"

#define TIMEOUT_MAX 20u /* s; short, since nothing is compiled yet */
#define VENDORS "/etc/OpenCL/vendors"
#define DRIVERS_MAX 32u

static int compare_names(const void *a, const void *b)
{
        return g_strcmp0(*(char *const *) a, *(char *const *) b);
}

static char **list_names(const char *vendors)
{
        g_autoptr(GDir) folder = g_dir_open(vendors, 0, NULL);
        GPtrArray *names = g_ptr_array_new();

        for (const char *name; folder && names->len < DRIVERS_MAX && (name = g_dir_read_name(folder));)
                if (g_str_has_suffix(name, ".icd"))
                        g_ptr_array_add(names, g_strdup(name));
        g_ptr_array_sort(names, compare_names);
        g_ptr_array_add(names, NULL);
        return (char **) g_ptr_array_free(names, FALSE);
}

/* Creates the folder of a driver and returns it, or NULL if it cannot be created. */
static char *separate_driver(const char *base, const char *vendors, const char *name)
{
        g_autofree char *folder = g_build_filename(base, name, NULL), *link = NULL, *target = NULL;

        link = g_build_filename(folder, name, NULL);
        target = g_build_filename(vendors, name, NULL);
        if (g_mkdir_with_parents(folder, 0700) < 0 || (unlink(link) < 0 && errno != ENOENT) ||
                (symlink(target, link) < 0 && errno != EEXIST))
                return NULL;
        return g_steal_pointer(&folder);
}

/*
 * Creates a folder below this one for each driver that the OpenCL loader would load, since OCL_ICD_VENDORS
 * accepts a folder with every loader, but not always a single driver.
 */
static char **separate_drivers(const char *folder)
{
        g_autofree char *vendors = g_canonicalize_filename(g_getenv("OCL_ICD_VENDORS") ?: VENDORS, NULL);
        g_auto(GStrv) names = list_names(vendors);
        g_autofree char *base = g_build_filename(folder, "drivers", NULL);
        GPtrArray *made = g_ptr_array_new();

        for (char **name = names; *name; name++) {
                char *one = separate_driver(base, vendors, *name);

                if (one)
                        g_ptr_array_add(made, one);
        }
        g_ptr_array_add(made, NULL);
        return (char **) g_ptr_array_free(made, FALSE);
}

static int list_driver(const AldRunner *runner, const char *drivers, GPtrArray *devices, AldFailure *failure)
{
        static const char *const arguments[] = { "--list", NULL };
        const AldRunner quick = { runner->environment, MIN(runner->timeout, TIMEOUT_MAX), runner->stop };
        g_autoptr(AldRecord) answer = NULL;
        int r = ald_runner_run(&quick, arguments, drivers, NULL, NULL, &answer, failure);

        if (r < 0)
                return r;
        if (answer->kind != ALD_KIND_DEVICE_LIST)
                return ald_fail(failure, ALD_FAILURE_CRASHED, "the process sent no device list");
        for (size_t i = 0; i < ald_record_as(answer, DEVICE_LIST, AldDeviceList)->devices.n; i++) {
                AldOpenclTarget *device = ald_opencl_target_of_list(answer, i);

                device->drivers = g_strdup(drivers);
                device->ordinal = (unsigned) i;
                g_ptr_array_add(devices, device);
        }
        return 0;
}

/* Returns whether the failure so far may be replaced. The failure of a driver is worth more than that another
 * has no devices. */
static bool is_worth_less(const AldFailure *failure)
{
        return !failure->message || failure->kind == ALD_FAILURE_NO_PLATFORM ||
               failure->kind == ALD_FAILURE_NO_DEVICE;
}

static void list_each_driver(
        const AldRunner *runner, char *const *folders, GPtrArray *devices, AldFailure *failure)
{
        bool aborted = false;

        for (char *const *folder = folders; *folder && !aborted; folder++) {
                AldFailure one = {};

                if (list_driver(runner, *folder, devices, &one) >= 0)
                        continue;
                aborted = one.kind == ALD_FAILURE_ABORTED;
                if (one.kind == ALD_FAILURE_CRASHED || one.kind == ALD_FAILURE_TIMEOUT ||
                        one.kind == ALD_FAILURE_BUSY) {
                        g_autofree char *name = g_path_get_basename(*folder);

                        g_printerr("alidade-probe-compute: skipping %s: %s\n", name, one.message);
                }
                if (aborted || is_worth_less(failure)) {
                        ald_failure_clear(failure);
                        (void) ald_fail(failure, one.kind, "%s", one.message);
                }
                ald_failure_clear(&one);
        }
        if (devices->len > 0 && !aborted)
                ald_failure_clear(failure);
}

/* Fails with the names of the drivers, since a user who installed one wants to know that it is found. */
static int fail_enumeration(const AldFailure *found, char *const *folders, AldFailure *failure)
{
        g_autoptr(GString) names = g_string_new(NULL);

        if (found->kind != ALD_FAILURE_NO_PLATFORM || !folders[0])
                return ald_fail(failure, found->kind, "%s", found->message);
        for (char *const *folder = folders; *folder; folder++) {
                g_autofree char *name = g_path_get_basename(*folder);

                g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", name);
        }
        return ald_fail(
                failure, found->kind, "no OpenCL driver can be loaded or finds its device: %s", names->str);
}

int ald_enumerate(const AldRunner *runner, const AldCache *cache, GPtrArray **ret, AldFailure *failure)
{
        g_autoptr(GPtrArray) devices = ald_devices_new(), cards = ald_cards_read("/");
        g_auto(GStrv) folders = separate_drivers(cache->folder);
        AldFailure found = {};

        if (folders[0] && folders[1])
                list_each_driver(runner, folders, devices, &found);
        else
                (void) list_driver(runner, NULL, devices, &found);
        if (found.message) {
                int r = fail_enumeration(&found, folders, failure);

                ald_failure_clear(&found);
                return r;
        }
        ald_devices_match(devices, cards);
        *ret = g_steal_pointer(&devices);
        return 0;
}
