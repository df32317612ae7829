/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/kind.h"

/* How much memory and how many requests a measurement takes, within what a device and this process may have.
 * Pure. */

#define ALD_RDMA_QUEUES_MAX 8u
#define ALD_PLAN_PING 64u /* bytes of a ping */

/* 0: no limit. */
typedef struct AldPlanLimits {
        uint64_t locked;      /* bytes that this process may lock */
        uint64_t region;      /* bytes that can be registered as one */
        uint64_t message;     /* bytes of one message */
        unsigned requests;    /* of a queue */
        unsigned completions; /* of a completion queue */
} AldPlanLimits;

typedef struct AldPlan {
        AldRdmaUseOperation operation;
        unsigned queues;
        unsigned depth;   /* messages under way on each */
        size_t size;      /* of a message */
        size_t bytes;     /* of the memory for data: whole messages */
        size_t room;      /* bytes of each receive buffer, which follow it */
        unsigned n_rooms; /* several requests may share one, since the data is not read */
} AldPlan;

/* May reduce size and queues. False if the device does not even support the minimum. */
bool ald_plan_make(const AldPlanLimits *limits, AldRdmaUseOperation operation, size_t size, unsigned queues,
        AldPlan *ret);

/* All the memory. */
size_t ald_plan_total(const AldPlan *plan);

/* Messages for each signaled one, if at most depth are in flight. */
unsigned ald_plan_group(uint64_t depth);
