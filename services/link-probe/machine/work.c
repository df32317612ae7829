/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/link-probe/machine/cpu-units.h"
#include "services/link-probe/machine/work-units-bus.h"
#include "services/link-probe/machine/work.h"

struct AldWork {
        int root;
        const AldInhibitors *inhibitors;
        void (*changed)(void *userdata);
        void *userdata;
        AldWorkUnits *units;
        bool refused;            /* the value of work-units= was refused */
        char *device;            /* a device on which processes compute, or NULL */
        AldCpuUnits *processors; /* NULL if probes do not yield to them */
        char *reason;
};

AldWork *ald_work_new(
        AldService *service, const AldInhibitors *inhibitors, void (*changed)(void *userdata), void *userdata)
{
        AldWork *work = g_new0(AldWork, 1);

        work->root = ald_service_root(service);
        work->inhibitors = inhibitors;
        work->changed = changed;
        work->userdata = userdata;
        work->units = ald_work_units_new(service, changed, userdata);
        return work;
}

void ald_work_free(AldWork *work)
{
        if (!work)
                return;
        ald_work_units_free(work->units);
        ald_cpu_units_free(work->processors);
        g_free(work->device);
        g_free(work->reason);
        g_free(work);
}

void ald_work_configure(AldWork *work, const AldConfig *config)
{
        static const char *const naming[] = { "units", "all", NULL };

        work->refused = ald_config_is_refused(config, "work-units");
        ald_work_units_set(work->units, ald_config_strv(config, "work-units"));
        if (!ald_config_boolean(config, "yield-to-processors"))
                g_clear_pointer(&work->processors, ald_cpu_units_free);
        else if (!work->processors)
                work->processors = ald_cpu_units_new(work->root, g_get_num_processors());
        if (work->processors)
                ald_cpu_units_set_named(work->processors,
                        g_strv_contains(naming, ald_config_string(config, "share-processes")));
}

void ald_work_read_processors(AldWork *work)
{
        if (work->processors &&
                ald_cpu_units_read(work->processors, (uint64_t) g_get_monotonic_time(), ald_realtime_usec()))
                work->changed(work->userdata);
}

const char *ald_work_processors(const AldWork *work)
{
        return work->processors ? ald_cpu_units_reason(work->processors) : NULL;
}

const char *ald_work_unit(const AldWork *work)
{
        return ald_work_units_active(work->units);
}

bool ald_work_units_known(const AldWork *work)
{
        return !work->refused && ald_work_units_are_known(work->units);
}

const char *ald_work_reason(AldWork *work, uint64_t *ret_busy_since)
{
        const char *unit = ald_work_unit(work), *processors = ald_work_processors(work);
        g_autofree char *lock = ald_inhibitors_reason(work->inhibitors, ALD_INHIBIT_ALL);

        *ret_busy_since = ALD_ABSENT_UINT64;
        g_clear_pointer(&work->reason, g_free);
        if (unit)
                work->reason = g_strdup_printf("%s is active", unit);
        else if (work->refused)
                work->reason = g_strdup("the value of work-units= was refused");
        else if (!ald_work_units_known(work))
                work->reason = g_strdup("the active units are not known yet");
        else if (lock)
                work->reason = g_strdup_printf("inhibited by %s", lock);
        else if (work->device)
                work->reason = g_strdup_printf("processes compute on %s", work->device);
        else if (processors) {
                work->reason = g_strdup(processors);
                *ret_busy_since = ald_cpu_units_since(work->processors);
        }
        return work->reason;
}

/* Applies the same rule as for measuring a device: records that are too old do not count. */
static const char *find_device(const AldDeviceRecords *records, uint64_t now, const char *const *ours)
{
        for (size_t i = 0; records->system && i < records->system->devices.n; i++) {
                const AldDevice *device = ald_rows_at(&records->system->devices, i);
                AldBackend backend = ALD_BACKEND_INIT;

                backend.id = device->id;
                if (ald_device_obstacle(records, &backend, now) == ALD_DEVICE_COMPUTED_ON &&
                        !g_strv_contains(ours, device->id))
                        return device->id;
        }
        return NULL;
}

void ald_work_update_devices(
        AldWork *work, const AldDeviceRecords *records, uint64_t now, const char *const *ours)
{
        const char *device = find_device(records, now, ours);

        if (g_strcmp0(device, work->device) == 0)
                return;
        g_free(work->device);
        work->device = g_strdup(device);
        work->changed(work->userdata);
}
