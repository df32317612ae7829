/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * What llama.cpp needs to compute in beside weights, keys and values, with flash attention: as its log says
 * for 14 shapes of models, or more where the room that its allocator cannot use again differs between them.
 * Not for experts' ids and the like.
 */

/* Returns true if they are known: for an engine with such buffers, if the workload states all that they
 * depend on and the request does not state BufferBytes. If not, each has the size of BufferBytes. */
bool ald_plan_buffers_are_known(const AldPlanRequest *request);

/* Copies of the inputs: several if servers compute at the same time in prefill, which they do if there are
 * several and the client has no layers. */
#define ALD_PLAN_COPIES_MAX 4u

/* What a device with layers has to do. */
typedef struct AldPlanBufferUse {
        uint32_t layers; /* 0: not known yet, which is taken as the number that needs most */
        uint32_t copies;
        bool is_client; /* its processor, which has the first layers then */
        bool is_first;  /* a server, or a GPU of the client, with the first layer */
        bool has_head;
        bool may_be_last; /* may have the last layer */
} AldPlanBufferUse;

double ald_plan_device_buffer_bytes(const AldPlanRequest *request, AldPlanBufferUse use);

/* Of the client's processor if it has no layers, and the results. */
double ald_plan_client_buffer_bytes(const AldPlanRequest *request, uint32_t copies);

/* What the host of the client needs at least, even if no stage computes in its memory. */
uint64_t ald_plan_client_host_bytes(const AldPlanRequest *request, uint32_t copies);

/* Of the results, on the client. */
double ald_plan_results_bytes(const AldPlanRequest *request);

/* Returns what a device needs for so many layers at least, if they are the smallest. */
uint64_t ald_plan_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers);

/* Returns the bytes that are free on a device for layers. */
uint64_t ald_plan_room_bytes(const AldPlanRequest *request, const AldPlanDevice *device);

/* Returns how many layers fit into them, if they are the smallest. */
uint32_t ald_plan_most_layers(const AldPlanRequest *request, const AldPlanDevice *device);
