/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "record/record.h"

/* Records for tests. Randomness is that of g_test_rand_int(), so that --seed repeats a run. */

/* As ald_record_new(), which must succeed. */
AldRecord *record_make(AldKind kind, const void *fields);

/*
 * Fields are absent often, and values come from few, among them those at the limits and those that cannot be
 * said, so that collisions are many. Source and Sink of links are random as well.
 */
AldRecord *record_random(AldKind kind);

/* The same, fit for a key of the node. */
AldRecord *record_random_for(AldKind kind, const AldId *node, const char *key);

/* Node number n > 0. */
AldId id_make(unsigned n);
/* The same as text, until the end of the block. */
#define ID_TEXT(n) ald_id_format((AldId[]){ id_make(n) }, (char[ALD_ID_STRING_SIZE]){ "" })

/* Key number n of a link to a node. */
char *key_make(AldKind kind, const AldId *sink, unsigned n);

/* Two records that agree by comparison also agree in every byte, except for their envelopes. */
void records_assert_same(const AldRecord *a, const AldRecord *b);
