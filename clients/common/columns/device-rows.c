/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/columns/column-choice.h"
#include "clients/common/columns/device-rows.h"
#include "clients/common/format.h"

static AldDeviceRow *row_at(const GArray *rows, guint i)
{
        return &g_array_index(rows, AldDeviceRow, i);
}

/* Returns the row that this device is a part of, or NULL. */
static const AldNodeDevice *find_parent(const GArray *devices, const AldNodeDevice *device)
{
        const char *parent = device->backend ? device->backend->parent : NULL;

        for (guint i = 0; parent && i < devices->len; i++) {
                const AldNodeDevice *other = &g_array_index(devices, AldNodeDevice, i);

                if (other->backend && !other->backend->parent && strcmp(other->backend->id, parent) == 0)
                        return other;
        }
        return NULL;
}

/* The node reports the memory, load, temperature and power of its processors as its own. */
static void read_processor(AldDeviceRow *row)
{
        const AldMemory *memory = ald_entity_as(row->node, MEMORY, AldMemory);
        const AldSystem *system = ald_entity_as(row->node, SYSTEM, AldSystem);

        if (memory) {
                row->figures.memory_total = ald_uint64_to_double(memory->total_bytes);
                row->figures.memory_available = ald_uint64_to_double(memory->available_bytes);
        }
        if (system) {
                row->figures.usage = system->cpu_usage;
                row->figures.millicelsius = ald_int64_to_double(system->temperature_milli_celsius);
                row->figures.microwatts = ald_uint64_to_double(system->power_micro_watts);
        }
        if (!row->counts)
                ald_node_figures_forget_samples(&row->figures);
}

/* Returns the memory of the host that the device can still use; NaN unless that and its limit are known. */
static double free_of_host(const AldDeviceRow *row)
{
        const AldMemory *memory = ald_entity_as(row->node, MEMORY, AldMemory);
        double available = memory ? ald_uint64_to_double(memory->available_bytes) : (double) NAN;
        double shared = ald_uint64_to_double(row->device.backend->shared_bytes);
        uint64_t used = row->device.system ? row->device.system->shared_used_bytes : ALD_ABSENT_UINT64;

        if (isnan(available) || isnan(shared))
                return NAN;
        if (used != ALD_ABSENT_UINT64)
                shared -= (double) used;
        return fmin(available, fmax(shared, 0));
}

static double find_free(const AldDeviceRow *row)
{
        double own = row->figures.memory_available, of_host = NAN;

        if (!row->counts || ald_node_device_is_processor(&row->device))
                return own;
        if (isnan(own) && ald_node_device_is_asleep(&row->device) && row->held && row->held->holders == 0)
                own = row->figures.memory_total;
        if (ald_node_device_is_unified(&row->device))
                of_host = free_of_host(row);
        return isnan(own) ? of_host : isnan(of_host) ? own : own + of_host;
}

/* Adds a row to the list, made from what all rows of the node have in common. */
static void add_row(GArray *rows, const AldDeviceRow *common, const AldNodeDevice *device, bool is_part)
{
        AldDeviceRow row = ald_device_row(common->node, device, common->counts);

        row.now_usec = common->now_usec;
        row.exclusion = common->exclusion;
        row.is_stale = common->is_stale;
        row.is_part = is_part;
        if (ald_node_device_is_processor(device))
                read_processor(&row);
        row.free_bytes = find_free(&row);
        g_array_append_val(rows, row);
}

/* Adds a device that is no part, and its parts. `parents` has the parent of each device of the node, or NULL.
 */
static void add_whole(GArray *rows, const AldDeviceRow *common, const GArray *devices,
        const AldNodeDevice *const *parents, guint i)
{
        const AldNodeDevice *whole = &g_array_index(devices, AldNodeDevice, i);
        guint top = rows->len;
        double part_free = NAN;

        add_row(rows, common, whole, false);
        for (guint k = 0; k < devices->len; k++) {
                if (parents[k] != whole)
                        continue;
                add_row(rows, common, &g_array_index(devices, AldNodeDevice, k), true);
                part_free = fmax(part_free, row_at(rows, rows->len - 1)->free_bytes);
        }
        row_at(rows, top)->n_parts = rows->len - top - 1;
        if (row_at(rows, top)->n_parts > 0)
                row_at(rows, top)->free_bytes = part_free;
}

guint ald_device_rows_add(GArray *rows, AldModel *model, const AldEntity *node, double now_usec)
{
        guint n_unlisted = 0;
        g_autoptr(GArray) devices = ald_node_devices_counted(node, &n_unlisted);
        g_autofree const AldNodeDevice **parents = g_new0(const AldNodeDevice *, devices->len);
        const char *exclusion = ald_node_exclusion(model, node);
        const AldDeviceRow common = { .counts = !exclusion,
                .node = node,
                .now_usec = now_usec,
                .exclusion = exclusion,
                .is_stale = ald_node_is_stale(model, node) };

        for (guint i = 0; i < devices->len; i++)
                parents[i] = find_parent(devices, &g_array_index(devices, AldNodeDevice, i));
        for (int processors = 0; processors <= 1; processors++)
                for (guint i = 0; i < devices->len; i++) {
                        const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);

                        if (!parents[i] && ald_node_device_is_processor(device) == processors)
                                add_whole(rows, &common, devices, parents, i);
                }
        return n_unlisted;
}

int ald_device_rows_sort(GArray *rows, const char *names, char **ret_problem)
{
        g_autoptr(GArray) wholes = g_array_new(FALSE, FALSE, sizeof(AldDeviceRow));
        g_autoptr(GArray) unsorted = g_array_copy(rows);
        int r;

        for (guint i = 0; i < rows->len; i += 1 + row_at(rows, i)->n_parts) {
                row_at(rows, i)->place = i;
                g_array_append_vals(wholes, row_at(rows, i), 1);
        }
        r = ald_column_sort(&ald_device_column_list, names, wholes, ret_problem);
        if (r < 0)
                return r;
        g_array_set_size(rows, 0);
        for (guint i = 0; i < wholes->len; i++) {
                const AldDeviceRow *whole = row_at(wholes, i);

                g_array_append_vals(rows, row_at(unsorted, whole->place), 1 + whole->n_parts);
        }
        return 0;
}

void ald_device_rows_keep_free(GArray *rows, double least_bytes)
{
        guint n = 0, whole = 0;

        for (guint i = 0; i < rows->len; i++) {
                AldDeviceRow row = *row_at(rows, i);

                if (!(row.free_bytes >= least_bytes))
                        continue;
                if (row.is_part)
                        row_at(rows, whole)->n_parts++;
                else {
                        whole = n;
                        row.n_parts = 0;
                }
                *row_at(rows, n++) = row;
        }
        g_array_set_size(rows, n);
}
