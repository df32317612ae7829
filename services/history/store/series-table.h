/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "services/history/store/database.h"

/* What a series is of: a field of a record, or a field of a row of it. All may be empty except for the field.
 */
typedef struct AldSeriesName {
        const char *node; /* at most ALD_SERIES_WORD_MAX bytes each */
        const char *kind;
        const char *key;
        const char *field;
} AldSeriesName;

#define ALD_SERIES_WORD_MAX 256u
/* Their number fits into the key of a chunk. */
#define ALD_SERIES_ID_MAX ((1u << 24) - 1)

/* A series that was used lately. */
typedef struct AldKeptSeries {
        AldSeriesName name;
        uint32_t id;      /* in the database; 0: not looked up yet */
        int64_t last_day; /* with a sample, as the database knows it */
        bool refused;     /* the database had no room for it; ald_series_table_forget_ids() tries again */
        unsigned waiting; /* samples that are not in the database yet, as its user counts them */
} AldKeptSeries;

typedef struct AldSeriesTable AldSeriesTable;

AldSeriesTable *ald_series_table_new(void);
void ald_series_table_free(AldSeriesTable *table);

/* Never fails; the series lives until the table is swept while nothing of it waits. */
AldKeptSeries *ald_series_table_get(AldSeriesTable *table, const AldSeriesName *name);

/* NULL if it was not used lately. */
AldKeptSeries *ald_series_table_find(const AldSeriesTable *table, const AldSeriesName *name);
unsigned ald_series_table_size(const AldSeriesTable *table);
/* Removes the series of which no samples wait. */
void ald_series_table_sweep(AldSeriesTable *table);

/* All ids are looked up again: the database is another, or a transaction has failed. */
void ald_series_table_forget_ids(AldSeriesTable *table);

/* How many series the database may have. */
void ald_series_table_limit(AldSeriesTable *table, unsigned max);

/* Looks up the id of the series, and creates it within a transaction if it is new: -E2BIG if there are too
 * many already. Notes that it has a sample of this day. */
int ald_series_enter(AldSeriesTable *table, AldDatabase *database, AldKeptSeries *series, int64_t day);

/* The id of a series that may not be there: -ENODATA. */
int ald_series_find(AldDatabase *database, const AldSeriesName *name, uint32_t *ret);

/* Gives up series without samples since this day: some of each of the nodes in `refused`, a set of their ids,
 * which these leave then; and if there are still nearly as many as there may be, some of the nodes that have
 * the most. All ids are to be forgotten then. */
int ald_series_make_room(AldDatabase *database, unsigned max, GHashTable *refused, int64_t day);

/* Drops those beyond a maximum, the ones that ended first of the nodes that have the most, but some at a
 * time: 1 if more are to be dropped. For when the maximum becomes less. */
int ald_series_drop_excess(AldDatabase *database, unsigned max);

/* Removes those that have no samples since this day. All ids are to be forgotten then. */
int ald_series_remove_before(AldDatabase *database, int64_t day);
