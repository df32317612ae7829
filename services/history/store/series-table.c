/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "services/history/store/series-table.h"

/* Room is made when less than this fraction of it is left. */
#define ROOM_PARTS 8u
#define DROPPED_MAX 1024 /* of a large table in one call */

struct AldSeriesTable {
        GHashTable *series;  /* set of AldKeptSeries */
        unsigned max;        /* in the database */
        GHashTable *by_node; /* id → number of its series in the database, if counted */
        bool counted;
        int64_t n_stored, last_id; /* in the database, if counted */
};

static guint hash_name(gconstpointer data)
{
        const AldSeriesName *name = &((const AldKeptSeries *) data)->name;

        return ((g_str_hash(name->node) * 31 + g_str_hash(name->kind)) * 31 + g_str_hash(name->key)) * 31 +
               g_str_hash(name->field);
}

static gboolean is_equal_name(gconstpointer a, gconstpointer b)
{
        const AldSeriesName *one = &((const AldKeptSeries *) a)->name;
        const AldSeriesName *other = &((const AldKeptSeries *) b)->name;

        return strcmp(one->field, other->field) == 0 && strcmp(one->key, other->key) == 0 &&
               strcmp(one->node, other->node) == 0 && strcmp(one->kind, other->kind) == 0;
}

AldSeriesTable *ald_series_table_new(void)
{
        AldSeriesTable *table = g_new0(AldSeriesTable, 1);

        table->series = g_hash_table_new_full(hash_name, is_equal_name, g_free, NULL);
        table->by_node = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return table;
}

void ald_series_table_free(AldSeriesTable *table)
{
        if (!table)
                return;
        g_hash_table_unref(table->series);
        g_hash_table_unref(table->by_node);
        g_free(table);
}

/* Allocates a series with its words in a single block. */
static AldKeptSeries *kept_series_new(const AldSeriesName *name)
{
        const char *words[] = { name->node, name->kind, name->key, name->field };
        const char *kept[G_N_ELEMENTS(words)];
        AldKeptSeries *series;
        size_t n = sizeof *series;
        char *to;

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                n += strlen(words[i]) + 1;
        series = g_malloc0(n);
        to = (char *) (series + 1);
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                kept[i] = memcpy(to, words[i], strlen(words[i]) + 1);
                to += strlen(words[i]) + 1;
        }
        series->name = (AldSeriesName){ kept[0], kept[1], kept[2], kept[3] };
        return series;
}

AldKeptSeries *ald_series_table_find(const AldSeriesTable *table, const AldSeriesName *name)
{
        const AldKeptSeries wanted = { .name = *name };

        return g_hash_table_lookup(table->series, &wanted);
}

AldKeptSeries *ald_series_table_get(AldSeriesTable *table, const AldSeriesName *name)
{
        AldKeptSeries *series = ald_series_table_find(table, name);

        if (!series) {
                series = kept_series_new(name);
                g_hash_table_add(table->series, series);
        }
        return series;
}

unsigned ald_series_table_size(const AldSeriesTable *table)
{
        return g_hash_table_size(table->series);
}

static gboolean is_idle(gpointer key, gpointer value, gpointer userdata)
{
        return ((const AldKeptSeries *) key)->waiting == 0;
}

void ald_series_table_sweep(AldSeriesTable *table)
{
        g_hash_table_foreach_remove(table->series, is_idle, NULL);
}

void ald_series_table_forget_ids(AldSeriesTable *table)
{
        GHashTableIter iter;
        AldKeptSeries *series;

        table->counted = false;
        g_hash_table_iter_init(&iter, table->series);
        while (g_hash_table_iter_next(&iter, (gpointer *) &series, NULL)) {
                series->id = 0;
                series->last_day = 0;
                series->refused = false;
        }
}

static int look_up_id(AldDatabase *database, const AldSeriesName *name, uint32_t *ret_id, int64_t *ret_last)
{
        sqlite3_stmt *statement;
        int r;

        r = ald_database_query(database, &statement,
                "SELECT id, last FROM series WHERE node = ? AND kind = ? AND key = ? AND field = ?", "ssss",
                name->node, name->kind, name->key, name->field);
        if (r >= 0)
                r = ald_database_step(database, statement);
        if (r <= 0)
                return r < 0 ? r : -ENODATA;
        *ret_id = (uint32_t) sqlite3_column_int64(statement, 0);
        *ret_last = sqlite3_column_int64(statement, 1);
        ald_database_reset(statement);
        return *ret_id > 0 && *ret_id <= ALD_SERIES_ID_MAX ? 0 : -EBADMSG;
}

static int count_by_node(AldSeriesTable *table, AldDatabase *database)
{
        sqlite3_stmt *statement;
        int r;

        g_hash_table_remove_all(table->by_node);
        r = ald_database_query(database, &statement, "SELECT node, count(*) FROM series GROUP BY node", "");
        while (r >= 0 && (r = ald_database_step(database, statement)) > 0) {
                const char *node = (const char *) sqlite3_column_text(statement, 0);

                if (node)
                        g_hash_table_insert(table->by_node, g_strdup(node),
                                GUINT_TO_POINTER((guint) sqlite3_column_int64(statement, 1)));
        }
        return r;
}

static int count_series(AldSeriesTable *table, AldDatabase *database)
{
        int r = 0;

        if (table->counted)
                return 0;
        r = ald_database_integer(database, "SELECT count(*) FROM series", 0, &table->n_stored);
        if (r >= 0)
                r = ald_database_integer(database, "SELECT max(id) FROM series", 0, &table->last_id);
        if (r >= 0)
                r = count_by_node(table, database);
        table->counted = r >= 0;
        return r;
}

/* Limits each node to the number of series left for the others, so that no node takes all the room. */
static bool has_room(const AldSeriesTable *table, const char *node)
{
        const int64_t left = (int64_t) table->max - table->n_stored;

        return left > 0 && GPOINTER_TO_UINT(g_hash_table_lookup(table->by_node, node)) <= left &&
               table->last_id >= 0 && table->last_id < ALD_SERIES_ID_MAX;
}

static void note_new_series(AldSeriesTable *table, const char *node)
{
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(table->by_node, node));

        table->n_stored++;
        g_hash_table_insert(table->by_node, g_strdup(node), GUINT_TO_POINTER(n + 1));
}

static int create_series(AldSeriesTable *table, AldDatabase *database, AldKeptSeries *series, int64_t day)
{
        int r;

        r = count_series(table, database);
        if (r < 0)
                return r;
        series->refused = !has_room(table, series->name.node);
        if (series->refused)
                return -E2BIG;
        r = ald_database_run(database,
                "INSERT INTO series (node, kind, key, field, id, last) VALUES (?, ?, ?, ?, ?, ?)", "ssssii",
                series->name.node, series->name.kind, series->name.key, series->name.field,
                table->last_id + 1, day);
        if (r < 0)
                return r;
        note_new_series(table, series->name.node);
        series->id = (uint32_t) ++table->last_id;
        series->last_day = day;
        return 0;
}

int ald_series_enter(AldSeriesTable *table, AldDatabase *database, AldKeptSeries *series, int64_t day)
{
        int r = 0;

        /* Looking it up for each sample would take longer than storing the samples that are kept. */
        if (series->refused)
                return -E2BIG;
        if (series->id == 0)
                r = look_up_id(database, &series->name, &series->id, &series->last_day);
        if (r == -ENODATA)
                return create_series(table, database, series, day);
        if (r < 0 || series->last_day >= day)
                return r;
        r = ald_database_run(database,
                "UPDATE series SET last = ? WHERE node = ? AND kind = ? AND key = ? AND field = ?", "issss",
                day, series->name.node, series->name.kind, series->name.key, series->name.field);
        if (r >= 0)
                series->last_day = day;
        return r;
}

void ald_series_table_limit(AldSeriesTable *table, unsigned max)
{
        table->max = max;
        ald_series_table_forget_ids(table);
}

int ald_series_find(AldDatabase *database, const AldSeriesName *name, uint32_t *ret)
{
        int64_t last;

        return look_up_id(database, name, ret, &last);
}

/* Ranks the series of each node, the most recently used first: the greater the rank, the more series its node
 * has. */
#define RANKED                                                                                             \
        "SELECT id, node, last, row_number() OVER (PARTITION BY node ORDER BY last DESC, id DESC) AS rank" \
        " FROM series"
/* The series with the greatest id stays, so that its id is not reused while chunks refer to it. */
#define NOT_GREATEST "id < (SELECT max(id) FROM series)"

/* Gives up series of this node; *ret is their number. */
static int give_up_series_of_node(
        AldDatabase *database, const char *node, unsigned n, int64_t day, int64_t *ret)
{
        int r;

        r = ald_database_run(database,
                "DELETE FROM series WHERE id IN (SELECT id FROM series WHERE node = ? AND last < ? "
                "AND " NOT_GREATEST " ORDER BY last LIMIT ?)",
                "sii", node, day, (int64_t) n);
        return r < 0 ? r : ald_database_integer(database, "SELECT changes()", 0, ret);
}

int ald_series_make_room(AldDatabase *database, unsigned max, GHashTable *refused, int64_t day)
{
        GHashTableIter iter;
        const char *node;
        int64_t n = 0;
        int r = 0;

        g_hash_table_iter_init(&iter, refused);
        while (r >= 0 && g_hash_table_iter_next(&iter, (gpointer *) &node, NULL)) {
                r = give_up_series_of_node(database, node, max / ROOM_PARTS, day, &n);
                if (r >= 0 && n > 0)
                        g_hash_table_iter_remove(&iter);
        }
        if (r >= 0)
                r = ald_database_integer(database, "SELECT count(*) FROM series", 0, &n);
        if (r < 0 || n <= (int64_t) (max - max / ROOM_PARTS))
                return r;
        return ald_database_run(database,
                "DELETE FROM series WHERE id IN (SELECT id FROM (" RANKED ") WHERE last < ? AND " NOT_GREATEST
                " ORDER BY rank DESC, last LIMIT ?)",
                "ii", day, (int64_t) (max / ROOM_PARTS));
}

int ald_series_drop_excess(AldDatabase *database, unsigned max)
{
        int64_t n = 0, excess;
        int r;

        r = ald_database_integer(database, "SELECT count(*) FROM series", 0, &n);
        if (r < 0 || n <= (int64_t) max)
                return r;
        excess = MIN(n - (int64_t) (max - max / ROOM_PARTS), DROPPED_MAX);
        r = ald_database_run(database,
                "DELETE FROM series WHERE id IN (SELECT id FROM (" RANKED ") WHERE " NOT_GREATEST
                " ORDER BY rank DESC, last LIMIT ?)",
                "i", excess);
        return r < 0 ? r : n - excess > (int64_t) max;
}

int ald_series_remove_before(AldDatabase *database, int64_t day)
{
        return ald_database_run(database, "DELETE FROM series WHERE last < ?", "i", day);
}
