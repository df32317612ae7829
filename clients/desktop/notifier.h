/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/live-cluster.h"

/* Notifies of errors and warnings among the findings of a cluster, and withdraws a notification when its
 * finding ends. What is there when it begins is not notified of, nor what the history service knows when that
 * starts. */
typedef struct AldNotifier AldNotifier;

AldNotifier *ald_notifier_new(GApplication *application, AldLiveCluster *cluster);

/* Withdraws all of them. */
void ald_notifier_free(AldNotifier *notifier);
