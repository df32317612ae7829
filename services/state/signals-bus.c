/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "common/bus-cleanup.h"
#include "services/common/record-signals.h"
#include "services/state/object-paths.h"
#include "services/state/records-bus.h"
#include "services/state/signals-bus.h"
#include "services/state/totals-bus.h"

/* If this many messages are queued for the bus, changes wait here and are merged with further ones. */
#define QUEUE_MAX 256u

/* The maximum size of a signal on the bus without its path and records. */
#define WIRE_PER_SIGNAL 512u
#define WIRE_OF_TOTALS 2048u

bool ald_signals_bus_can_send(AldService *service, const AldAudience *audience)
{
        uint64_t queued = 0;

        sd_bus_get_n_queued_write(ald_service_bus(service), &queued);
        if (queued >= QUEUE_MAX)
                return false;
        return audience->name ? ald_service_is_reading(service, audience->name)
                              : ald_service_may_broadcast(service);
}

static void account_sent(AldService *service, const AldAudience *audience, size_t bytes)
{
        if (audience->name)
                ald_service_note_directed(service, audience->name, bytes);
        else
                ald_service_note_broadcast(service, bytes);
}

/* Announces an object with all its new records, so that they arrive in one signal. */
static int emit_added(AldService *service, AldAudience *audience, AldEntry *entry, const char *path)
{
        const AldRecord *records[ALD_N_NODE_KINDS + 1] = { entry->record };

        for (unsigned kind = 0, n = 1; !entry->key && kind < ALD_N_NODE_KINDS; kind++) {
                AldEntry *other = &entry->node->entries[kind];
                AldNotice *notice = g_hash_table_lookup(audience->notices, other);

                if (other == entry || !notice || notice->known || !other->shown)
                        continue;
                records[n++] = other->record;
                account_sent(service, audience, ald_records_bus_size(other));
                ald_audience_drop(audience, notice);
        }
        return ald_record_emit_added(ald_service_bus(service), audience->name, ALD_STATE_PATH, path, records);
}

static int emit_hidden(AldService *service, AldAudience *audience, AldKind kind, const char *path)
{
        const char *interfaces[] = { ald_kinds[kind].interface, NULL };

        return ald_record_emit_removed(
                ald_service_bus(service), audience->name, ALD_STATE_PATH, path, interfaces);
}

static void emit_entry(AldService *service, AldAudience *audience, AldNotice *notice)
{
        AldEntry *entry = notice->entry;
        g_autofree char *path = ald_path_of_entry(entry);
        int r = 0;

        if (notice->known && !entry->shown)
                r = emit_hidden(service, audience, entry->kind, path);
        else if (entry->shown && !notice->known)
                r = emit_added(service, audience, entry, path);
        else if (entry->shown)
                r = ald_record_emit_changed(ald_service_bus(service), audience->name, path, entry->record,
                        notice->sent ? ald_record_diff(notice->sent, entry->record) : UINT64_MAX);
        if (r < 0)
                g_warning("Failed to send the changes of %s: %s", path, g_strerror(-r));
        account_sent(service, audience,
                WIRE_PER_SIGNAL + strlen(path) +
                        (entry->record ? ald_record_changed_size(entry->record) : 0));
        ald_audience_drop(audience, notice);
}

/* Signals in one signal everything that was forgotten of one object together. */
static void emit_forgotten(AldService *service, AldAudience *audience, AldNotice *notice)
{
        g_autoptr(GPtrArray) interfaces = g_ptr_array_new();
        g_autofree char *path = g_strdup(notice->path);
        int r;

        do {
                g_ptr_array_add(interfaces, (gpointer) ald_kinds[notice->kind].interface);
                ald_audience_drop(audience, notice);
                notice = g_queue_peek_head(&audience->waiting);
        } while (notice && g_strcmp0(notice->path, path) == 0);

        g_ptr_array_add(interfaces, NULL);
        r = ald_record_emit_removed(ald_service_bus(service), audience->name, ALD_STATE_PATH, path,
                (const char *const *) interfaces->pdata);
        if (r < 0)
                g_warning("Failed to signal the removal of %s: %s", path, g_strerror(-r));
        account_sent(service, audience, WIRE_PER_SIGNAL + strlen(path));
}

static void emit_totals(AldService *service, AldAudience *audience, const AldTotals *totals)
{
        sd_bus *bus = ald_service_bus(service);
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(
                bus, &signal, ALD_STATE_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged");
        if (r >= 0 && audience->name)
                r = sd_bus_message_set_destination(signal, audience->name);
        if (r >= 0)
                r = ald_totals_bus_append_changed(signal, totals, audience->totals);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        if (r < 0)
                g_warning("Failed to send the changes of the totals: %s", g_strerror(-r));
        audience->totals = 0;
        account_sent(service, audience, WIRE_OF_TOTALS);
}

static void emit_view(AldService *service, AldAudience *audience, AldDerivedView view)
{
        static const char *const names[ALD_DERIVED_N] = {
                [ALD_DERIVED_TOPOLOGY] = "TopologyChanged",
                [ALD_DERIVED_FINDINGS] = "FindingsChanged",
        };
        sd_bus *bus = ald_service_bus(service);
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, ALD_STATE_PATH, "org.alidade.State1", names[view]);
        if (r >= 0 && audience->name)
                r = sd_bus_message_set_destination(signal, audience->name);
        if (r >= 0)
                r = sd_bus_message_append(signal, "t", audience->views[view]);
        if (r >= 0)
                r = sd_bus_send(bus, signal, NULL);
        if (r < 0)
                g_warning("Failed to send the signal %s: %s", names[view], g_strerror(-r));
        audience->views[view] = 0;
        account_sent(service, audience, WIRE_PER_SIGNAL);
}

void ald_signals_bus_emit_next(AldService *service, AldAudience *audience, const AldTotals *totals)
{
        AldNotice *notice = g_queue_peek_head(&audience->waiting);
        AldDerivedView view = ald_audience_waiting_view(audience);

        if (audience->totals != 0)
                emit_totals(service, audience, totals);
        else if (view < ALD_DERIVED_N)
                emit_view(service, audience, view);
        else if (notice->entry)
                emit_entry(service, audience, notice);
        else
                emit_forgotten(service, audience, notice);
}
