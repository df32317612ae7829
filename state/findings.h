/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/* The worst first. */
typedef enum AldSeverity {
        ALD_SEVERITY_ERROR,
        ALD_SEVERITY_WARNING,
        ALD_SEVERITY_NOTICE,
} AldSeverity;

const char *ald_severity_to_string(AldSeverity severity);

/* What is wrong or odd in the cluster. */
typedef struct AldFinding {
        const char *id; /* stable name of what it is: link-below-negotiated */
        AldSeverity severity;
        char **nodes; /* ids of the nodes concerned; of a link, source and sink */
        char *text;   /* one sentence of plain English, with the names of the nodes */
        char *remedy; /* one sentence, or NULL */
} AldFinding;

/* Of one id at most so many are told; one more, without nodes, then counts the rest. */
#define ALD_FINDINGS_PER_ID 100u

/*
 * All AldFinding, freed with the array: by severity, id, first node and text. They follow from the records,
 * now_realtime (µs) and whether that clock was ever set alone.
 */
GPtrArray *ald_findings_compute(AldStore *store, uint64_t now_realtime, bool clock_is_set);
