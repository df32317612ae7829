/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/live/finding-item.h"
#include "record/figure-text.h"
#include "state/alerts/alert-key.h"

struct _AldFindingItem {
        GObject parent;
        char *key, *period;
        char *texts[ALD_FINDING_N_COLUMNS];
        GStrv nodes;
        bool silent;
        AldFindingRowSeverity severity;
        uint64_t left_out;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(AldFindingItem, ald_finding_item, G_TYPE_OBJECT)

static void clear_row(AldFindingItem *item)
{
        g_clear_pointer(&item->nodes, g_strfreev);
        for (unsigned i = 0; i < ALD_FINDING_N_COLUMNS; i++)
                g_clear_pointer(&item->texts[i], g_free);
}

static void ald_finding_item_finalize(GObject *object)
{
        AldFindingItem *item = ALD_FINDING_ITEM(object);

        clear_row(item);
        g_free(item->key);
        g_free(item->period);
        G_OBJECT_CLASS(ald_finding_item_parent_class)->finalize(object);
}

static void ald_finding_item_class_init(AldFindingItemClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_finding_item_finalize;
        signals[CHANGED] = g_signal_new(
                "changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_finding_item_init(AldFindingItem *item)
{
}

char *ald_finding_row_key(const AldFindingRow *row)
{
        g_autofree char *key = ald_alert_key(row);

        if (row->left_out == ALD_ABSENT_UINT64)
                return g_steal_pointer(&key);
        /* Each reporter may have a row that counts the others. */
        return g_strdup_printf("%s\nothers %s %s", key, row->severity ?: "", row->reporter ?: "");
}

/* The time is written in the desktop's language, with the zone, since people copy it to others. */
char *ald_finding_time_text(uint64_t usec)
{
        g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));
        g_autoptr(GDateTime) local = utc ? g_date_time_to_local(utc) : NULL;

        return local ? g_date_time_format(local, "%x %X %Z") : NULL;
}

static char *column_text(AldFindingColumn column, const AldFindingListRow *row)
{
        return ald_list_column_text(&ald_finding_columns[column], row);
}

/* Returns "Began 27.11.2026 12:04:10, ended 27.11.2026 12:10:40, lasted 6 min"; NULL if unknown. */
static char *describe_period(uint64_t began_usec, uint64_t ended_usec)
{
        const AldHistoryEvent times = { .began_usec = began_usec, .ended_usec = ended_usec };
        const AldFindingListRow row = { .times = &times, .format_time = ald_finding_time_text };
        g_autofree char *began = column_text(ALD_FINDING_COLUMN_BEGAN, &row);
        g_autofree char *ended = column_text(ALD_FINDING_COLUMN_ENDED, &row);
        g_autofree char *lasted = column_text(ALD_FINDING_COLUMN_LASTED, &row);

        if (began_usec == ALD_ABSENT_UINT64)
                return NULL;
        return ended_usec == ALD_ABSENT_UINT64
                       ? g_strdup_printf(_("Began %s, has not ended"), began)
                       : g_strdup_printf(_("Began %s, ended %s, lasted %s"), began, ended, lasted);
}

static void read_row(AldFindingItem *item, const AldFindingRow *row, AldModel *model)
{
        const AldFindingListRow listed = {
                .model = model, .finding = row, .format_time = ald_finding_time_text
        };
        char *none[] = { NULL };

        clear_row(item);
        item->nodes = g_strdupv(row->nodes ? (GStrv) row->nodes : none);
        item->severity = ald_finding_severity_of(row);
        item->left_out = row->left_out == ALD_ABSENT_UINT64 ? 0 : row->left_out;
        for (unsigned i = 0; i < ALD_FINDING_N_COLUMNS; i++)
                item->texts[i] = column_text(i, &listed);
}

AldFindingItem *ald_finding_item_new(const AldFindingRow *row, AldModel *model)
{
        AldFindingItem *item = g_object_new(ALD_TYPE_FINDING_ITEM, NULL);

        item->key = ald_finding_row_key(row);
        read_row(item, row, model);
        return item;
}

void ald_finding_item_update(AldFindingItem *item, const AldFindingRow *row, AldModel *model)
{
        g_auto(GStrv) nodes = g_steal_pointer(&item->nodes);
        bool changed = false;
        char *texts[ALD_FINDING_N_COLUMNS];

        for (unsigned i = 0; i < ALD_FINDING_N_COLUMNS; i++)
                texts[i] = g_steal_pointer(&item->texts[i]);
        read_row(item, row, model);
        for (unsigned i = 0; i < ALD_FINDING_N_COLUMNS; i++) {
                changed |= !g_str_equal(texts[i], item->texts[i]);
                g_free(texts[i]);
        }
        if (changed || !g_strv_equal((const char *const *) nodes, (const char *const *) item->nodes))
                g_signal_emit(item, signals[CHANGED], 0);
}

const char *ald_finding_item_key(AldFindingItem *item)
{
        return item->key;
}

AldFindingRowSeverity ald_finding_item_severity(AldFindingItem *item)
{
        return item->severity;
}

static const struct {
        const char *icon, *title;
} severities[ALD_FINDING_ROW_SEVERITY_N] = {
        [ALD_FINDING_ROW_SEVERITY_ERROR] = { "dialog-error-symbolic", N_("Error") },
        [ALD_FINDING_ROW_SEVERITY_WARNING] = { "dialog-warning-symbolic", N_("Warning") },
        [ALD_FINDING_ROW_SEVERITY_NOTICE] = { "dialog-information-symbolic", N_("Notice") },
};

const char *ald_finding_item_icon(AldFindingItem *item)
{
        return severities[item->severity].icon;
}

const char *ald_finding_item_title(AldFindingItem *item)
{
        return _(severities[item->severity].title);
}

uint64_t ald_finding_item_n_left_out(AldFindingItem *item)
{
        return item->left_out;
}

const char *ald_finding_item_text(AldFindingItem *item, AldFindingColumn column)
{
        return item->texts[column];
}

const char *ald_finding_item_remedy(AldFindingItem *item)
{
        const char *remedy = item->texts[ALD_FINDING_COLUMN_REMEDY];

        return g_str_equal(remedy, ALD_ABSENT_TEXT) ? NULL : remedy;
}

const char *const *ald_finding_item_nodes(AldFindingItem *item)
{
        return (const char *const *) item->nodes;
}

const char *ald_finding_item_period(AldFindingItem *item)
{
        return item->period;
}

void ald_finding_item_set_period(AldFindingItem *item, uint64_t began_usec, uint64_t ended_usec)
{
        g_autofree char *before = item->period;

        item->period = describe_period(began_usec, ended_usec);
        if (g_strcmp0(before, item->period) != 0)
                g_signal_emit(item, signals[CHANGED], 0);
}

bool ald_finding_item_is_silent(AldFindingItem *item)
{
        return item->silent;
}

void ald_finding_item_set_silent(AldFindingItem *item, bool silent)
{
        bool before = item->silent;

        item->silent = silent;
        if (silent != before)
                g_signal_emit(item, signals[CHANGED], 0);
}
