/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "state/store/store.h"

/*
 * Clients that are sent signals together: all clients, or one subscriber. A change waits in a queue until the
 * budget allows a signal, and is merged with further changes of the same record; so the interval of each
 * object grows with the cluster, and the bus is never flooded. There is no bus and no clock here: "now" is an
 * argument, CLOCK_MONOTONIC in µs.
 */
#define ALD_SIGNALS_PER_SECOND 200u
/* The limit for all subscribers together. Each of their users has an equal share, and each connection an
 * equal share of its user's. */
#define ALD_SIGNALS_PER_SECOND_SUBSCRIBED 2000u

/* The views that the service derives from the records. Each change of a view has a revision, and a signal. */
typedef enum AldDerivedView {
        ALD_DERIVED_TOPOLOGY,
        ALD_DERIVED_FINDINGS,
        ALD_DERIVED_N,
} AldDerivedView;

typedef struct AldAudience {
        char *name; /* the unique name of a subscriber; NULL for all clients */
        uid_t uid;
        GHashTable *notices;           /* AldEntry → AldNotice, for entries that are not forgotten */
        GQueue waiting;                /* of AldNotice, through AldNotice.place */
        uint32_t totals;               /* properties of the state itself that wait */
        uint64_t views[ALD_DERIVED_N]; /* revisions that wait; 0: none */
        double per_second;             /* signals */
        double budget;                 /* of signals */
        gint64 filled;                 /* when the budget was last filled */
        gint64 blocked_since;          /* 0: not blocked */
        bool behind;
} AldAudience;

/* A change of one record that an audience has yet to be notified of. It may outlive its entry. */
typedef struct AldNotice {
        AldEntry *entry; /* NULL if the entry is forgotten */
        char *path;      /* of the entry, if that is forgotten */
        AldKind kind;
        bool known;      /* the audience knows that there is such a record */
        AldRecord *sent; /* the record that it knows, or NULL if it must receive all fields */
        GList place;
} AldNotice;

AldAudience *ald_audience_new(const char *name, uid_t uid, gint64 now);
void ald_audience_free(AldAudience *audience);

/* Gives each subscriber among the audiences its share of the signals. Call it when one was added or
 * removed. */
void ald_audiences_share(const GPtrArray *audiences, gint64 now);

/* These note that a record has changed, and was `before`, or that it will be removed. They return true if
 * this is the first change that waits. */
bool ald_audience_note_change(AldAudience *audience, AldEntry *entry, AldRecord *before);
bool ald_audience_note_removal(AldAudience *audience, AldEntry *entry);

/* Returns whether something waits, and the budget allows it to be sent now. */
bool ald_audience_is_due(AldAudience *audience, gint64 now);
/* Deducts one signal, which is sent to the audience, from its budget. */
void ald_audience_spend(AldAudience *audience);
/* Notes that the audience cannot be sent what is due. Returns when to try again. */
gint64 ald_audience_note_blocked(AldAudience *audience, gint64 now);
/* Returns when something is due again; ALD_TIMER_NEVER if nothing waits. */
gint64 ald_audience_next(const AldAudience *audience, gint64 now);

/* Returns the first view that waits, which is sent before all notices; ALD_DERIVED_N if none does. */
AldDerivedView ald_audience_waiting_view(const AldAudience *audience);
/* Frees a notice that was sent, or need not be sent. */
void ald_audience_drop(AldAudience *audience, AldNotice *notice);
