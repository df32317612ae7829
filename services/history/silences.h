/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "record/schema.h"

/* The nodes and links whose findings cause no notices: see Silence() of org.alidade.History1. Times are
 * CLOCK_REALTIME in µs. */
typedef struct AldSilences AldSilences;

#define ALD_SILENCES_MAX 1000u
#define ALD_SILENCE_REASON_MAX 256u /* bytes */

AldSilences *ald_silences_new(void);
void ald_silences_free(AldSilences *silences);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSilences, ald_silences_free)

/* Adds a silence in place of one with the same nodes. Returns -E2BIG if there are too many, -EINVAL if the
 * row is invalid. */
int ald_silences_add(AldSilences *silences, const AldSilenceRow *row);

/* Removes a silence; -ENOENT if there is none. `peer` is NULL for a silence of a node. */
int ald_silences_remove(AldSilences *silences, const char *node, const char *peer);

/* Removes silences that have ended, and returns whether there were any. */
bool ald_silences_expire(AldSilences *silences, uint64_t now);

/* Returns when the next silence ends by itself; absent if none does. */
uint64_t ald_silences_due(const AldSilences *silences);

/* Returns whether a silence covers the finding. */
bool ald_silences_cover(const AldSilences *silences, const AldFindingRow *finding);

/* Returns the rows (const AldSilenceRow *), oldest first. */
const GPtrArray *ald_silences_rows(const AldSilences *silences);

/* Convert the silences to and from an array of JSON. The second function drops invalid rows and returns their
 * number. */
json_t *ald_silences_to_json(const AldSilences *silences);
unsigned ald_silences_add_json(AldSilences *silences, json_t *array);
