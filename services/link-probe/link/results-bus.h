/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/link/results.h"

/* Exports the results as objects below /org/alidade/LinkProbe1. */
typedef struct AldResultsBus AldResultsBus;

int ald_results_bus_new(AldService *service, AldResults *results, AldResultsBus **ret);
void ald_results_bus_free(AldResultsBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldResultsBus, ald_results_bus_free)
