/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"

/* Summarizes the measurements of a link, with a verdict that agrees with the findings and the connection
 * graph. */

typedef enum AldLinkVerdict {
        ALD_LINK_VERDICT_OK,
        ALD_LINK_VERDICT_UNMEASURED,
        ALD_LINK_VERDICT_UNSTEADY,   /* the rate varies too much to rely on */
        ALD_LINK_VERDICT_SUSPECT,    /* the link carried far more shortly before the measurement */
        ALD_LINK_VERDICT_ASYMMETRIC, /* one direction is more than twice as fast as the other */
        ALD_LINK_VERDICT_SLOW,       /* a direction falls short of what was negotiated */
        ALD_LINK_VERDICT_CHANGED,    /* something has changed since, so the figures may be wrong now */
        ALD_LINK_VERDICT_PARTIAL,    /* one direction could not be measured */
        ALD_LINK_VERDICT_DISTURBED,  /* other traffic used the path during the measurement */
        ALD_LINK_VERDICT_OVERDUE,    /* long past due; perhaps no longer measured */
        ALD_LINK_VERDICT_FAILED,
        ALD_LINK_VERDICT_NODE_STALE,    /* one end has been silent for a while */
        ALD_LINK_VERDICT_UNUSABLE,      /* at present, according to one end: no carrier, for example */
        ALD_LINK_VERDICT_NODE_EXCLUDED, /* one end is offline, duplicate or unknown */
} AldLinkVerdict;

/* The figures of one direction of a link. */
typedef struct AldDirectionSummary {
        double rate;     /* bits per second */
        double interval; /* percent: half width */
} AldDirectionSummary;

/* One record of a link. Numbers are NaN if absent. */
typedef struct AldLinkSummary {
        bool rdma;
        char *source_id, *sink_id;
        char *key;           /* of its record; NULL if there is none */
        char *source, *sink; /* safe text: names of the nodes */
        char *path;          /* safe text: the address, or the ports */
        char *interface;     /* safe text, or NULL */
        char *type;          /* of both ends of the path; safe text, or NULL */
        union {
                AldDirectionSummary directions[2];
                struct {
                        AldDirectionSummary upload, download; /* from source to sink, and back */
                };
        };
        double rtt, jitter; /* round trip, ns */
        double measured;    /* µs, by the source's clock */
        double now;         /* the same */
        double share;       /* percent of the negotiated speed, in the slower direction */
        char *other;        /* other traffic that disturbed the measurement; NULL if unknown */
        AldLinkVerdict verdict;
        const char *excluded; /* "offline", "duplicate" or "unknown": the state of one end, or NULL */
        bool node_stale;      /* one end has been silent for a while */
        bool unusable;        /* the path, at present, by the connection graph */
        char *obstacle;       /* safe text: why, if an end reports it, or NULL */
        char *failure;        /* safe text; NULL if it did not fail, or for an unknown reason */
        char *changed;        /* safe text: what has changed since the measurement, or NULL */
        double due; /* of an unmeasured path: when it will be measured, in µs by the source's clock; NaN: as
                       soon as possible, or not at all */
        bool will_be_measured; /* whether an unmeasured path will be measured */
        char *sort_key;
} AldLinkSummary;

void ald_link_summary_free(AldLinkSummary *summary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinkSummary, ald_link_summary_free)

/* Returns the AldLinkSummary of each record, sorted by the names of source and sink; only of links that begin
 * or end at a node, if one is given. Without the connection graph in the model, links that cannot be used at
 * present are not recognized. now_usec is CLOCK_REALTIME. */
GPtrArray *ald_link_summaries(AldModel *model, const AldEntity *node, double now_usec);

/* Returns the summaries of all nodes' links, and of each path of the connection graph that nobody has tried
 * yet. */
GPtrArray *ald_link_summaries_with_untried(AldModel *model, double now_usec);

/* Returns "ok", "40 % of negotiated", "failed: refused" or "node offline", for example. Safe text, to be
 * freed. */
char *ald_link_verdict_words(const AldLinkSummary *summary, AldTone *ret_tone);

/* Returns the links that begin or end at a node (const AldEntity *); all links for NULL. */
GPtrArray *ald_links_of(AldModel *model, const AldEntity *node);
