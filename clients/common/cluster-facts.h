/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/facts.h"
#include "state-client/model.h"

/* Describe the totals of the cluster: safe text, to be freed. */

char *ald_cluster_counts(AldModel *model);    /* 5 nodes (2 not counted), 1 link */
char *ald_cluster_tflops(AldModel *model);    /* 165 TFLOPS, 1 device left out (1 never measured) */
char *ald_cluster_bandwidth(AldModel *model); /* 900 GB/s over GPUs and accelerators */
char *ald_cluster_memory(AldModel *model);    /* 50.0 GiB free of 200 GiB, devices … */

/* All of them, as AldFacts. */
GPtrArray *ald_cluster_facts(AldModel *model);
