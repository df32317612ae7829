/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/holders/holder-rows.h"

#include <math.h>
#include <string.h>

#include "record/field.h"

int ald_sharing_from_string(const char *word)
{
        static const char *const words[] = { "none", "units", "all" };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (g_str_equal(words[i], word))
                        return (int) i;
        return -1;
}

AldHolderRows *ald_holder_rows_new(void)
{
        AldHolderRows *rows = g_new0(AldHolderRows, 1);

        rows->devices = g_array_new(FALSE, FALSE, sizeof(AldHeldDevice));
        rows->holders = g_array_new(FALSE, FALSE, sizeof(AldHolder));
        rows->texts = g_string_chunk_new(1024);
        return rows;
}

void ald_holder_rows_free(AldHolderRows *rows)
{
        if (!rows)
                return;
        g_array_unref(rows->devices);
        g_array_unref(rows->holders);
        g_string_chunk_free(rows->texts);
        g_free(rows);
}

/* Adds a figure of one process to that of several, which is unknown as soon as one is. */
static void add_bytes(uint64_t *sum, uint64_t bytes)
{
        *sum = *sum == ALD_ABSENT_UINT64 || bytes == ALD_ABSENT_UINT64 ? ALD_ABSENT_UINT64 : *sum + bytes;
}

/* The holders of the whole list, by device; each row has its index in the list. */
static void count_holder(GArray *rows, guint device, const AldDeviceHolder *holder)
{
        AldHeldDevice *row = &g_array_index(rows, AldHeldDevice, device);

        row->holders++;
        add_bytes(&row->held_bytes, holder->memory_bytes);
}

/* Corrects the row of a device whose processes are too many to be listed. */
static void count_unlisted(const AldHolderDevice *device, AldHeldDevice *row)
{
        if (!device->is_nvml)
                return;
        row->held_bytes = ALD_ABSENT_UINT64;
        if (device->n_compute != ALD_ABSENT_UINT64)
                row->holders = MAX(row->holders, device->n_compute);
}

/* Makes the rows of devices. A process on several instances of a card counts there for each of them. */
static void make_devices(AldHolderRows *rows, const AldHolderList *list)
{
        g_array_set_size(rows->devices, 0);
        for (guint i = 0; i < list->devices->len; i++)
                g_array_append_val(
                        rows->devices, ((AldHeldDevice){ ald_holder_list_device(list, i)->id, 0, 0 }));
        for (guint i = 0; i < list->holders->len; i++) {
                const AldDeviceHolder *holder = ald_holder_list_at(list, i);
                const AldHolderDevice *device = ald_holder_list_device(list, holder->device);
                const AldHolderDevice *card = device->parent ? ald_holder_list_find(list, device->parent)
                                                             : NULL;

                count_holder(rows->devices, holder->device, holder);
                if (card)
                        count_holder(rows->devices, (guint) (card - ald_holder_list_device(list, 0)), holder);
        }
        for (guint i = 0; list->is_cut && i < list->devices->len; i++)
                count_unlisted(
                        ald_holder_list_device(list, i), &g_array_index(rows->devices, AldHeldDevice, i));
        for (guint i = list->devices->len; i-- > 0;)
                if (!ald_holder_list_device(list, i)->is_known)
                        g_array_remove_index(rows->devices, i);
}

static const char *keep(AldHolderRows *rows, char *text)
{
        const char *kept = g_string_chunk_insert(rows->texts, text);

        g_free(text);
        return kept;
}

static const char *kind_of(const AldOwner *owner)
{
        return owner->kind == ALD_HOLDER_OWNER_KIND_N ? NULL : ald_holder_owner_kind_to_string(owner->kind);
}

/* Starts the row of a process, or of the owner that it belongs to. */
static AldHolder start_row(
        AldHolderRows *rows, const AldHolderList *list, const AldDeviceHolder *holder, bool named)
{
        const char *device = ald_holder_list_device(list, holder->device)->id;
        const AldOwner *owner = &holder->owner;
        AldHolder row = ALD_HOLDER_INIT;

        row.device = device;
        row.owner_kind = kind_of(owner);
        row.owner = *owner->name ? owner->name : NULL;
        row.processes = 0;
        row.memory_bytes = 0;
        row.usage = 0;
        if (!named) {
                row.id = keep(rows, g_strconcat(device, ",", row.owner_kind ?: "", row.owner ? "," : NULL,
                                            row.owner, NULL));
                return row;
        }
        row.id = keep(rows, g_strdup_printf("%s,%u", device, holder->pid));
        row.pid = holder->pid;
        row.program = holder->program;
        row.user = holder->user;
        if (!row.user && holder->uid != ALD_ABSENT_UINT64)
                row.user = keep(rows, g_strdup_printf("%" G_GUINT64_FORMAT, holder->uid));
        return row;
}

static void add_to_row(AldHolder *row, const AldDeviceHolder *holder)
{
        row->processes++;
        add_bytes(&row->memory_bytes, holder->memory_bytes);
        /* It is unknown as soon as that of one process is. */
        row->usage = isnan(row->usage + holder->usage) ? ALD_ABSENT_DOUBLE
                                                       : MIN(row->usage + holder->usage, 100);
}

static uint64_t memory_or_none(const AldHolder *row)
{
        return row->memory_bytes == ALD_ABSENT_UINT64 ? 0 : row->memory_bytes;
}

static int compare_rows(const void *a, const void *b)
{
        const AldHolder *first = a, *second = b;
        uint64_t more = memory_or_none(first), less = memory_or_none(second);

        return more != less ? (more < less) - (more > less) : strcmp(first->id, second->id);
}

/* Leaves out the rows beyond the limits. */
static void cut_rows(AldHolderRows *rows)
{
        size_t bytes = 0;
        guint n = 0;

        g_array_sort(rows->holders, compare_rows);
        for (; n < MIN(rows->holders->len, ALD_HOLDER_ROWS_MAX); n++) {
                bytes += ald_struct_size(&ald_holder_struct, &g_array_index(rows->holders, AldHolder, n));
                if (bytes > ALD_HOLDER_ROWS_BYTES_MAX)
                        break;
        }
        for (guint i = n; i < rows->holders->len; i++)
                rows->left_out += g_array_index(rows->holders, AldHolder, i).processes;
        g_array_set_size(rows->holders, n);
}

/* Makes the rows of holders. Those of the user, and of everybody with `all`, are named. */
static void make_holders(AldHolderRows *rows, const AldHolderList *list, bool all, uint64_t uid)
{
        g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < list->holders->len; i++) {
                const AldDeviceHolder *holder = ald_holder_list_at(list, i);
                bool named = all || (holder->uid != ALD_ABSENT_UINT64 && holder->uid == uid);
                AldHolder row = start_row(rows, list, holder, named);
                guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, row.id));

                if (place == 0) {
                        g_array_append_val(rows->holders, row);
                        place = rows->holders->len;
                        g_hash_table_insert(places, (gpointer) row.id, GUINT_TO_POINTER(place));
                }
                add_to_row(&g_array_index(rows->holders, AldHolder, place - 1), holder);
        }
        cut_rows(rows);
}

static void clear_holders(AldHolderRows *rows, const AldHolderList *list)
{
        g_array_set_size(rows->holders, 0);
        g_string_chunk_clear(rows->texts);
        rows->left_out = list ? list->left_out : 0;
}

void ald_holder_rows_for_cluster(AldHolderRows *rows, const AldHolderList *list, AldSharing sharing)
{
        clear_holders(rows, list);
        make_devices(rows, list);
        if (sharing != ALD_SHARING_NONE)
                make_holders(rows, list, sharing == ALD_SHARING_ALL, ALD_ABSENT_UINT64);
}

void ald_holder_rows_for_user(AldHolderRows *rows, const AldHolderList *list, uid_t uid)
{
        clear_holders(rows, list);
        if (list)
                make_holders(rows, list, uid == 0, uid);
}
