/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/record-export.h"
#include "services/common/record-bus.h"
#include "services/common/timer.h"

struct AldRecordExport {
        AldService *service;
        char *path;
        AldKind kind;
        AldRecord *sent;    /* what the bus shows; NULL before the first update */
        AldRecord *waiting; /* newer, but not different enough to be sent by itself */
        sd_bus_slot *slot;
        AldTimer *resend;
};

static void publish(AldRecordExport *export, AldRecord *record)
{
        uint64_t changed = export->sent ? ald_record_diff(export->sent, record) : UINT64_MAX;
        uint64_t revision = export->sent ? export->sent->revision : 0;

        record->revision = revision + (changed != 0);
        record->updated_usec = ald_realtime_usec();
        g_clear_pointer(&export->sent, ald_record_unref);
        export->sent = record;
        g_clear_pointer(&export->waiting, ald_record_unref);
        ald_record_bus_emit_changed(ald_service_bus(export->service), export->path, export->kind, changed);
        ald_service_sent(export->service, record->wire_size);
        ald_timer_set(export->resend, g_get_monotonic_time() + (gint64) ALD_RESEND_USEC);
}

static void on_resend(void *userdata)
{
        AldRecordExport *export = userdata;

        publish(export, export->waiting ? g_steal_pointer(&export->waiting) : ald_record_ref(export->sent));
}

static int find_record(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
        sd_bus_error *error)
{
        AldRecordExport *export = userdata;

        if (!export->sent || !g_str_equal(path, export->path))
                return 0;
        *ret_found = export->sent;
        return 1;
}

int ald_record_export_new(AldService *service, const char *path, AldKind kind, AldRecordExport **ret)
{
        g_autoptr(AldRecordExport) export = g_new0(AldRecordExport, 1);
        int r;

        export->service = service;
        export->path = g_strdup(path);
        export->kind = kind;
        export->resend = ald_timer_new("resend", on_resend, export);
        r = sd_bus_add_fallback_vtable(ald_service_bus(service), &export->slot, path,
                ald_kinds[kind].interface, ald_record_vtables[kind], find_record, export);
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
        ald_timer_free(export->resend);
        g_clear_pointer(&export->sent, ald_record_unref);
        g_clear_pointer(&export->waiting, ald_record_unref);
        g_free(export->path);
        g_free(export);
}

int ald_record_export_update(AldRecordExport *export, const void *fields)
{
        g_autoptr(AldRecord) record = NULL;
        int r;

        r = ald_record_new(export->kind, fields, &record);
        if (r < 0) {
                g_warning("A record %s is too large to be sent", ald_kinds[export->kind].name);
                return r;
        }
        if (!export->sent || ald_record_beyond_threshold(export->sent, record)) {
                publish(export, g_steal_pointer(&record));
        } else {
                g_clear_pointer(&export->waiting, ald_record_unref);
                export->waiting = g_steal_pointer(&record);
        }
        return 0;
}
