/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/record-export.h"
#include "record/record-bus.h"
#include "services/common/record-signals.h"
#include "services/common/timer.h"

/* One object on the bus. */
typedef struct Shown {
        char *path;
        AldRecord *sent;    /* what the bus shows */
        AldRecord *waiting; /* newer, but not different enough to be sent at once */
        gint64 due;         /* when it is sent again */
        GList link;
} Shown;

struct AldRecordExport {
        AldService *service;
        char *path;
        AldKind kind;
        GHashTable *by_path; /* path → Shown */
        GQueue by_due;       /* the same, in the order of their last sending */
        sd_bus_slot *slot, *enumerator;
        AldTimer *resend;
};

static void shown_free(gpointer data)
{
        Shown *shown = data;

        g_clear_pointer(&shown->sent, ald_record_unref);
        g_clear_pointer(&shown->waiting, ald_record_unref);
        g_free(shown->path);
        g_free(shown);
}

static void set_timer(AldRecordExport *export)
{
        const Shown *first = g_queue_peek_head(&export->by_due);

        ald_timer_set(export->resend, first ? first->due : ALD_TIMER_NEVER);
}

static void note_sent(AldRecordExport *export, Shown *shown)
{
        shown->due = g_get_monotonic_time() + (gint64) ALD_RESEND_USEC;
        g_queue_unlink(&export->by_due, &shown->link);
        g_queue_push_tail_link(&export->by_due, &shown->link);
        set_timer(export);
}

/* Emits PropertiesChanged. While too much of earlier broadcasts is unread, only the state service receives
 * it. */
static void emit_changed(AldRecordExport *export, const Shown *shown, uint64_t changed)
{
        bool may_broadcast = ald_service_may_broadcast(export->service);

        ald_record_emit_changed(ald_service_bus(export->service), may_broadcast ? NULL : "org.alidade.State1",
                shown->path, shown->sent, changed);
        if (may_broadcast)
                ald_service_note_broadcast(export->service, ald_record_changed_size(shown->sent));
}

static void publish_record(AldRecordExport *export, Shown *shown, AldRecord *record)
{
        uint64_t changed = ald_record_diff(shown->sent, record);

        record->revision = shown->sent->revision + (changed != 0);
        record->updated_usec = ald_realtime_usec();
        g_clear_pointer(&shown->sent, ald_record_unref);
        shown->sent = record;
        g_clear_pointer(&shown->waiting, ald_record_unref);
        emit_changed(export, shown, changed);
        note_sent(export, shown);
}

static void on_resend(void *userdata)
{
        AldRecordExport *export = userdata;
        gint64 now = g_get_monotonic_time();
        Shown *shown;

        while ((shown = g_queue_peek_head(&export->by_due)) && shown->due <= now)
                publish_record(export, shown,
                        shown->waiting ? g_steal_pointer(&shown->waiting) : ald_record_ref(shown->sent));
        set_timer(export);
}

static int find_record(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
        sd_bus_error *error)
{
        AldRecordExport *export = userdata;
        const Shown *shown = g_hash_table_lookup(export->by_path, path);

        if (!shown)
                return 0;
        *ret_found = shown->sent;
        return 1;
}

/* Lists the children. sd-bus frees the paths with free(), which g_free() calls. */
static int enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error)
{
        AldRecordExport *export = userdata;
        GPtrArray *paths = g_ptr_array_new();

        for (GList *l = export->by_due.head; l; l = l->next) {
                const Shown *shown = l->data;

                if (!g_str_equal(shown->path, export->path))
                        g_ptr_array_add(paths, g_strdup(shown->path));
        }
        g_ptr_array_add(paths, NULL);
        *ret_nodes = (char **) g_ptr_array_free(paths, FALSE);
        return 0;
}

int ald_record_export_new(AldService *service, const char *path, AldKind kind, AldRecordExport **ret)
{
        g_autoptr(AldRecordExport) export = g_new0(AldRecordExport, 1);
        sd_bus *bus = ald_service_bus(service);
        int r;

        export->service = service;
        export->path = g_strdup(path);
        export->kind = kind;
        export->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, shown_free);
        export->resend = ald_timer_new("resend", on_resend, export);
        r = sd_bus_add_fallback_vtable(bus, &export->slot, path, ald_kinds[kind].interface,
                ald_record_vtables[kind], find_record, export);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, &export->enumerator, path, enumerate, export);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&export);
        return 0;
}

void ald_record_export_free(AldRecordExport *export)
{
        if (!export)
                return;
        sd_bus_slot_unref(export->slot);
        sd_bus_slot_unref(export->enumerator);
        ald_timer_free(export->resend);
        g_hash_table_unref(export->by_path);
        g_free(export->path);
        g_free(export);
}

static Shown *add_object(AldRecordExport *export, const char *path, AldRecord *record)
{
        Shown *shown = g_new0(Shown, 1);

        shown->path = g_strdup(path);
        shown->sent = record;
        shown->link.data = shown;
        record->revision = 1;
        record->updated_usec = ald_realtime_usec();
        g_hash_table_insert(export->by_path, shown->path, shown);
        g_queue_push_tail_link(&export->by_due, &shown->link);
        note_sent(export, shown);
        return shown;
}

static int make_record(AldKind kind, const void *fields, AldRecord **ret)
{
        int r = ald_record_new(kind, fields, ret);

        if (r < 0)
                g_warning("Record %s is too large to be sent", ald_kinds[kind].name);
        return r;
}

static void update_object(AldRecordExport *export, Shown *shown, AldRecord *record)
{
        if (ald_record_beyond_threshold(shown->sent, record)) {
                publish_record(export, shown, record);
        } else {
                g_clear_pointer(&shown->waiting, ald_record_unref);
                shown->waiting = record;
        }
}

int ald_record_export_update(AldRecordExport *export, const void *fields)
{
        Shown *shown = g_hash_table_lookup(export->by_path, export->path);
        AldRecord *record = NULL;
        int r = make_record(export->kind, fields, &record);

        if (r < 0)
                return r;
        if (shown) {
                update_object(export, shown, record);
        } else {
                shown = add_object(export, export->path, record);
                emit_changed(export, shown, UINT64_MAX);
        }
        return 0;
}

static char *path_of(AldRecordExport *export, const char *name)
{
        char *path = NULL;
        int r = sd_bus_path_encode(export->path, name, &path);

        g_assert(r >= 0);
        return path;
}

int ald_record_export_put(AldRecordExport *export, const char *name, const void *fields)
{
        g_autofree char *path = path_of(export, name);
        Shown *shown = g_hash_table_lookup(export->by_path, path);
        AldRecord *record = NULL;
        int r = make_record(export->kind, fields, &record);

        if (r < 0)
                return r;
        if (shown) {
                update_object(export, shown, record);
        } else {
                shown = add_object(export, path, record);
                if (ald_service_may_broadcast(export->service))
                        sd_bus_emit_object_added(ald_service_bus(export->service), path);
                else
                        emit_changed(export, shown, UINT64_MAX);
        }
        return 0;
}

void ald_record_export_drop(AldRecordExport *export, const char *name)
{
        g_autofree char *path = path_of(export, name);
        Shown *shown = g_hash_table_lookup(export->by_path, path);

        if (!shown)
                return;
        sd_bus_emit_object_removed(ald_service_bus(export->service), path);
        g_queue_unlink(&export->by_due, &shown->link);
        g_hash_table_remove(export->by_path, path);
        set_timer(export);
}
