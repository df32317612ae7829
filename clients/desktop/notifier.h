/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/live-cluster.h"

/* Notifies of errors and warnings among the findings of a cluster, and withdraws a notification when its
 * finding ends. Findings that are present at the start are not notified of, nor those that the history
 * service reports when it starts. */
typedef struct AldNotifier AldNotifier;

AldNotifier *ald_notifier_new(GApplication *application, AldLiveCluster *cluster);

/* Withdraws all notifications. */
void ald_notifier_free(AldNotifier *notifier);
