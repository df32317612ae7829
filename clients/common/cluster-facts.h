/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"

/* These functions describe the totals of the cluster. They return safe text, to be freed. */

char *ald_cluster_counts(AldModel *model); /* 5 nodes (2 not counted), 1 link */

/* Returns true if devices were measured, but none of them in FP16. */
bool ald_cluster_has_fp32_only(AldModel *model);

/* Returns the compute in FP16, or else in FP32: "165 TFLOPS, 1 device left out: never measured", "1.2 TFLOPS
 * (none measured in FP16)", "–, 1 device left out: install pocl-opencl-icd to measure it". */
char *ald_cluster_compute(AldModel *model);

/* Returns the compute in FP32 beside that in FP16: "1.2 TFLOPS over 2 devices measured in FP32"; NULL if
 * there is none. */
char *ald_cluster_fp32(AldModel *model);

char *ald_cluster_bandwidth(AldModel *model); /* 900 GB/s over GPUs and accelerators */
char *ald_cluster_memory(AldModel *model);    /* 50.0 GiB free of 200 GiB, devices … */

/* Returns "1.84 kW, only parts of 3 nodes, 2 nodes not counted"; NULL if no node reports its
 * power. */
char *ald_cluster_power(AldModel *model);

/* Returns all of these texts as AldFacts. */
GPtrArray *ald_cluster_facts(AldModel *model);
