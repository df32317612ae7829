/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "record/record.h"

/* Orders the versions of a record: the state service of the source counts seq, and starts a new epoch if it
 * may have lost count. */
typedef struct AldStamp {
        uint64_t epoch;
        uint64_t seq;
} AldStamp;

/* Compares like the function that qsort() takes. */
static inline int ald_stamp_compare(const AldStamp *a, const AldStamp *b)
{
        if (a->epoch != b->epoch)
                return a->epoch < b->epoch ? -1 : 1;
        return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* A record as it travels between daemons. */
typedef struct AldUpdate {
        AldId node;
        AldKind kind;
        const char *key; /* "" for kinds of nodes; see record/record-key.h for links */
        AldStamp stamp;
        uint64_t updated_usec; /* CLOCK_REALTIME of the source */
        AldRecord *record;     /* NULL: deleted */
} AldUpdate;
