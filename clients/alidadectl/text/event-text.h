/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/finding-columns.h"
#include "clients/common/finding-history.h"

/* Describes events of findings as styled text, in lines that all have the columns of the header. */

/* Formats CLOCK_REALTIME in µs as local time: "2026-11-26 14:30:05". */
char *ald_event_time(uint64_t usec);

void ald_event_text_append_header(GString *out);

/* Returns the event as a row, with times in this form. */
AldFindingListRow ald_event_row(const AldFindingEvent *event, uint64_t now_usec);

/* Appends two lines or more: when the finding began and ended, how long it lasted, and its sentence. While it
 * lasts, `lasting`, if not NULL, takes the place of its end. */
void ald_event_text_append(GString *out, const AldFindingListRow *row, const char *lasting, unsigned columns);
