/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/findings/findings.h"

/* When findings are looked for. */
#define FINDINGS_NOW (UINT64_C(100) * 3600 * 1000 * 1000)
#define FINDINGS_CONTEXT (&(const AldFindingContext){ .real = FINDINGS_NOW, .clock_is_set = true })

/* The nth of its id, from 0 on, or NULL; how many there are. */
const AldFindingRow *findings_find(GPtrArray *findings, const char *id, guint nth);
guint findings_count(GPtrArray *findings, const char *id);

/* The same of what is found now. */
guint findings_count_now(AldStore *store, const char *id);

/* The only finding of its Id must be this, and all that are found must pass findings_check_words(). `nodes`
 * ends with 0. */
void findings_check(AldStore *store, const char *id, AldFindingRowSeverity severity, const unsigned *nodes,
        const char *text, const char *remedy);

#define NODES(...) ((const unsigned[]){ __VA_ARGS__, 0 })

/* What a client makes of the rows that it receives is what came with them. */
void findings_check_words(GPtrArray *findings);

void findings_name_node(AldStore *store, unsigned node, const char *name);

/* This node and two more: one, two and three. */
AldStore *findings_named_store(void);
