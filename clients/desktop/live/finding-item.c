/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/live/finding-item.h"
#include "state/alerts/alert-key.h"

struct _AldFindingItem {
        GObject parent;
        char *key, *id, *names, *words, *remedy, *period;
        GStrv nodes;
        bool silent;
        AldFindingWeight weight;
        uint64_t left_out;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(AldFindingItem, ald_finding_item, G_TYPE_OBJECT)

static void clear_row(AldFindingItem *item)
{
        g_clear_pointer(&item->nodes, g_strfreev);
        g_clear_pointer(&item->names, g_free);
        g_clear_pointer(&item->words, g_free);
        g_clear_pointer(&item->remedy, g_free);
}

static void ald_finding_item_finalize(GObject *object)
{
        AldFindingItem *item = ALD_FINDING_ITEM(object);

        clear_row(item);
        g_free(item->key);
        g_free(item->id);
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

static AldFindingWeight weight_of(const AldFindingRow *row)
{
        AldTone tone;

        g_free(ald_finding_severity(row, &tone));
        if (tone == ALD_TONE_ERROR)
                return ALD_FINDING_WEIGHT_ERROR;
        return tone == ALD_TONE_WARNING ? ALD_FINDING_WEIGHT_WARNING : ALD_FINDING_WEIGHT_NOTICE;
}

static char *join_names(const AldFindingRow *row, AldModel *model)
{
        GString *names = g_string_new(NULL);

        for (const char *const *node = row->nodes; node && *node; node++) {
                g_autofree char *name = ald_node_name(model, *node);

                g_string_append_printf(names, "%s%s", node == row->nodes ? "" : ", ", name);
        }
        return g_string_free(names, FALSE);
}

/* As the language of the desktop writes it; with the zone, since it is copied to other people. */
char *ald_finding_time_text(uint64_t usec)
{
        g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));
        g_autoptr(GDateTime) local = utc ? g_date_time_to_local(utc) : NULL;

        return local ? g_date_time_format(local, "%x %X %Z") : NULL;
}

/* "Began 27.11.2026 12:04:10, ended 27.11.2026 12:10:40, lasted 6 min"; NULL if unknown. */
static char *describe_period(uint64_t began_usec, uint64_t ended_usec)
{
        g_autofree char *began = began_usec == ALD_ABSENT_UINT64 ? NULL : ald_finding_time_text(began_usec);
        g_autofree char *ended = ended_usec == ALD_ABSENT_UINT64 ? NULL : ald_finding_time_text(ended_usec);
        g_autofree char *lasted = began && ended
                                          ? ald_format_duration((double) ended_usec - (double) began_usec)
                                          : NULL;

        if (!began)
                return NULL;
        return ended ? g_strdup_printf(_("Began %s, ended %s, lasted %s"), began, ended, lasted)
                     : g_strdup_printf(_("Began %s, has not ended"), began);
}

static void read_row(AldFindingItem *item, const AldFindingRow *row, AldModel *model)
{
        char *none[] = { NULL };

        clear_row(item);
        item->nodes = g_strdupv(row->nodes ? (GStrv) row->nodes : none);
        item->weight = weight_of(row);
        item->left_out = row->left_out == ALD_ABSENT_UINT64 ? 0 : row->left_out;
        item->names = join_names(row, model);
        item->words = ald_finding_words_with_times(row, ald_finding_time_text) ?: g_strdup(ALD_ABSENT_TEXT);
        item->remedy = ald_finding_remedy_words(row);
}

AldFindingItem *ald_finding_item_new(const AldFindingRow *row, AldModel *model)
{
        AldFindingItem *item = g_object_new(ALD_TYPE_FINDING_ITEM, NULL);

        item->key = ald_finding_row_key(row);
        item->id = ald_text_safe(row->id ?: ALD_ABSENT_TEXT);
        read_row(item, row, model);
        return item;
}

void ald_finding_item_update(AldFindingItem *item, const AldFindingRow *row, AldModel *model)
{
        AldFindingWeight weight = item->weight;
        g_autofree char *words = g_steal_pointer(&item->words), *names = g_steal_pointer(&item->names);
        g_auto(GStrv) nodes = g_steal_pointer(&item->nodes);

        read_row(item, row, model);
        if (weight != item->weight || g_strcmp0(words, item->words) != 0 ||
                g_strcmp0(names, item->names) != 0 ||
                !g_strv_equal((const char *const *) nodes, (const char *const *) item->nodes))
                g_signal_emit(item, signals[CHANGED], 0);
}

const char *ald_finding_item_key(AldFindingItem *item)
{
        return item->key;
}

AldFindingWeight ald_finding_item_weight(AldFindingItem *item)
{
        return item->weight;
}

uint64_t ald_finding_item_left_out(AldFindingItem *item)
{
        return item->left_out;
}

const char *ald_finding_item_id(AldFindingItem *item)
{
        return item->id;
}

const char *const *ald_finding_item_nodes(AldFindingItem *item)
{
        return (const char *const *) item->nodes;
}

const char *ald_finding_item_names(AldFindingItem *item)
{
        return item->names;
}

const char *ald_finding_item_words(AldFindingItem *item)
{
        return item->words;
}

const char *ald_finding_item_remedy(AldFindingItem *item)
{
        return item->remedy;
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
