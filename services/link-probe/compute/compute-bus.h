/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/device-schedule.h"

/* The record Node1.Compute of this service, and ProbeCompute() of org.alidade.LinkProbe1. */
typedef struct AldComputeBus AldComputeBus;

int ald_compute_bus_new(
        AldService *service, AldComputeManager *manager, AldInhibitors *inhibitors, AldComputeBus **ret);
void ald_compute_bus_free(AldComputeBus *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldComputeBus, ald_compute_bus_free)

/* `userdata` is the AldComputeBus; it is called once more when polkit has answered. */
int ald_compute_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error);
