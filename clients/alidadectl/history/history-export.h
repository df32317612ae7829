/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/history/history-view.h"

/* Writes history for other programs: figures as they were recorded, in the units of the interfaces. */

/* Returns an object with the times, the ids and names of the nodes, Series and Events. */
json_t *ald_history_to_json(const AldHistoryView *view);

/* Appends a header and a row for each point, in the format of RFC 4180 and in UTF-8. */
void ald_history_append_csv(GString *out, const AldHistoryView *view);
