/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"

/* Describe the totals of the cluster: safe text, to be freed. */

char *ald_cluster_counts(AldModel *model); /* 5 nodes (2 not counted), 1 link */

/* True if devices were measured, but none of them in FP16. */
bool ald_cluster_has_fp32_only(AldModel *model);

/* The compute of FP16, or else of FP32: "165 TFLOPS, 1 device left out: never measured", "1.2 TFLOPS (none
 * measured in FP16)", "–, 1 device left out: install pocl-opencl-icd to measure it". */
char *ald_cluster_compute(AldModel *model);

/* Compute of FP32 beside FP16: "1.2 TFLOPS over 2 devices measured in FP32"; NULL if there is none. */
char *ald_cluster_fp32(AldModel *model);

char *ald_cluster_bandwidth(AldModel *model); /* 900 GB/s over GPUs and accelerators */
char *ald_cluster_memory(AldModel *model);    /* 50.0 GiB free of 200 GiB, devices … */

/* All of them, as AldFacts. */
GPtrArray *ald_cluster_facts(AldModel *model);
