/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/holders/holder-list.h"

#include <string.h>

#include "record/record.h"

/* Longer names are cut. */
#define NAME_MAX_BYTES 64

static void clear_device(gpointer data)
{
        AldHolderDevice *device = data;

        g_clear_pointer(&device->functions, g_ptr_array_unref);
}

static const char *keep(AldHolderList *list, const char *text)
{
        return text ? g_string_chunk_insert_const(list->texts, text) : NULL;
}

/* Returns the beginning of a name, which ends before a character that would be cut. */
static const char *keep_name(AldHolderList *list, const char *name)
{
        g_autofree char *cut = NULL;
        const char *end;

        if (!name || strlen(name) <= NAME_MAX_BYTES)
                return keep(list, name);
        cut = g_strndup(name, NAME_MAX_BYTES);
        if (!g_utf8_validate(cut, -1, &end))
                cut[end - cut] = '\0';
        return keep(list, cut);
}

/* Finds or adds a holder. Returns NULL if there are too many. */
static AldDeviceHolder *holder_of(AldHolderList *list, guint device, guint pid)
{
        g_autofree char *place = g_strdup_printf("%u,%u", device, pid);
        guint index = GPOINTER_TO_UINT(g_hash_table_lookup(list->places, place));
        AldDeviceHolder fresh = { .device = device,
                .pid = pid,
                .memory_bytes = ALD_ABSENT_UINT64,
                .usage = ALD_ABSENT_DOUBLE,
                .uid = ALD_ABSENT_UINT64,
                .owner = { .kind = ALD_HOLDER_OWNER_KIND_N } };

        if (index == 0 && list->holders->len >= ALD_HOLDERS_KEPT_MAX) {
                list->left_out++;
                return NULL;
        }
        if (index == 0) {
                g_array_append_val(list->holders, fresh);
                index = list->holders->len;
                g_hash_table_insert(list->places, g_steal_pointer(&place), GUINT_TO_POINTER(index));
        }
        return ald_holder_list_at(list, index - 1);
}

/* Adds what one source knows of a holder. Of two figures the greater one holds: each source may see a part.
 */
static void note_holder(AldDeviceHolder *holder, bool computes, uint64_t memory_bytes, double usage)
{
        holder->computes |= computes;
        if (memory_bytes != ALD_ABSENT_UINT64 &&
                (holder->memory_bytes == ALD_ABSENT_UINT64 || memory_bytes > holder->memory_bytes))
                holder->memory_bytes = memory_bytes;
        if (!isnan(usage) && !(holder->usage >= usage))
                holder->usage = usage;
}

AldHolderDevice *ald_holder_list_find(const AldHolderList *list, const char *id)
{
        for (guint i = 0; i < list->devices->len; i++)
                if (g_str_equal(ald_holder_list_device(list, i)->id, id))
                        return ald_holder_list_device(list, i);
        return NULL;
}

static guint index_of(const AldHolderList *list, const AldHolderDevice *device)
{
        return (guint) (device - ald_holder_list_device(list, 0));
}

AldHolderList *ald_holder_list_new(const GArray *targets, const GArray *processes, uint64_t unlisted)
{
        AldHolderList *list = g_new0(AldHolderList, 1);

        list->left_out = unlisted;
        list->is_cut = unlisted > 0;
        list->texts = g_string_chunk_new(1024);
        list->places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        list->holders = g_array_new(FALSE, FALSE, sizeof(AldDeviceHolder));
        list->devices = g_array_new(FALSE, FALSE, sizeof(AldHolderDevice));
        g_array_set_clear_func(list->devices, clear_device);
        for (guint i = 0; i < targets->len; i++) {
                const AldGpuTarget *target = &g_array_index(targets, AldGpuTarget, i);
                AldHolderDevice device = { .id = keep(list, target->id),
                        .parent = keep(list, target->parent),
                        .memory_bytes = target->memory_bytes,
                        .is_known = target->is_listed,
                        .is_complete = target->is_listed_fully,
                        .is_nvml = target->is_listed_fully,
                        .n_compute = target->n_compute,
                        .lists_compute = target->is_listed,
                        .driver = keep(list, target->driver),
                        .functions = target->functions ? g_ptr_array_ref(target->functions) : NULL };

                list->must_rest |= target->must_rest;
                list->is_paused |= target->is_paused;
                g_array_append_val(list->devices, device);
        }
        for (guint i = 0; i < processes->len; i++) {
                const AldGpuProcess *process = &g_array_index(processes, AldGpuProcess, i);
                AldHolderDevice *device = ald_holder_list_find(list, process->device);
                AldDeviceHolder *holder = device ? holder_of(list, index_of(list, device), process->pid)
                                                 : NULL;

                if (holder)
                        note_holder(holder, process->computes, process->memory_bytes, process->usage);
        }
        return list;
}

void ald_holder_list_free(AldHolderList *list)
{
        if (!list)
                return;
        g_array_unref(list->devices);
        g_array_unref(list->holders);
        g_hash_table_unref(list->places);
        g_string_chunk_free(list->texts);
        g_free(list);
}

/* Finds the device of a client: by its PCI address or that of a virtual function, else by its driver, if only
 * one device has it. */
static AldHolderDevice *find_device(const AldHolderList *list, const char *name)
{
        AldHolderDevice *found = NULL;
        unsigned n = 0;

        for (guint i = 0; i < list->devices->len; i++) {
                AldHolderDevice *device = ald_holder_list_device(list, i);

                if (g_str_equal(device->id, name) ||
                        (device->functions &&
                                g_ptr_array_find_with_equal_func(device->functions, name, g_str_equal, NULL)))
                        return device;
                if (g_strcmp0(device->driver, name) == 0) {
                        found = device;
                        n++;
                }
        }
        return n == 1 ? found : NULL;
}

/* Returns whether a client has something of the device. A service that only passes the device on to a display
 * server has it open, too. */
static bool holds(const AldDrmClient *client)
{
        return client->computed == 1 || client->usage > 0 || client->memory_bytes != 0;
}

static void add_client(AldHolderList *list, const AldDrmClient *client)
{
        guint64 pid = g_ascii_strtoull(client->process, NULL, 10);
        AldHolderDevice *device = find_device(list, client->device);
        AldDeviceHolder *holder;

        if (!device || device->is_nvml || pid == 0 || pid > G_MAXINT32)
                return;
        device->is_unsure |= isnan(client->usage) && client->has_compute_engine != 1;
        if (!holds(client))
                return;
        device->is_known = true;
        holder = holder_of(list, index_of(list, device), (guint) pid);
        if (holder)
                note_holder(holder, client->computed == 1, client->memory_bytes, client->usage);
}

/* Returns whether this driver reports every process that has its device open, in fdinfo. */
static bool reports_all_clients(const char *driver)
{
        static const char *const drivers[] = { "amdgpu", "amdxdna", "etnaviv", "i915", "intel_vpu", "msm",
                "panfrost", "panthor", "v3d", "xe", NULL };

        return driver && g_strv_contains(drivers, driver);
}

static void identify(AldHolderList *list, AldDeviceHolder *holder, const AldProcessesAnswer *answer)
{
        g_autofree char *id = g_strdup_printf("%u", holder->pid);
        const AldWitnessedProcess *process = ald_rows_find(&answer->processes, id);

        if (!process)
                return;
        holder->program = keep_name(list, process->program);
        holder->user = keep_name(list, process->user);
        holder->uid = process->uid;
        if (process->control_group)
                ald_owner_parse(process->control_group, &holder->owner);
}

void ald_holder_list_add_witnessed(AldHolderList *list, const AldProcessesAnswer *answer)
{
        uint64_t unlisted = answer->unlisted == ALD_ABSENT_UINT64 ? 0 : answer->unlisted;

        list->is_witnessed = true;
        list->left_out += unlisted;
        for (size_t i = 0; i < answer->clients.n; i++)
                add_client(list, ald_rows_at(&answer->clients, i));
        for (guint i = 0; i < list->devices->len; i++) {
                AldHolderDevice *device = ald_holder_list_device(list, i);

                device->is_complete |= answer->complete == 1 && unlisted == 0 &&
                                       reports_all_clients(device->driver);
                device->is_known |= device->is_complete;
        }
        for (guint i = 0; i < list->holders->len; i++)
                identify(list, ald_holder_list_at(list, i), answer);
}
