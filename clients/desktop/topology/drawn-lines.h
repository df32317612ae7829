/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/topology-summary.h"
#include "clients/desktop/layout/labels.h"

/* The lines between nodes as they are drawn: one for each way in which two nodes are joined. */

typedef enum AldLineKind {
        ALD_LINE_SOCKET,
        ALD_LINE_RDMA,
        ALD_LINE_CABLE, /* that nothing else uses: Thunderbolt without addresses, or a neighbour by LLDP */
        ALD_N_LINE_KINDS,
} AldLineKind;

/* What is wrong with it, the worst first. */
typedef enum AldLineTrouble {
        ALD_LINE_TROUBLE_ERROR, /* a finding of this severity */
        ALD_LINE_TROUBLE_WARNING,
        ALD_LINE_TROUBLE_NOTICE, /* the same; or much faster in one direction */
        ALD_LINE_TROUBLE_NONE,
} AldLineTrouble;

/* What gives a label its width: the widest figure of a kind, so that no figure moves anything, or its words.
 */
typedef enum AldLabelRuler {
        ALD_RULER_RATE,
        ALD_RULER_DELAY,
        ALD_RULER_IP_DELAY,
        ALD_RULER_RDMA_DELAY,
        ALD_N_RULERS,
        ALD_RULER_WORDS = ALD_N_RULERS,
} AldLabelRuler;

/* From node a to node b, which are indices of the summary. Absent if unknown. */
typedef struct AldDrawnLine {
        unsigned a, b;
        AldLineKind kind;
        unsigned lane, n_lanes;
        AldEdgeRowPresence presence; /* the best of its paths */
        AldLineTrouble trouble;
        bool asymmetric;
        bool planned;                   /* a plan that is shown transfers over it */
        uint64_t there, back;           /* bits per second: the best of the paths of this presence */
        uint64_t rtt;                   /* ns: the least of them */
        char *texts[ALD_N_LABEL_KINDS]; /* of its labels; NULL: none */
        AldLabelRuler rulers[ALD_N_LABEL_KINDS];
        uint64_t measured_usec; /* the newest of them, CLOCK_REALTIME */
        char *verdict;          /* of the gravest finding; NULL: none */
        char *words;            /* all of it, for a screen reader */
} AldDrawnLine;

void ald_drawn_line_free(AldDrawnLine *line);

/* The same words with the age of the figures, for people who point at it; to be freed. */
char *ald_drawn_line_tooltip(const AldDrawnLine *line, double now_usec);

/* An array of AldDrawnLine by a, b and kind. The findings are AldFindingRows, or NULL. */
GPtrArray *ald_drawn_lines(
        const AldTopologySummary *summary, const AldTopology *topology, const AldRows *findings);

/* Lines of text, of which the widest is as wide as such a figure becomes; to be freed. Not of words. */
char *ald_label_ruler_text(AldLabelRuler ruler);

/* Whether the same lines have the same labels, whatever the figures in these are. */
bool ald_drawn_lines_are_alike(const GPtrArray *a, const GPtrArray *b);

/* Of lines that are alike: whether they are drawn in the same way as well. */
bool ald_drawn_lines_look_alike(const GPtrArray *a, const GPtrArray *b);
