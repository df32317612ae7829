/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/computing.h"

/* The record Node1.Compute of this service, and ProbeCompute() of org.alidade.LinkProbe1. */
typedef struct AldComputingBus AldComputingBus;

int ald_computing_bus_new(
        AldService *service, AldComputing *computing, AldInhibitors *inhibitors, AldComputingBus **ret);
void ald_computing_bus_free(AldComputingBus *self);

/* `userdata` is the AldComputingBus; it is called once more when polkit has answered. */
int ald_computing_bus_handle(sd_bus_message *message, void *userdata, sd_bus_error *error);
