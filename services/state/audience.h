/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "state/store/store.h"

/*
 * Those who are sent signals together: all clients, or one subscriber. A change waits in a queue until the
 * budget allows, and is merged with further changes of the same record; so the interval of each object grows
 * with the cluster, and the bus is never flooded. No bus and no clock: "now" is an argument, CLOCK_MONOTONIC
 * in µs.
 */
#define ALD_SIGNALS_PER_SECOND 200u
/* For all subscribers together; each of their users has an equal share, and each connection an equal share of
 * its user's. */
#define ALD_SIGNALS_PER_SECOND_SUBSCRIBED 2000u

/* What the service derives from the records: each change has a revision, and a signal. */
typedef enum AldDerivedView {
        ALD_DERIVED_TOPOLOGY,
        ALD_DERIVED_FINDINGS,
        ALD_DERIVED_N,
} AldDerivedView;

typedef struct AldAudience {
        char *name; /* the unique name of a subscriber; NULL for everybody */
        uid_t uid;
        GHashTable *notices;           /* AldEntry → AldNotice, for those that are not forgotten */
        GQueue waiting;                /* of AldNotice, through AldNotice.place */
        uint32_t totals;               /* properties of the state itself that wait */
        uint64_t views[ALD_DERIVED_N]; /* revisions that wait; 0: none */
        double per_second;             /* signals */
        double budget;                 /* of signals */
        gint64 filled;                 /* when the budget was last filled */
        gint64 blocked_since;          /* 0: it takes what it is sent */
        bool behind;
} AldAudience;

/* A change of one record that an audience has yet to be notified of. It outlives its entry until then. */
typedef struct AldNotice {
        AldEntry *entry; /* NULL if it is forgotten */
        char *path;      /* only then */
        AldKind kind;
        bool known;      /* whether the audience knows that there is such a record */
        AldRecord *sent; /* the one it knows, or NULL if it must receive all fields */
        GList place;
} AldNotice;

AldAudience *ald_audience_new(const char *name, uid_t uid, gint64 now);
void ald_audience_free(AldAudience *audience);

/* Gives each subscriber among the audiences its share of the signals; after one has come or gone. */
void ald_audiences_share(const GPtrArray *audiences, gint64 now);

/* A record has changed, and was `before`, or will be removed. True if it is the first that waits. */
bool ald_audience_note_change(AldAudience *audience, AldEntry *entry, AldRecord *before);
bool ald_audience_note_removal(AldAudience *audience, AldEntry *entry);

/* Something waits, and the budget allows to send it now. */
bool ald_audience_is_due(AldAudience *audience, gint64 now);
/* It is sent one signal. */
void ald_audience_spend(AldAudience *audience);
/* It does not take what is due. Returns when to try again. */
gint64 ald_audience_note_blocked(AldAudience *audience, gint64 now);
/* When something is due again; ALD_TIMER_NEVER if nothing waits. */
gint64 ald_audience_next(const AldAudience *audience, gint64 now);

/* The first view that waits, which goes before all notices; ALD_DERIVED_N if none does. */
AldDerivedView ald_audience_waiting_view(const AldAudience *audience);
/* Frees a notice that was sent, or need not be. */
void ald_audience_drop(AldAudience *audience, AldNotice *notice);
