/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/probes/job-run.h"
#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/live/live-cluster.h"

/* The measurements started by the user in a window, with a bar that shows them while they run. */
typedef struct AldMeasurements AldMeasurements;

/* Shows the user one line of text. */
typedef void (*AldShowMessage)(const char *text, void *userdata);

/* The bus and the cluster must outlive this. */
AldMeasurements *ald_measurements_new(
        AldHostBus *bus, AldLiveCluster *cluster, AldShowMessage say, void *userdata);

/* Running measurements continue without being shown. */
void ald_measurements_free(AldMeasurements *measurements);

GtkWidget *ald_measurements_bar(AldMeasurements *measurements);

/* Measures the link to the node with this id, or the device of this machine with this id; "" for all devices.
 */
void ald_measurements_start(AldMeasurements *measurements, const AldProbeWords *words, const char *id);
