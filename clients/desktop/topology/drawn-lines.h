/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/topology-summary.h"
#include "clients/desktop/layout/labels.h"

/* The lines between nodes as they are drawn: one for each way in which two nodes are joined. */

typedef enum AldLineKind {
        ALD_LINE_SOCKET,
        ALD_LINE_RDMA,
        ALD_LINE_CABLE, /* used by nothing else: Thunderbolt without addresses, or an LLDP neighbour */
        ALD_N_LINE_KINDS,
} AldLineKind;

/* The gravest problem of a line, in order of severity. */
typedef enum AldLineTrouble {
        ALD_LINE_TROUBLE_ERROR, /* a finding of this severity */
        ALD_LINE_TROUBLE_WARNING,
        ALD_LINE_TROUBLE_NOTICE, /* a finding of this severity, or a direction that is much slower */
        ALD_LINE_TROUBLE_NONE,
} AldLineTrouble;

/* Determines the width of a label: that of the widest figure of a kind, so that changed figures move nothing,
 * or that of its words. */
typedef enum AldLabelRuler {
        ALD_RULER_RATE,
        ALD_RULER_DELAY,
        ALD_RULER_IP_DELAY,
        ALD_RULER_RDMA_DELAY,
        ALD_N_RULERS,
        ALD_RULER_WORDS = ALD_N_RULERS,
} AldLabelRuler;

/* A line from node a to node b, which are indices in the summary. Unknown figures are ALD_ABSENT_UINT64. */
typedef struct AldDrawnLine {
        unsigned a, b;
        AldLineKind kind;
        unsigned lane, n_lanes;
        AldEdgeRowPresence presence; /* the best of its paths */
        AldLineTrouble trouble;
        bool asymmetric;
        bool planned;                   /* the plan that is shown transfers data over it */
        uint64_t there, back;           /* bits per second; the best of the paths with this presence */
        uint64_t rtt;                   /* ns; the least of these paths */
        char *texts[ALD_N_LABEL_KINDS]; /* of the labels; NULL: no label */
        AldLabelRuler rulers[ALD_N_LABEL_KINDS];
        uint64_t measured_usec; /* CLOCK_REALTIME of the newest rate */
        char *verdict;          /* words of the gravest finding; NULL: none */
        char *words;            /* describes the line for screen readers */
} AldDrawnLine;

void ald_drawn_line_free(AldDrawnLine *line);

/* Returns the same words with the age of the figures, for a tooltip. */
char *ald_drawn_line_tooltip(const AldDrawnLine *line, double now_usec);

/* Returns an array of AldDrawnLine, sorted by a, b and kind. The findings are AldFindingRows, or NULL. */
GPtrArray *ald_drawn_lines(
        const AldTopologySummary *summary, const AldTopology *topology, const AldRows *findings);

/* Returns lines of text, the widest of which is as wide as such a figure can become. Not for ALD_RULER_WORDS.
 */
char *ald_label_ruler_text(AldLabelRuler ruler);

/* Returns whether both have the same lines with the same labels, whatever the figures in these. */
bool ald_drawn_lines_are_alike(const GPtrArray *a, const GPtrArray *b);

/* Returns whether lines that are alike are also drawn alike. */
bool ald_drawn_lines_look_alike(const GPtrArray *a, const GPtrArray *b);
