/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/notifier.h"
#include "clients/desktop/live/finding-item.h"

/* The most notifications at once; users can read the rest in the list. */
#define AT_ONCE_MAX 5u
/* How long findings of the history service are remembered after it has gone. A restarted service finds again,
 * one by one, what is slower than its past. */
#define KEPT_USEC (G_GINT64_CONSTANT(3600) * G_USEC_PER_SEC)

typedef struct NotedFinding {
        char *id; /* id of its notification, or NULL if there is none */
        AldFindingRowSeverity severity;
        bool is_past;   /* the history service reports it */
        gint64 gone_at; /* CLOCK_MONOTONIC in µs when it went with that service; else 0 */
} NotedFinding;

struct AldNotifier {
        GApplication *application;
        AldLiveCluster *cluster;
        GHashTable *known; /* key of a finding → NotedFinding */
        gulong handler;
        bool begun;
};

static void noted_free(gpointer data)
{
        NotedFinding *noted = data;

        g_free(noted->id);
        g_free(noted);
}

static bool is_past(AldFindingItem *item)
{
        const char *slower = ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_SLOWER_THAN_PAST);

        return g_str_equal(ald_finding_item_text(item, ALD_FINDING_COLUMN_ID), slower);
}

static GHashTable *noted_table_new(void)
{
        return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, noted_free);
}

static void send_notification(AldNotifier *notifier, AldFindingItem *item, const char *id)
{
        g_autoptr(GNotification)
                notification = g_notification_new(ald_finding_item_text(item, ALD_FINDING_COLUMN_TEXT));
        const char *remedy = ald_finding_item_remedy(item);
        bool error = ald_finding_item_severity(item) == ALD_FINDING_ROW_SEVERITY_ERROR;

        /* Some desktops render markup in the body, though not in the title, and peers choose the names. */
        if (remedy && !strpbrk(remedy, "<&"))
                g_notification_set_body(notification, remedy);
        g_notification_set_priority(
                notification, error ? G_NOTIFICATION_PRIORITY_HIGH : G_NOTIFICATION_PRIORITY_NORMAL);
        g_notification_set_default_action(notification, "app.show-findings");
        g_application_send_notification(notifier->application, id, notification);
}

static void withdraw_notifications(AldNotifier *notifier, GHashTable *present)
{
        const NotedFinding *noted;
        const char *key;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, notifier->known);
        while (g_hash_table_iter_next(&iter, (void **) &key, (void **) &noted))
                if (noted->id && !(present && g_hash_table_contains(present, key)))
                        g_application_withdraw_notification(notifier->application, noted->id);
}

/* Notes a silenced finding as it was when it became silent, so that it is notified of later if it lasts.
 * Returns NULL if it was not known then. */
static NotedFinding *note_silenced(AldNotifier *notifier, AldFindingItem *item)
{
        const NotedFinding *before = g_hash_table_lookup(notifier->known, ald_finding_item_key(item));
        NotedFinding *noted;

        if (!before)
                return NULL;
        if (before->id)
                g_application_withdraw_notification(notifier->application, before->id);
        noted = g_new0(NotedFinding, 1);
        noted->severity = before->severity;
        noted->is_past = before->is_past;
        return noted;
}

/* Notes a finding. Notifies of it if it is new, or has become more severe, which replaces its notification.
 * Sends only a few at once, and none for findings that have come with their service. */
static NotedFinding *note_finding(AldNotifier *notifier, AldFindingItem *item, bool turned, guint *sent)
{
        const char *key = ald_finding_item_key(item);
        const NotedFinding *before = g_hash_table_lookup(notifier->known, key);
        NotedFinding *noted = g_new0(NotedFinding, 1);

        noted->severity = ald_finding_item_severity(item);
        noted->is_past = is_past(item);
        if (before)
                noted->id = g_strdup(before->id);
        if (!notifier->begun || (turned && noted->is_past) || *sent >= AT_ONCE_MAX ||
                (before && before->severity <= noted->severity))
                return noted;
        g_free(noted->id);
        /* The id is a hash, since keys contain names of devices and addresses. */
        noted->id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
        send_notification(notifier, item, noted->id);
        ++*sent;
        return noted;
}

/* Keeps the history service's findings that have gone with it, so that they are not new when they return. */
static void remember_past_findings(AldNotifier *notifier, GHashTable *now, bool turned)
{
        gint64 time = g_get_monotonic_time();
        const NotedFinding *noted;
        const char *key;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, notifier->known);
        while (g_hash_table_iter_next(&iter, (void **) &key, (void **) &noted)) {
                gint64 gone_at = noted->gone_at ?: time;
                bool has_ended = !turned && noted->gone_at == 0;
                NotedFinding *kept;

                if (!noted->is_past || has_ended || time - gone_at >= KEPT_USEC ||
                        g_hash_table_contains(now, key))
                        continue;
                kept = g_new(NotedFinding, 1);
                *kept = (NotedFinding){ NULL, noted->severity, true, gone_at };
                g_hash_table_insert(now, g_strdup(key), kept);
        }
}

static void update_findings(AldNotifier *notifier, bool turned)
{
        GListModel *findings = ald_live_cluster_findings(notifier->cluster);
        GHashTable *now = noted_table_new();
        guint sent = 0;

        for (guint i = 0; i < g_list_model_get_n_items(findings); i++) {
                g_autoptr(AldFindingItem) item = g_list_model_get_item(findings, i);
                NotedFinding *noted;

                if (ald_finding_item_severity(item) == ALD_FINDING_ROW_SEVERITY_NOTICE ||
                        ald_finding_item_n_left_out(item) > 0 ||
                        g_hash_table_contains(now, ald_finding_item_key(item)))
                        continue;
                noted = ald_finding_item_is_silent(item) ? note_silenced(notifier, item)
                                                         : note_finding(notifier, item, turned, &sent);
                if (noted)
                        g_hash_table_insert(now, g_strdup(ald_finding_item_key(item)), noted);
        }
        withdraw_notifications(notifier, now);
        remember_past_findings(notifier, now, turned);
        g_hash_table_unref(notifier->known);
        notifier->known = now;
        notifier->begun = true;
}

static void on_updated(AldNotifier *notifier, guint parts)
{
        if (parts & ALD_LIVE_FINDINGS)
                update_findings(notifier, parts & ALD_LIVE_PAST);
}

AldNotifier *ald_notifier_new(GApplication *application, AldLiveCluster *cluster)
{
        AldNotifier *notifier = g_new0(AldNotifier, 1);

        notifier->application = application;
        notifier->cluster = g_object_ref(cluster);
        notifier->known = noted_table_new();
        notifier->handler = g_signal_connect_swapped(cluster, "updated", G_CALLBACK(on_updated), notifier);
        if (ald_live_cluster_has_data(cluster))
                update_findings(notifier, false);
        return notifier;
}

void ald_notifier_free(AldNotifier *notifier)
{
        if (!notifier)
                return;
        withdraw_notifications(notifier, NULL);
        g_signal_handler_disconnect(notifier->cluster, notifier->handler);
        g_object_unref(notifier->cluster);
        g_hash_table_unref(notifier->known);
        g_free(notifier);
}
