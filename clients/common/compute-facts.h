/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/facts.h"
#include "record/schema.h"

/* What a compute device delivered, in words, from its row in Node1.Compute or in the result of a job. */

/* "82.6 TFLOPS FP16, 1.01 TB/s memory bandwidth, unstable": the product by its precision, and what limits the
 * trust; empty where nothing is known. Safe text. */
char *ald_compute_glance(const AldComputeDevice *row);

/* All that is known of it, as AldFacts; `name` of the device may be NULL. */
GPtrArray *ald_compute_facts(const AldComputeDevice *row, const char *name);
