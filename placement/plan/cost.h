/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * What a step costs, in which each of the parallel requests gets a token. All times are ns.
 */

/*
 * Of one layer on a device: the longer one of reading (weights of all tokens, keys and values of all
 * requests, by the measured rate times an efficiency) and of computing (2 operations for each parameter and
 * token, by the measured rate times an efficiency), and a constant. NAN if either rate was never measured.
 */
double ald_plan_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* The same on the processor of the client of a star. */
double ald_plan_client_layer_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Returns whether the name of the device's vendor begins with this, in any case of letters. */
bool ald_plan_is_of_vendor(const AldPlanDevice *device, const char *vendor);

/* Whether that is decided by computing. */
bool ald_plan_is_computing_longer(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);
bool ald_plan_client_is_computing_longer(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Of the product with the head after the last layer. */
double ald_plan_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);
double ald_plan_client_head_nsec(
        const AldPlanConstants *constants, const AldPlanDevice *device, const AldPlanWorkload *workload);

/* Which layers of the model a number of them are that follow each other. */
typedef enum AldPlanLayerRun {
        ALD_PLAN_RUN_SMALLEST, /* of any as long: no others take less */
        ALD_PLAN_RUN_LARGEST,
        ALD_PLAN_RUN_FIRST, /* from the first layer on */
        ALD_PLAN_RUN_LAST,  /* up to the last layer */
} AldPlanLayerRun;

/* Bytes of their weights, keys and values. */
uint64_t ald_plan_layers_bytes(const AldPlanRequest *request, AldPlanLayerRun run, uint32_t layers);

/* Bytes that `layers` layers need on a device at least, with `beside` bytes for what the stage holds besides:
 * the head, or the embedding; and `buffers` to compute in. */
uint64_t ald_plan_stage_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers,
        uint64_t beside, double buffers);

/* Of these, what is left alone. */
double ald_plan_reserved_bytes(const AldPlanConstants *constants, const AldPlanDevice *device);

/* What is free on it for layers; less than 0 if what it holds besides does not fit, 0 if it is not known. */
double ald_plan_layers_room(
        const AldPlanRequest *request, const AldPlanDevice *device, uint64_t beside, double buffers);

/* How many layers fit into that much. */
uint32_t ald_plan_layers_max(const AldPlanRequest *request, AldPlanLayerRun run, double room);

/* Cells for keys and values of a request, as llama.cpp rounds its context up. */
double ald_plan_cells(const AldPlanWorkload *workload);

/* Bytes that pass from one layer to the next in a step. */
double ald_plan_activation_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload);

/* Bytes that the last stage of a ring sends to the first one in a step: the token of each request. */
double ald_plan_token_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload);

/* Bytes that a client sends to a device in a step: activations, several times if the device has the first
 * layer, the mask of fp16 that says which tokens of
 * the context count (padded as llama.cpp does), and the rest of the messages. */
double ald_plan_star_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload, bool is_first);

/* Bytes of the result that the last stage returns in a step: fp32 for each token of the vocabulary. */
double ald_plan_result_bytes(const AldPlanConstants *constants, const AldPlanWorkload *workload);

/* Half of the round trip, and the transfer of `bytes` bytes. INFINITY if either was never measured. */
double ald_plan_path_nsec(const AldPlanPath *path, double bytes);
