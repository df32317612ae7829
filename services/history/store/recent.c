/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/history/store/pack.h"
#include "services/history/store/packed-rows.h"
#include "services/history/store/recent.h"
#include "services/history/store/varint.h"

#define GROUP_BITS 20
#define GROUP_MASK ((INT64_C(1) << GROUP_BITS) - 1)

static const char load_text[] = "SELECT data FROM recent WHERE id = ?";

/* Finds the numbers of the first and the last write of rows; the first is greater if there are no rows. */
static int find_writes(AldDatabase *database, int64_t *ret_first, int64_t *ret_last)
{
        int64_t first, last;
        int r;

        r = ald_database_integer(database, "SELECT min(id) FROM recent", GROUP_MASK + 1, &first);
        if (r >= 0)
                r = ald_database_integer(database, "SELECT max(id) FROM recent", 0, &last);
        if (r < 0)
                return r;
        if (first < 0 || (last >> GROUP_BITS) - (first >> GROUP_BITS) > UINT16_MAX)
                return -EBADMSG;
        *ret_first = first >> GROUP_BITS;
        *ret_last = last >> GROUP_BITS;
        return 0;
}

static int write_group(AldDatabase *database, int64_t number, uint32_t group, GByteArray *rows)
{
        g_autoptr(GByteArray) data = ald_pack(rows->data, rows->len);

        g_byte_array_set_size(rows, 0);
        return ald_database_run(database, "INSERT INTO recent (id, data) VALUES (?, ?)", "ib",
                number << GROUP_BITS | group, data);
}

/* Appends the samples of the first series and returns their number. */
static guint append_series(GByteArray *rows, const AldRecentSample *samples, guint n)
{
        g_autoptr(GArray) of_series = g_array_new(FALSE, FALSE, sizeof(AldSample));
        g_autoptr(GByteArray) bytes = NULL;

        while (of_series->len < n && samples[of_series->len].series == samples->series)
                g_array_append_val(of_series, samples[of_series->len].sample);
        bytes = ald_samples_encode(of_series);
        ald_varint_append(rows, samples->series % ALD_RECENT_GROUP);
        ald_varint_append(rows, bytes->len);
        g_byte_array_append(rows, bytes->data, bytes->len);
        return of_series->len;
}

int ald_recent_append(AldDatabase *database, const GArray *samples)
{
        const AldRecentSample *all = (const AldRecentSample *) (const void *) samples->data;
        g_autoptr(GByteArray) rows = g_byte_array_new();
        int64_t first, last;
        int r;

        r = find_writes(database, &first, &last);
        for (guint i = 0; i < samples->len && r >= 0;) {
                const uint32_t group = all[i].series / ALD_RECENT_GROUP;

                i += append_series(rows, &all[i], samples->len - i);
                if (i == samples->len || all[i].series / ALD_RECENT_GROUP != group)
                        r = write_group(database, last + 1, group, rows);
        }
        return r;
}

static gint compare_groups(gconstpointer a, gconstpointer b)
{
        uint32_t one = *(const uint32_t *) a, other = *(const uint32_t *) b;

        return (one > other) - (one < other);
}

int ald_recent_groups(AldDatabase *database, GArray *groups, unsigned *ret_n_written)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(g_direct_hash, g_direct_equal);
        sqlite3_stmt *statement;
        int64_t first = 1, last = 0;
        int r;

        r = find_writes(database, &first, &last);
        if (r >= 0)
                r = ald_database_query(database, &statement, "SELECT id FROM recent", "");
        if (r < 0)
                return r;
        while ((r = ald_database_step(database, statement)) > 0) {
                uint32_t group = (uint32_t) (sqlite3_column_int64(statement, 0) & GROUP_MASK);

                if (g_hash_table_add(seen, GUINT_TO_POINTER(group)))
                        g_array_append_val(groups, group);
        }
        g_array_sort(groups, compare_groups);
        *ret_n_written = first > last ? 0 : (unsigned) (last - first + 1);
        return r;
}

/* Appends the samples of each series to its array, if there is one. */
static int read_rows(const GByteArray *rows, GArray *of_series[ALD_RECENT_GROUP])
{
        AldBytes rest = { rows->data, rows->len, false };

        while (rest.n > 0) {
                uint64_t series = ald_varint_read(&rest), n = ald_varint_read(&rest);

                if (rest.bad || series >= ALD_RECENT_GROUP || n > rest.n)
                        return -EBADMSG;
                if (of_series[series] && ald_samples_decode(rest.at, n, 0, INT64_MAX, of_series[series]) < 0)
                        return -EBADMSG;
                rest.at += n;
                rest.n -= n;
        }
        return 0;
}

static int load_row(AldDatabase *database, int64_t id, GArray *of_series[ALD_RECENT_GROUP])
{
        g_autoptr(GByteArray) rows = NULL;
        sqlite3_stmt *statement;
        int r;

        r = ald_database_query(database, &statement, load_text, "i", id);
        if (r >= 0)
                r = ald_database_step(database, statement);
        if (r <= 0)
                return r;
        r = ald_unpack(sqlite3_column_blob(statement, 0), (size_t) sqlite3_column_bytes(statement, 0), &rows);
        ald_database_reset(statement);
        if (r < 0 || read_rows(rows, of_series) < 0)
                g_warning("Recent samples of the history are damaged; ignoring them");
        return 0;
}

int ald_recent_load_group(AldDatabase *database, uint32_t group, GArray *of_series[ALD_RECENT_GROUP])
{
        int64_t first = 1, last = 0;
        int r;

        r = find_writes(database, &first, &last);
        for (; r >= 0 && first <= last; first++)
                r = load_row(database, first << GROUP_BITS | group, of_series);
        return r;
}

int ald_recent_load(AldDatabase *database, uint32_t series, GArray *samples)
{
        GArray *of_series[ALD_RECENT_GROUP] = { NULL };

        of_series[series % ALD_RECENT_GROUP] = samples;
        return ald_recent_load_group(database, series / ALD_RECENT_GROUP, of_series);
}

int ald_recent_drop(AldDatabase *database)
{
        return ald_database_run(database, "DELETE FROM recent", "");
}
