/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/*
 * Writes a finding in English from nothing but its row as GetFindings() returns it, so that clients may call
 * this as well as the state service. Rows may come from another version: the result is NULL for an Id that is
 * unknown here, or if an argument that the sentence needs is absent. At most ALD_STRING_MAX bytes; free with
 * g_free().
 */
char *ald_finding_text(const AldFindingRow *row);

/* Formats a CLOCK_REALTIME in µs; NULL if it has no text. ald_finding_text_with_times() is ald_finding_text()
 * with times in this form. */
typedef char *(*AldFindingTime)(uint64_t usec);
char *ald_finding_text_with_times(const AldFindingRow *row, AldFindingTime format_time);

/* Returns how to fix it; NULL also if there is no remedy. */
char *ald_finding_remedy(const AldFindingRow *row);
