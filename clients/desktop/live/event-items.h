/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/live-cluster.h"

/* When findings began and ended, as the history service of the machine has recorded it. */
typedef struct AldEventList AldEventList;

/* Called from the main loop after the list was read, or could not be, or there is no connection any more. */
typedef void (*AldEventListChanged)(void *userdata);

AldEventList *ald_event_list_new(AldLiveCluster *cluster, AldEventListChanged changed, void *userdata);
void ald_event_list_free(AldEventList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldEventList, ald_event_list_free)

/* Reads what began, lasted or ended in this time before now. False without a connection. */
bool ald_event_list_read(AldEventList *list, guint64 usec);

/* Leaves nothing: what was read, or is, is not wanted any more. */
void ald_event_list_clear(AldEventList *list);

/* AldFindingItems with their periods, the last one first. Lasts as long as the list. */
GListModel *ald_event_list_model(AldEventList *list);

/* Whether the service has answered. */
bool ald_event_list_is_read(AldEventList *list);

/* Why it could not be read, in words; NULL if it was. */
const char *ald_event_list_failure(AldEventList *list);

/* Whether later ones are missing, as there were too many. */
bool ald_event_list_is_cut(AldEventList *list);
