/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/history/history-view.h"

/* History for other programs: figures as they were recorded, in the units of the interfaces. */

/* An object of the times, the ids and names of the nodes, Series and Events. */
json_t *ald_history_to_json(const AldHistoryView *view);

/* A header and a row for each point, as RFC 4180 has it, in UTF-8. */
void ald_history_append_csv(GString *out, const AldHistoryView *view);
