/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "record/schema.h"

/* Nodes and links whose findings cause no notices: see Silence() of org.alidade.History1. Times are
 * CLOCK_REALTIME in µs. */
typedef struct AldSilences AldSilences;

#define ALD_SILENCES_MAX 1000u
#define ALD_SILENCE_REASON_MAX 256u /* bytes */

AldSilences *ald_silences_new(void);
void ald_silences_free(AldSilences *silences);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSilences, ald_silences_free)

/* Replaces one of the same nodes. -E2BIG if there are too many, -EINVAL if the row is not valid. */
int ald_silences_add(AldSilences *silences, const AldSilenceRow *row);

/* -ENOENT if there is none; `peer` is NULL for that of a node. */
int ald_silences_remove(AldSilences *silences, const char *node, const char *peer);

/* Removes those that have ended; true if there were any. */
bool ald_silences_expire(AldSilences *silences, uint64_t now);

/* When the next one ends by itself; absent if none does. */
uint64_t ald_silences_due(const AldSilences *silences);

/* Whether one covers the finding. */
bool ald_silences_cover(const AldSilences *silences, const AldFindingRow *finding);

/* Rows (const AldSilenceRow *), the oldest first. */
const GPtrArray *ald_silences_rows(const AldSilences *silences);

/* As an array of JSON, and back: rows that are not valid are dropped, and counted in the result. */
json_t *ald_silences_to_json(const AldSilences *silences);
unsigned ald_silences_add_json(AldSilences *silences, json_t *array);
