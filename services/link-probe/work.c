/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/link-probe/work-units-bus.h"
#include "services/link-probe/work.h"

#define ANY_LOCK ((1u << ALD_INHIBIT_KINDS) - 1)

struct AldWork {
        const AldInhibitors *inhibitors;
        void (*changed)(void *userdata);
        void *userdata;
        AldWorkUnits *units;
        char *device; /* that processes compute on, or NULL */
        char *reason;
};

static void on_units(void *userdata)
{
        AldWork *work = userdata;

        work->changed(work->userdata);
}

AldWork *ald_work_new(
        AldService *service, const AldInhibitors *inhibitors, void (*changed)(void *userdata), void *userdata)
{
        AldWork *work = g_new0(AldWork, 1);

        work->inhibitors = inhibitors;
        work->changed = changed;
        work->userdata = userdata;
        work->units = ald_work_units_new(service, on_units, work);
        return work;
}

void ald_work_free(AldWork *work)
{
        if (!work)
                return;
        ald_work_units_free(work->units);
        g_free(work->device);
        g_free(work->reason);
        g_free(work);
}

void ald_work_configure(AldWork *work, const AldConfig *config)
{
        ald_work_units_set(work->units, ald_config_strv(config, "work-units"));
}

const char *ald_work_unit(const AldWork *work)
{
        return ald_work_units_active(work->units);
}

bool ald_work_units_known(const AldWork *work)
{
        return ald_work_units_are_known(work->units);
}

const char *ald_work_reason(AldWork *work)
{
        const char *unit = ald_work_unit(work);
        g_autofree char *lock = ald_inhibitors_reason(work->inhibitors, ANY_LOCK);

        g_clear_pointer(&work->reason, g_free);
        if (unit)
                work->reason = g_strdup_printf("%s is active", unit);
        else if (lock)
                work->reason = g_strdup_printf("held off by %s", lock);
        else if (work->device)
                work->reason = g_strdup_printf("processes compute on %s", work->device);
        return work->reason;
}

static const char *find_device(const AldSystem *system, const char *own)
{
        for (size_t i = 0; system && i < system->devices.n; i++) {
                const AldDevice *device = ald_rows_at(&system->devices, i);

                if (!g_str_equal(device->id, own) && device->compute_processes != ALD_ABSENT_UINT64 &&
                        device->compute_processes > 0)
                        return device->id;
        }
        return NULL;
}

void ald_work_take_system(AldWork *work, const AldSystem *system, const char *own)
{
        const char *device = find_device(system, own);

        if (g_strcmp0(device, work->device) == 0)
                return;
        g_free(work->device);
        work->device = g_strdup(device);
        work->changed(work->userdata);
}
