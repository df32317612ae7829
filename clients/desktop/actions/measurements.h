/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/probes/job-run.h"
#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/live/live-cluster.h"

/* The measurements that the user has asked for in a window, with a bar that shows them while they run. */
typedef struct AldMeasurements AldMeasurements;

/* Something to tell the user, as one line of text. */
typedef void (*AldSay)(const char *text, void *userdata);

/* The caller keeps the bus and the cluster. */
AldMeasurements *ald_measurements_new(AldHostBus *bus, AldLiveCluster *cluster, AldSay say, void *userdata);

/* Those under way go on without being shown. */
void ald_measurements_free(AldMeasurements *measurements);

GtkWidget *ald_measurements_bar(AldMeasurements *measurements);

/* Measures the link to the node with this id, or the part of this machine with this id; "": all of them. */
void ald_measurements_start(AldMeasurements *measurements, const AldProbeWords *words, const char *id);
