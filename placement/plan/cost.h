/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * The cost of a step, in which each of the parallel requests gets a token. All times are ns.
 */

/*
 * Returns the time of one layer on a device: the longer of reading (the weights that all tokens need, and
 * keys and values of all requests, at the measured rate times an efficiency) and computing (2 operations for
 * each parameter and token, at the measured rate times an efficiency), plus a constant. NAN if either rate
 * was never measured.
 */
double ald_plan_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Returns the same for the processor of a star's client. */
double ald_plan_client_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Returns whether the name of the device's vendor begins with this, ignoring case. */
bool ald_plan_is_of_vendor(const AldPlanDevice *device, const char *vendor);

/* Returns whether computing a layer takes longer than reading it. */
bool ald_plan_is_computing_longer(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);
bool ald_plan_client_is_computing_longer(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Returns the time of the product with the head after the last layer. */
double ald_plan_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);
double ald_plan_client_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Selects, for a given number of consecutive layers, which layers of the model they are. */
typedef enum AldPlanLayerRun {
        ALD_PLAN_RUN_SMALLEST, /* the run of this length that takes the least memory */
        ALD_PLAN_RUN_LARGEST,
        ALD_PLAN_RUN_FIRST, /* from the first layer on */
        ALD_PLAN_RUN_LAST,  /* up to the last layer */
} AldPlanLayerRun;

/* Returns the bytes of the weights, keys and values of such a run. */
uint64_t ald_plan_layers_bytes(const AldPlanRequest *request, AldPlanLayerRun run, uint32_t layers);

/* Returns the bytes that `layers` layers need at least on a device whose stage also holds `beside` bytes,
 * such as the head or the embedding, and computes in `buffers` bytes. */
uint64_t ald_plan_stage_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers,
        uint64_t beside, double buffers);

/* Returns the part of these bytes that is kept free. */
double ald_plan_reserved_bytes(const AldPlanConstants *constants, const AldPlanDevice *device);

/* Returns the bytes that are free on a device for layers; less than 0 if what it holds besides does not fit,
 * 0 if its free memory is unknown. */
double ald_plan_layers_room(
        const AldPlanRequest *request, const AldPlanDevice *device, uint64_t beside, double buffers);

/* Returns how many layers fit into this room. */
uint32_t ald_plan_layers_max(const AldPlanRequest *request, AldPlanLayerRun run, double room);

/* Returns the cells for keys and values of a request, rounding its context up as llama.cpp does. */
double ald_plan_cells(const AldPlanWorkload *workload);

/* Returns the bytes that pass from one layer to the next in a step. */
double ald_plan_activation_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload);

/* Returns the bytes that the last stage of a ring sends to the first one in a step: the token of each
 * request. */
double ald_plan_token_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload);

/* Returns the bytes that a client sends to a device in a step: the activations, several times if the device
 * has the first layer; the fp16 mask of the context tokens that count, padded as in llama.cpp; and the rest
 * of the messages. */
double ald_plan_star_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload, bool is_first);

/* Returns the bytes of the result of the last stage in a step: fp32 for each token of the vocabulary. */
double ald_plan_result_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload);

/* Returns the time of half a round trip and of the transfer of `bytes` bytes. INFINITY if either figure was
 * never measured. */
double ald_plan_path_nsec(const AldPlanPath *path, double bytes);
