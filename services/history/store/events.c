/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/history/store/events.h"

/* The fraction of all events that is dropped at a time, since ranking them takes some milliseconds. */
#define DROPPED_PARTS 64u

static const char insert_text[] =
        "INSERT INTO events (began, finding, nodes, text, reporter) VALUES (?, ?, ?, ?, ?)";
/* Ranks the events of each reporter: the greater the rank, the more events its reporter has. */
static const char drop_text[] =
        "DELETE FROM events WHERE id IN (SELECT id FROM (SELECT id, began, ended, row_number() OVER"
        " (PARTITION BY reporter ORDER BY ended IS NULL DESC, began DESC, id DESC) AS rank FROM events)"
        " ORDER BY rank DESC, ended IS NULL, began, id LIMIT ?)";
static const char end_text[] =
        "UPDATE events SET ended = ?3 WHERE id = ?1 AND began = ?2 AND ended IS NULL RETURNING id";
static const char shift_text[] =
        "UPDATE events SET began = began + ?2, ended = iif(ended < ?1, ended + ?2, ended)"
        " WHERE began < ?1";
static const char forget_text[] = "DELETE FROM events WHERE began < ?1 AND ended IS NOT NULL";
static const char restart_text[] = "UPDATE events SET began = ?2 WHERE began < ?1";
static const char visit_text[] = "SELECT id, began, ended, finding, nodes, text, reporter FROM events"
                                 " WHERE began < ?2 AND (ended IS NULL OR ended >= ?1) ORDER BY began, id";

int ald_events_drop(AldDatabase *database, uint64_t n)
{
        return ald_database_run(database, drop_text, "i", (int64_t) n);
}

static int drop_excess(AldDatabase *database, unsigned max, uint64_t *ret_dropped)
{
        int64_t n = 0;
        int r;

        r = ald_database_integer(database, "SELECT count(*) FROM events", 0, &n);
        if (r < 0)
                return r;
        *ret_dropped = n > (int64_t) max ? (uint64_t) n - max + max / DROPPED_PARTS : 0;
        return *ret_dropped > 0 ? ald_events_drop(database, *ret_dropped) : 0;
}

int ald_event_begin(AldDatabase *database, const AldKeptEvent *event, unsigned max, int64_t *ret_id,
        uint64_t *ret_dropped)
{
        uint64_t dropped = 0;
        int r;

        if (strlen(event->finding) > ALD_EVENT_WORD_MAX || strlen(event->nodes) > ALD_EVENT_TEXT_MAX ||
                strlen(event->text) > ALD_EVENT_TEXT_MAX || strlen(event->reporter) > ALD_EVENT_WORD_MAX)
                return -E2BIG;
        r = ald_database_begin(database);
        if (r < 0)
                return r;
        r = ald_database_run(database, insert_text, "issss", event->began, event->finding, event->nodes,
                event->text, event->reporter);
        if (r >= 0)
                r = ald_database_integer(database, "SELECT last_insert_rowid()", 0, ret_id);
        if (r >= 0)
                r = drop_excess(database, max, &dropped);
        if (r < 0) {
                ald_database_rollback(database);
                return r;
        }
        r = ald_database_commit(database);
        if (r >= 0)
                *ret_dropped = dropped;
        return r;
}

int ald_event_end(AldDatabase *database, int64_t id, int64_t began, int64_t ended)
{
        sqlite3_stmt *statement;
        int r, n = 0;

        r = ald_database_query(database, &statement, end_text, "iii", id, began, ended);
        if (r < 0)
                return r;
        while ((r = ald_database_step(database, statement)) > 0)
                n++;
        return r < 0 ? r : n > 0 ? 0 : -ENODATA;
}

int ald_events_shift(AldDatabase *database, int64_t before, int64_t usec)
{
        return ald_database_run(database, shift_text, "ii", before, usec);
}

int ald_events_restart(AldDatabase *database, int64_t before, int64_t began)
{
        int r;

        r = ald_database_begin(database);
        if (r < 0)
                return r;
        r = ald_database_run(database, forget_text, "i", before);
        if (r >= 0)
                r = ald_database_run(database, restart_text, "ii", before, began);
        if (r >= 0)
                return ald_database_commit(database);
        ald_database_rollback(database);
        return r;
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
        const char *text = (const char *) sqlite3_column_text(statement, column);

        return text ? text : "";
}

static void visit_row(sqlite3_stmt *statement, AldEventVisit visit, void *userdata)
{
        const AldKeptEvent event = {
                .id = sqlite3_column_int64(statement, 0),
                .began = sqlite3_column_int64(statement, 1),
                .ended = sqlite3_column_type(statement, 2) == SQLITE_NULL
                                 ? INT64_MAX
                                 : sqlite3_column_int64(statement, 2),
                .finding = text_of(statement, 3),
                .nodes = text_of(statement, 4),
                .text = text_of(statement, 5),
                .reporter = text_of(statement, 6),
        };

        visit(&event, userdata);
}

int ald_events_visit_open(AldDatabase *database, AldEventVisit visit, void *userdata)
{
        sqlite3_stmt *statement;
        int r;

        r = ald_database_query(database, &statement,
                "SELECT id, began, ended, finding, nodes, text, reporter FROM events WHERE ended IS NULL"
                " ORDER BY id",
                "");
        if (r < 0)
                return r;
        while ((r = ald_database_step(database, statement)) > 0)
                visit_row(statement, visit, userdata);
        return r;
}

int ald_events_visit(
        AldDatabase *database, int64_t from, int64_t to, unsigned max, AldEventVisit visit, void *userdata)
{
        sqlite3_stmt *statement;
        unsigned n = 0;
        int r;

        r = ald_database_query(database, &statement, visit_text, "ii", from, to);
        if (r < 0)
                return r;
        while ((r = ald_database_step(database, statement)) > 0) {
                if (n++ == max) {
                        ald_database_reset(statement);
                        return -E2BIG;
                }
                visit_row(statement, visit, userdata);
        }
        return r;
}
