/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/live-cluster.h"

/* A list of when findings began and ended, as the history service of the machine has recorded it. */
typedef struct AldEventList AldEventList;

/* Called from the main loop after the list was read or reading failed, or the connection has ended. */
typedef void (*AldEventListChanged)(void *userdata);

AldEventList *ald_event_list_new(AldLiveCluster *cluster, AldEventListChanged changed, void *userdata);
void ald_event_list_free(AldEventList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldEventList, ald_event_list_free)

/* Begins to read the findings that began, lasted or ended in the last `usec`. Returns false without a
 * connection. */
bool ald_event_list_read(AldEventList *list, guint64 usec);

/* Empties the list, and cancels reading it. */
void ald_event_list_clear(AldEventList *list);

/* Returns AldFindingItems with their periods, the latest first. The model lasts as long as the list. */
GListModel *ald_event_list_model(AldEventList *list);

/* Returns whether the service has answered. */
bool ald_event_list_is_read(AldEventList *list);

/* Returns why the list could not be read, in words; NULL if it was read. */
const char *ald_event_list_failure(AldEventList *list);

/* Returns whether later events are missing because there were too many. */
bool ald_event_list_is_truncated(AldEventList *list);
