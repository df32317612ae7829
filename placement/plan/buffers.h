/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * The compute buffers of llama.cpp, beside weights, keys and values, with flash attention. The sizes are
 * those that it logs for 14 shapes of models, or more where these differ in the room that its allocator
 * cannot reuse. Small tensors such as experts' ids are not counted.
 */

/* Returns whether the sizes are known: for an engine with such buffers, if the workload states all that they
 * depend on and the request does not state BufferBytes. Otherwise each buffer has the size of BufferBytes. */
bool ald_plan_buffers_are_known(const AldPlanRequest *request);

/* Most copies of the inputs. There are several if servers compute at the same time in prefill, that is, if
 * there are several servers and the client has no layers. */
#define ALD_PLAN_COPIES_MAX 4u

/* The part of a device with layers in a plan, as far as it decides on the size of its buffer. */
typedef struct AldPlanBufferUse {
        uint32_t layers; /* 0: not known yet; taken as the number that needs most */
        uint32_t copies;
        bool is_client; /* the processor of the client, which has the first layers */
        bool is_first;  /* a server, or a GPU of the client, that has the first layer */
        bool has_head;
        bool may_be_last;
} AldPlanBufferUse;

double ald_plan_device_buffer_bytes(const AldPlanRequest *request, AldPlanBufferUse use);

/* Returns the buffer of the client's processor if it has no layers, including the results. */
double ald_plan_client_buffer_bytes(const AldPlanRequest *request, uint32_t copies);

/* Returns what the client's host needs at least, even if no stage computes in its memory. */
uint64_t ald_plan_client_host_bytes(const AldPlanRequest *request, uint32_t copies);

/* Returns the size of the results, which are on the client. */
double ald_plan_results_bytes(const AldPlanRequest *request);

/* Returns what a device needs at least for this number of layers, if they are the smallest. */
uint64_t ald_plan_least_bytes(const AldPlanRequest *request, const AldPlanDevice *device, uint32_t layers);

/* Returns the bytes that are free on a device for layers beside the smallest buffer that any stage has, and
 * nothing else; see ald_plan_layers_room(). */
uint64_t ald_plan_device_room_bytes(const AldPlanRequest *request, const AldPlanDevice *device);

/* Returns how many layers fit into those bytes, if they are the smallest. */
uint32_t ald_plan_device_layers_max(const AldPlanRequest *request, const AldPlanDevice *device);
