/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link/results.h"
#include "services/link-probe/probe/row-results.h"

/* Exports the results: of links as objects below /org/alidade/LinkProbe1, of devices as its records. */
typedef struct AldResultsBus AldResultsBus;

int ald_results_bus_new(
        AldService *service, AldResults *results, AldComputeResults *devices, AldResultsBus **ret);
void ald_results_bus_free(AldResultsBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldResultsBus, ald_results_bus_free)
