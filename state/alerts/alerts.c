/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alert-causes.h"
#include "state/alerts/alert-groups.h"
#include "state/alerts/alert-key.h"
#include "state/alerts/alerts-private.h"

#define CAUSES_MAX 4u /* in a chain of causes */

static void alert_free(gpointer data)
{
        AldAlert *alert = data;

        g_free(alert->key);
        g_free(alert->row);
        g_free(alert);
}

AldAlerts *ald_alerts_new(void)
{
        AldAlerts *alerts = g_new0(AldAlerts, 1);

        alerts->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, alert_free);
        alerts->accounts = ald_alert_accounts_new();
        alerts->dropped = g_ptr_array_new_with_free_func(alert_free);
        return alerts;
}

void ald_alerts_free(AldAlerts *alerts)
{
        if (!alerts)
                return;
        g_hash_table_unref(alerts->by_key);
        g_ptr_array_unref(alerts->dropped);
        ald_alert_accounts_free(alerts->accounts);
        g_free(alerts);
}

static void drop_alert(AldAlerts *alerts, AldAlert *alert)
{
        ald_alert_accounts_leave(alerts->accounts, alert);
        g_hash_table_steal(alerts->by_key, alert->key);
        if (alert->damping.begun)
                g_ptr_array_add(alerts->dropped, alert);
        else
                alert_free(alert);
}

AldAlert *ald_alerts_add(AldAlerts *alerts, char *key, const AldFindingRow *row)
{
        AldAlert *alert, *excess;
        bool room;

        while ((excess = ald_alert_accounts_excess(alerts->accounts, row, &room)))
                drop_alert(alerts, excess);
        if (!room) {
                g_free(key);
                return NULL;
        }
        alert = g_new(AldAlert, 1);
        *alert = (AldAlert){ .key = key, .row = ald_struct_dup(&ald_finding_row_struct, row) };
        g_hash_table_insert(alerts->by_key, alert->key, alert);
        ald_alert_accounts_enter(alerts->accounts, alert);
        return alert;
}

/* The state of one update. */
typedef struct AlertUpdate {
        AldAlerts *alerts;
        uint64_t usec;
        GPtrArray *rows;       /* findings and places that explain some */
        GHashTable *seen;      /* keys of the rows */
        GHashTable *symptoms;  /* row → number of findings that it hides */
        GHashTable *cut_short; /* left_out_name() of findings of which some are left out */
        AldAlertCauses *causes;
} AlertUpdate;

static void shift_all(AldAlerts *alerts, uint64_t usec, bool forward)
{
        GHashTableIter iter;
        gpointer alert;

        g_hash_table_iter_init(&iter, alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                ald_alert_damping_shift(&((AldAlert *) alert)->damping, usec, forward);
}

void ald_alerts_shift(AldAlerts *alerts, uint64_t usec)
{
        shift_all(alerts, usec, true);
        alerts->updated_usec += usec;
}

static GHashTable *begun_keys(AldAlerts *alerts)
{
        GHashTable *keys = g_hash_table_new(g_str_hash, g_str_equal);
        GHashTableIter iter;
        gpointer alert;

        g_hash_table_iter_init(&iter, alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                if (((AldAlert *) alert)->damping.begun)
                        g_hash_table_add(keys, ((AldAlert *) alert)->key);
        return keys;
}

/* Returns a name for the findings of an Id that a node reports; without a reporter, for all of the Id. */
static char *left_out_name(const AldFindingRow *row, const char *reporter)
{
        return g_strconcat(row->id, " ", reporter, NULL);
}

static bool is_cut_short(const AlertUpdate *update, const AldFindingRow *row)
{
        g_autofree char *any = left_out_name(row, NULL), *own = left_out_name(row, row->reporter);

        return g_hash_table_contains(update->cut_short, any) || g_hash_table_contains(update->cut_short, own);
}

static void collect_rows(AlertUpdate *update, const GPtrArray *findings, AldAlertPaths *paths)
{
        g_autoptr(GHashTable) active = begun_keys(update->alerts);

        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                if (row->left_out == ALD_ABSENT_UINT64)
                        g_ptr_array_add(update->rows, (gpointer) row);
                else
                        g_hash_table_add(update->cut_short, left_out_name(row, row->reporter));
        }
        if (!paths)
                return;
        ald_alert_groups_find(paths, active);
        for (guint i = 0; i < paths->causes->len; i++)
                g_ptr_array_add(update->rows, paths->causes->pdata[i]);
}

/* Counts a symptom for the finding that explains it in the end. */
static void count_symptom(AlertUpdate *update, const AldFindingRow *cause)
{
        const AldFindingRow *next;
        guint n;

        for (unsigned i = 0; i < CAUSES_MAX && (next = ald_alert_causes_find(update->causes, cause)); i++)
                cause = next;
        n = GPOINTER_TO_UINT(g_hash_table_lookup(update->symptoms, cause));
        g_hash_table_insert(update->symptoms, (gpointer) cause, GUINT_TO_POINTER(n + 1));
}

static void hide_alert(AlertUpdate *update, AldAlert *alert)
{
        alert->hidden = alert->damping.begun;
        if (alert->hidden)
                ald_alert_damping_hold(&alert->damping);
        else
                ald_alert_damping_set(&alert->damping, false, update->usec);
}

static void show_alert(AlertUpdate *update, AldAlert *alert, char *key, const AldFindingRow *row)
{
        if (!alert) {
                alert = ald_alerts_add(update->alerts, key, row);
                update->alerts->left_out += !alert;
                if (alert)
                        alert->damping = ald_alert_damping_new(update->usec);
                return;
        }
        g_free(key);
        g_free(alert->row);
        alert->row = ald_struct_dup(&ald_finding_row_struct, row);
        ald_alert_accounts_enter(update->alerts->accounts, alert);
        alert->hidden = false;
        ald_alert_damping_set(&alert->damping, true, update->usec);
}

static void process_row(AlertUpdate *update, const AldFindingRow *row)
{
        char *key = ald_alert_key(row);
        AldAlert *alert = g_hash_table_lookup(update->alerts->by_key, key);
        const AldFindingRow *cause = ald_alert_causes_find(update->causes, row);

        g_hash_table_add(update->seen, g_strdup(key));
        if (!cause) {
                show_alert(update, alert, key, row);
                return;
        }
        g_free(key);
        count_symptom(update, cause);
        if (alert)
                hide_alert(update, alert);
}

/* Updates an alert that has no row now. */
static void process_absence(AlertUpdate *update, AldAlert *alert)
{
        const AldFindingRow *cause = ald_alert_causes_find(update->causes, alert->row);

        if (cause && alert->damping.begun)
                count_symptom(update, cause);
        if (cause || is_cut_short(update, alert->row))
                hide_alert(update, alert);
        else {
                alert->hidden = false;
                ald_alert_damping_set(&alert->damping, false, update->usec);
        }
}

static void process_absences(AlertUpdate *update)
{
        GHashTableIter iter;
        gpointer alert;

        g_hash_table_iter_init(&iter, update->alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                if (!g_hash_table_contains(update->seen, ((AldAlert *) alert)->key))
                        process_absence(update, alert);
}

static void set_symptoms(AlertUpdate *update)
{
        GHashTableIter iter;
        gpointer alert;

        g_hash_table_iter_init(&iter, update->alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                ((AldAlert *) alert)->symptoms = 0;
        for (guint i = 0; i < update->rows->len; i++) {
                g_autofree char *key = ald_alert_key(update->rows->pdata[i]);
                AldAlert *found = g_hash_table_lookup(update->alerts->by_key, key);

                if (found)
                        found->symptoms += GPOINTER_TO_UINT(
                                g_hash_table_lookup(update->symptoms, update->rows->pdata[i]));
        }
}

static int compare_notices(gconstpointer a, gconstpointer b)
{
        const AldAlertNotice *left = a, *right = b;

        return left->begins != right->begins ? (left->begins ? -1 : 1)
                                             : strcmp(left->alert->key, right->alert->key);
}

static GArray *collect_notices(AldAlerts *alerts, uint64_t now)
{
        GArray *notices = g_array_new(FALSE, FALSE, sizeof(AldAlertNotice));
        GHashTableIter iter;
        gpointer data;

        g_hash_table_iter_init(&iter, alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                AldAlert *alert = data;
                AldAlertStep step = ald_alert_damping_step(&alert->damping, now);
                AldAlertNotice notice = { .begins = step == ALD_ALERT_BEGIN,
                        .at_usec = step == ALD_ALERT_BEGIN ? alert->damping.first_usec
                                                           : alert->damping.changed_usec,
                        .alert = alert };

                if (step == ALD_ALERT_FORGET) {
                        ald_alert_accounts_leave(alerts->accounts, alert);
                        g_hash_table_iter_remove(&iter);
                } else if (step != ALD_ALERT_NONE)
                        g_array_append_val(notices, notice);
        }
        for (guint i = 0; i < alerts->dropped->len; i++) {
                const AldAlertNotice notice = { .at_usec = now, .alert = alerts->dropped->pdata[i] };

                g_array_append_val(notices, notice);
        }
        g_array_sort(notices, compare_notices);
        return notices;
}

GArray *ald_alerts_update(AldAlerts *alerts, const GPtrArray *findings, AldAlertPaths *paths, uint64_t now)
{
        g_autoptr(GPtrArray) rows = g_ptr_array_new();
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) symptoms = g_hash_table_new(NULL, NULL);
        g_autoptr(GHashTable) cut_short = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(AldAlertCauses) causes = NULL;
        AlertUpdate update = { .alerts = alerts,
                .usec = now,
                .rows = rows,
                .seen = seen,
                .symptoms = symptoms,
                .cut_short = cut_short };
        AldAlert *excess;

        if (now < alerts->updated_usec)
                shift_all(alerts, alerts->updated_usec - now, false);
        alerts->updated_usec = now;
        alerts->left_out = 0;
        g_ptr_array_set_size(alerts->dropped, 0);
        ald_alert_accounts_begin(alerts->accounts);
        collect_rows(&update, findings, paths);
        update.causes = causes = ald_alert_causes_new(rows, paths);
        for (guint i = 0; i < rows->len; i++)
                process_row(&update, rows->pdata[i]);
        /* Rows may have grown since their alerts were added. */
        while ((excess = ald_alert_accounts_heaviest(alerts->accounts)))
                drop_alert(alerts, excess);
        process_absences(&update);
        set_symptoms(&update);
        return collect_notices(alerts, now);
}

uint64_t ald_alerts_due(AldAlerts *alerts)
{
        uint64_t due = ALD_ABSENT_UINT64;
        GHashTableIter iter;
        gpointer alert;

        g_hash_table_iter_init(&iter, alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                due = MIN(due, ald_alert_damping_due(&((AldAlert *) alert)->damping));
        return due;
}

bool ald_alerts_has(const AldAlerts *alerts, const char *key)
{
        return g_hash_table_contains(alerts->by_key, key);
}

static int compare_alerts(gconstpointer a, gconstpointer b)
{
        return strcmp((*(const AldAlert *const *) a)->key, (*(const AldAlert *const *) b)->key);
}

GPtrArray *ald_alerts_begun(AldAlerts *alerts)
{
        GPtrArray *begun = g_ptr_array_new();
        GHashTableIter iter;
        gpointer alert;

        g_hash_table_iter_init(&iter, alerts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &alert))
                if (((AldAlert *) alert)->damping.begun)
                        g_ptr_array_add(begun, alert);
        g_ptr_array_sort(begun, compare_alerts);
        return begun;
}

guint ald_alerts_left_out(const AldAlerts *alerts)
{
        return alerts->left_out;
}
