/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "record/schema.h"
#include "state-client/model.h"

/* Returns an overview of a node, as AldFacts: model, processor, system, memory, load, devices, network,
 * disks, and when it was seen (now_usec is CLOCK_REALTIME). */
GPtrArray *ald_node_facts(const AldEntity *node, double now_usec);

/* These describe the performance of a compute device, from its row in Node1.Compute or in the result of a
 * job. */

/* Returns "82.6 TFLOPS FP16, 1.01 TB/s memory bandwidth, unstable": the matrix product with its precision,
 * and the flags that limit its reliability; empty if nothing is known. Safe text. */
char *ald_compute_glance(const AldComputeDevice *row);

/* Returns all figures of the device, as AldFacts; its `name` may be NULL. */
GPtrArray *ald_compute_facts(const AldComputeDevice *row, const char *name);
