/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/finding-columns.h"
#include "clients/common/finding-history.h"

/* Events of findings as styled text, in lines that all have the columns of the header. */

/* "2026-11-26 14:30:05": CLOCK_REALTIME in µs as local time. */
char *ald_event_time(uint64_t usec);

void ald_event_text_append_header(GString *out);

/* The event as a row, with times in this form. */
AldFindingListRow ald_event_row(const AldFindingEvent *event, uint64_t now_usec);

/* Two lines or more: when it began and ended, how long it lasted, and its sentence. While it lasts,
 * `lasting`, if it is not NULL, stands in the place of its end. */
void ald_event_text_append(GString *out, const AldFindingListRow *row, const char *lasting, unsigned columns);
