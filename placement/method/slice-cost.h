/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* Equal slices of each layer, as in distributed-llama (its git 8d624a7b). */

/* Returns the largest possible number of slices on n nodes. */
uint32_t ald_slices_max(const AldPlanWorkload *workload, uint32_t n);

/* Returns the bytes of one slice of all layers, of their keys and values, and of the head, plus `beside`
 * bytes. */
uint64_t ald_slices_bytes(
        const AldPlanRequest *request, const AldPlanDevice *device, uint32_t slices, uint64_t beside);

/* Returns the bytes of the smallest slice that is possible on n nodes. */
uint64_t ald_slices_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n);

/* Returns the time of one slice of all layers and of the head in a step. */
double ald_slices_nsec(const AldPlanConstants *constants, const AldPlanDevice *device,
        const AldPlanWorkload *workload, uint32_t slices);

/*
 * The transfers between two of the nodes in a step. The nodes compute one token after the other. For each
 * token they exchange their parts of the activations twice per layer, in blocks of 32 elements with a scale
 * (q80 in nn-network.cpp). Before that, the root sends the activations, and afterwards it receives the slices
 * of the result, both in fp32.
 */
typedef struct AldSliceTransfers {
        double exchanges;      /* number of exchanges in a step, one after the other */
        double exchange_bytes; /* bytes to, and from, each of the others */
        double turns;          /* how often the root sends and receives */
        double start_bytes, end_bytes;
} AldSliceTransfers;

AldSliceTransfers ald_slices_transfers(
        const AldPlanConstants *constants, const AldPlanWorkload *workload, uint32_t slices);
