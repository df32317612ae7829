/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/tables/column-sorter.h"
#include "clients/common/columns/column-order.h"

/*
 * GTK before 4.10 reports neither the column by which a view is sorted nor the direction. So the sorter of
 * the view is made to compare two probes: the sorter of the first column puts itself into them, and the view
 * reverses the result if the direction is descending.
 */
#define ALD_TYPE_SORT_PROBE (ald_sort_probe_get_type())
G_DECLARE_FINAL_TYPE(AldSortProbe, ald_sort_probe, ALD, SORT_PROBE, GObject)

struct _AldSortProbe {
        GObject parent;
        AldColumnSorter *first_sorter;
};

G_DEFINE_FINAL_TYPE(AldSortProbe, ald_sort_probe, G_TYPE_OBJECT)

static void ald_sort_probe_class_init(AldSortProbeClass *class)
{
}

static void ald_sort_probe_init(AldSortProbe *probe)
{
}

struct _AldColumnSorter {
        GtkSorter parent;
        const AldDataColumn *column;
        AldLiveCluster *cluster;
        bool descending;
        GHashTable *keys; /* item → SortKey */
        guint generation; /* incremented whenever the keys expire */
};

G_DEFINE_FINAL_TYPE(AldColumnSorter, ald_column_sorter, GTK_TYPE_SORTER)

typedef struct SortKey {
        char *text, *key;
        double number;
        guint generation; /* the sorter's, when the key was last read */
} SortKey;

static void sort_key_free(void *data)
{
        SortKey *key = data;

        g_free(key->text);
        g_free(key->key);
        g_free(key);
}

static void read_text(AldColumnSorter *sorter, gpointer item, SortKey *key)
{
        g_autofree char *text = ald_data_column_text(sorter->column, item, sorter->cluster);

        if (g_strcmp0(text, key->text) == 0)
                return;
        g_free(key->text);
        g_free(key->key);
        key->key = ald_order_key(text);
        key->text = g_steal_pointer(&text);
}

static const SortKey *get_sort_key(AldColumnSorter *sorter, gpointer item)
{
        SortKey *key = g_hash_table_lookup(sorter->keys, item);

        if (key && key->generation == sorter->generation)
                return key;
        if (!key) {
                key = g_new0(SortKey, 1);
                g_hash_table_insert(sorter->keys, g_object_ref(item), key);
        }
        key->generation = sorter->generation;
        if (ald_data_column_has_number(sorter->column))
                key->number = ald_data_column_number(sorter->column, item, sorter->cluster);
        else
                read_text(sorter, item, key);
        return key;
}

static GtkOrdering compare_values(AldColumnSorter *sorter, gpointer a, gpointer b)
{
        const SortKey *x = get_sort_key(sorter, a), *y = get_sort_key(sorter, b);
        int order = ald_data_column_has_number(sorter->column)
                            ? ald_order_numbers(x->number, y->number, sorter->descending)
                            : ald_order_keys(x->key, y->key, sorter->descending);
        return gtk_ordering_from_cmpfunc(order);
}

/* Compares what two items are parts of, unless that is the same. The view reverses the result if the
 * direction is descending, where a part must be below its whole, too. */
static GtkOrdering compare(GtkSorter *base, gpointer a, gpointer b)
{
        AldColumnSorter *sorter = ALD_COLUMN_SORTER(base);
        gpointer (*whole_of)(gpointer) = sorter->column->whole;
        gpointer x, y;

        if (G_OBJECT_TYPE(a) == ALD_TYPE_SORT_PROBE) {
                ALD_SORT_PROBE(a)->first_sorter = sorter;
                return GTK_ORDERING_SMALLER;
        }
        x = whole_of ? whole_of(a) : a;
        y = whole_of ? whole_of(b) : b;
        if (x != y)
                return compare_values(sorter, x, y);
        if (a != b && (a == x || b == x))
                return (a == x) != sorter->descending ? GTK_ORDERING_SMALLER : GTK_ORDERING_LARGER;
        return compare_values(sorter, a, b);
}

static GtkSorterOrder get_order(GtkSorter *sorter)
{
        return GTK_SORTER_ORDER_PARTIAL;
}

static void ald_column_sorter_finalize(GObject *object)
{
        AldColumnSorter *sorter = ALD_COLUMN_SORTER(object);

        g_hash_table_unref(sorter->keys);
        g_object_unref(sorter->cluster);
        G_OBJECT_CLASS(ald_column_sorter_parent_class)->finalize(object);
}

static void ald_column_sorter_class_init(AldColumnSorterClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_column_sorter_finalize;
        GTK_SORTER_CLASS(class)->compare = compare;
        GTK_SORTER_CLASS(class)->get_order = get_order;
}

static void ald_column_sorter_init(AldColumnSorter *sorter)
{
        sorter->keys = g_hash_table_new_full(NULL, NULL, g_object_unref, sort_key_free);
}

AldColumnSorter *ald_column_sorter_new(const AldDataColumn *column, AldLiveCluster *cluster)
{
        AldColumnSorter *sorter = g_object_new(ALD_TYPE_COLUMN_SORTER, NULL);

        sorter->column = column;
        sorter->cluster = g_object_ref(cluster);
        return sorter;
}

const AldDataColumn *ald_column_sorter_column(AldColumnSorter *sorter)
{
        return sorter->column;
}

bool ald_column_sorter_is_descending(AldColumnSorter *sorter)
{
        return sorter->descending;
}

void ald_column_sorter_forget(AldColumnSorter *sorter)
{
        g_hash_table_remove_all(sorter->keys);
}

void ald_column_sorter_expire(AldColumnSorter *sorter)
{
        sorter->generation++;
}

AldColumnSorter *ald_column_sorter_find(GtkSorter *sorter)
{
        g_autoptr(AldSortProbe) a = g_object_new(ALD_TYPE_SORT_PROBE, NULL),
                                b = g_object_new(ALD_TYPE_SORT_PROBE, NULL);
        GtkOrdering order = gtk_sorter_compare(sorter, a, b);

        if (a->first_sorter)
                a->first_sorter->descending = order == GTK_ORDERING_LARGER;
        return a->first_sorter;
}
