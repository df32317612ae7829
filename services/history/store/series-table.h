/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "services/history/store/database.h"

/* Identifies a series: a field of a record, or of a row of it. All members except the field may be empty. */
typedef struct AldSeriesName {
        const char *node; /* each at most ALD_SERIES_WORD_MAX bytes */
        const char *kind;
        const char *key;
        const char *field;
} AldSeriesName;

#define ALD_SERIES_WORD_MAX 256u
/* Ids fit into the key of a chunk. */
#define ALD_SERIES_ID_MAX ((1u << 24) - 1)

/* A recently used series. */
typedef struct AldKeptSeries {
        AldSeriesName name;
        uint32_t id;      /* in the database; 0 if not looked up yet */
        int64_t last_day; /* last day with a sample, as stored in the database */
        bool refused;     /* the database had no room for it; ald_series_table_forget_ids() resets this */
        unsigned waiting; /* samples not yet in the database, counted by the owner of the table */
} AldKeptSeries;

typedef struct AldSeriesTable AldSeriesTable;

AldSeriesTable *ald_series_table_new(void);
void ald_series_table_free(AldSeriesTable *table);

/* Never fails. The series lives until the table is swept while no samples of it are waiting. */
AldKeptSeries *ald_series_table_get(AldSeriesTable *table, const AldSeriesName *name);

/* Returns NULL if the series was not used recently. */
AldKeptSeries *ald_series_table_find(const AldSeriesTable *table, const AldSeriesName *name);
unsigned ald_series_table_size(const AldSeriesTable *table);
/* Removes the series without waiting samples. */
void ald_series_table_sweep(AldSeriesTable *table);

/* Has all ids looked up again, because the database is another one or a transaction has failed. */
void ald_series_table_forget_ids(AldSeriesTable *table);

/* Sets the maximum number of series in the database. */
void ald_series_table_limit(AldSeriesTable *table, unsigned max);

/* Looks up the id of the series, or creates it within a transaction if it is new; -E2BIG if there are too
 * many series. Notes that it has a sample of this day. */
int ald_series_enter(AldSeriesTable *table, AldDatabase *database, AldKeptSeries *series, int64_t day);

/* Returns the id of a series; -ENODATA if it does not exist. */
int ald_series_find(AldDatabase *database, const AldSeriesName *name, uint32_t *ret);

/* Gives up series without samples since this day: some of each node in `refused`, a set of ids, from which
 * these nodes are then removed; and, if there are still nearly as many as allowed, some of the nodes that
 * have the most. All ids must be forgotten afterwards. */
int ald_series_make_room(AldDatabase *database, unsigned max, GHashTable *refused, int64_t day);

/* Drops series beyond a reduced maximum: those that ended first, of the nodes that have the most. Returns 1
 * if there are more to drop, since one call drops only some. */
int ald_series_drop_excess(AldDatabase *database, unsigned max);

/* Removes series without samples since this day. All ids must be forgotten afterwards. */
int ald_series_remove_before(AldDatabase *database, int64_t day);
