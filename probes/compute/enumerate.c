/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "probes/compute/cards.h"
#include "probes/compute/devices.h"
#include "probes/compute/enumerate.h"

#define VENDORS "/etc/OpenCL/vendors"
#define VENDORS_MAX 32u
#define TIMEOUT_MAX 20u /* s: nothing is compiled yet */

static int list(const AldRunner *runner, const char *drivers, GPtrArray *devices, AldFailure *failure)
{
        static const char *const arguments[] = { "--list", NULL };
        const AldRunner quick = { runner->environment, MIN(runner->timeout, TIMEOUT_MAX), runner->stop };
        g_auto(AldAnswer) answer = {};
        int r = ald_runner_run(&quick, arguments, drivers, NULL, NULL, &answer, failure);

        if (r < 0)
                return r;
        if (answer.kind == ALD_ANSWER_FAILURE)
                return ald_fail(failure, answer.failure.kind, "%s", answer.failure.message);
        if (answer.kind != ALD_ANSWER_DEVICES)
                return ald_fail(failure, ALD_FAILURE_CRASHED, "the process told no devices");
        for (guint i = 0; i < answer.devices->len; i++) {
                AldDevice *device = answer.devices->pdata[i];

                device->drivers = g_strdup(drivers);
                g_ptr_array_add(devices, device);
        }
        g_ptr_array_set_free_func(answer.devices, NULL);
        return 0;
}

static bool is_worth_another_way(const AldFailure *failure)
{
        return failure->kind == ALD_FAILURE_CRASHED || failure->kind == ALD_FAILURE_TIMEOUT;
}

/* Every loader takes a folder, and not every one a single driver. */
static int list_one(const AldRunner *runner, AldCache *cache, const char *vendors, const char *name,
        GPtrArray *devices, AldFailure *failure)
{
        g_autofree char *target = g_build_filename(vendors, name, NULL), *link = NULL;
        g_autofree char *folder = ald_cache_make(cache);

        if (!folder)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "no folder can be made");
        link = g_build_filename(folder, name, NULL);
        if (symlink(target, link) < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "no link can be made");
        return list(runner, folder, devices, failure);
}

static int list_each(const AldRunner *runner, AldCache *cache, GPtrArray *devices, AldFailure *failure)
{
        const char *vendors = g_getenv("OCL_ICD_VENDORS") ?: VENDORS;
        g_autoptr(GDir) folder = g_dir_open(vendors, 0, NULL);
        unsigned n = 0;

        for (const char *name; folder && n < VENDORS_MAX && (name = g_dir_read_name(folder));) {
                AldFailure one = {};
                int r = g_str_has_suffix(name, ".icd") ? list_one(runner, cache, vendors, name, devices, &one)
                                                       : 0;

                n++;
                if (r < 0 && one.kind == ALD_FAILURE_ABORTED)
                        (void) ald_fail(failure, one.kind, "%s", one.message);
                else if (r < 0 && is_worth_another_way(&one))
                        g_printerr("alidade-probe-compute: %s is left out: %s\n", name, one.message);
                ald_failure_clear(&one);
                if (failure->message)
                        return r;
        }
        return 0;
}

int ald_enumerate(const AldRunner *runner, AldCache *cache, GPtrArray **ret, AldFailure *failure)
{
        g_autoptr(GPtrArray) devices = ald_devices_new(), cards = ald_cards_read("/");
        AldFailure first = {}, second = {};
        int r = list(runner, NULL, devices, &first);

        if (r < 0 && is_worth_another_way(&first) &&
                (list_each(runner, cache, devices, &second) < 0 || devices->len > 0)) {
                ald_failure_clear(&first);
                first = second;
        }
        if (first.message) {
                *failure = first;
                return r;
        }
        ald_devices_match(devices, cards);
        *ret = g_steal_pointer(&devices);
        return 0;
}
