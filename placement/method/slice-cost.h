/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * Equal slices of each layer, as distributed-llama has them (its git 8d624a7b): the number of nodes is a
 * power of two and at most that of the heads of keys (app.cpp), and divides the vocabulary, the queries,
 * the keys and the inner dimension (llm.cpp), of which a workload states the first only.
 */
bool ald_slices_are_possible(const AldPlanWorkload *workload, uint32_t slices);

/* The largest possible number of slices that n nodes can have. */
uint32_t ald_slices_max(const AldPlanWorkload *workload, uint32_t n);

/* Bytes of one slice of all layers, of their keys and values, and of the head, and `beside` bytes besides. */
uint64_t ald_slices_bytes(
        const AldPlanRequest *request, const AldPlanDevice *device, uint32_t slices, uint64_t beside);

/* Of the smallest slice that n nodes can have. */
uint64_t ald_slices_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t n);

/* What one slice of all layers and of the head takes in a step. */
double ald_slices_nsec(const AldPlanConstants *constants, const AldPlanDevice *device,
        const AldPlanWorkload *workload, uint32_t slices);

/*
 * What passes between two of the nodes in a step: the nodes compute one token after the other, for each of
 * which they exchange their parts of the activations twice in a layer, in blocks of 32 elements with a scale
 * (q80 in nn-network.cpp); before, the root sends the activations, and afterwards it receives the slices of
 * the result, both in fp32.
 */
typedef struct AldSliceTransfers {
        double exchanges;      /* in a step, one after the other */
        double exchange_bytes; /* to each of the others, and from each */
        double turns;          /* times that the root sends and receives */
        double start_bytes, end_bytes;
} AldSliceTransfers;

AldSliceTransfers ald_slices_transfers(
        const AldPlanConstants *constants, const AldPlanWorkload *workload, uint32_t slices);
