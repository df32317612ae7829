/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/model.h"

/* What is measured of a link, made fit to be shown. */

typedef enum AldLinkVerdict {
        ALD_LINK_OK,
        ALD_LINK_UNMEASURED,
        ALD_LINK_UNSTEADY,  /* the rate varies too much to rely on */
        ALD_LINK_SLOW,      /* a direction falls short of what was negotiated */
        ALD_LINK_CHANGED,   /* something changed since, so that the figures may be wrong now */
        ALD_LINK_PARTIAL,   /* one direction could not be measured */
        ALD_LINK_DISTURBED, /* other traffic used the path during the measurement */
        ALD_LINK_STALE,     /* overdue, so that it may not be measured any more */
        ALD_LINK_FAILED,
        ALD_LINK_NODE_GONE, /* an end of it is offline, duplicate or unknown */
} AldLinkVerdict;

/* One record of a link. Numbers are NaN where absent or where they cannot be. */
typedef struct AldLinkInfo {
        bool rdma;
        char *source_id, *sink_id;
        char *source, *sink; /* safe text: names of the nodes */
        char *path;          /* safe text: the address, or the ports */
        char *interface;     /* safe text, or NULL */
        char *type;          /* of both ends of the path; safe text, or NULL */
        double upload, download;
        double upload_interval, download_interval; /* percent: half widths */
        double rtt, jitter;                        /* there and back, ns */
        double measured;                           /* µs, by the clock of the source */
        double now;                                /* the same */
        double share; /* percent of what was negotiated, in the direction that has less of it */
        char *other;  /* other traffic that disturbed the measurement; NULL where unknown */
        AldLinkVerdict verdict;
        const char *gone; /* "offline", "duplicate" or "unknown": what an end of it is, or NULL */
        char *failure;    /* safe text; NULL where it did not fail or the reason is unknown */
        char *changed;    /* safe text: what changed since it was measured, or NULL */
        char *sort_key;
} AldLinkInfo;

void ald_link_info_free(AldLinkInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinkInfo, ald_link_info_free)

/* The AldLinkInfo of each record, by names of source and sink; those that begin or end at a node, where one
 * is given. */
GPtrArray *ald_link_infos(AldModel *model, const AldEntity *node, double now_usec);

/* "ok", "40 % of negotiated", "failed: refused", "node offline", coloured. */
char *ald_link_verdict_text(const AldLinkInfo *info);

/* "±0.4 %"; ALD_ABSENT_TEXT where the interval is unknown. */
char *ald_link_interval_text(double percent);

/* Whether the array Flags of a record or result has this one. */
bool ald_link_has_flag(const json_t *fields, const char *flag);

/* The greater of the other traffic in both directions, or NaN. */
double ald_link_other_traffic(const json_t *fields);

/* The number, or NaN where it is absent or no rate, duration or time could be that. */
double ald_link_amount(const json_t *fields, const char *name);

/* The name of a node by its id, or the begin of an id that is not known. Safe text; NULL for no id. */
char *ald_link_node_name(AldModel *model, const char *id);

/* Whether the greater of two rates is so much more that this is worth a word. */
bool ald_link_is_uneven(double rate, double other);
