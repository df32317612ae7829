/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/kind.h"

/* Plans the memory and the requests of a measurement within the limits of a device and of this process.
 * Pure. */

#define ALD_RDMA_QUEUES_MAX 8u
#define ALD_RDMA_PLAN_PING 64u /* bytes of a ping */

/* The limits of a plan; 0 means no limit. */
typedef struct AldRdmaPlanLimits {
        uint64_t locked;      /* bytes that this process may lock */
        uint64_t region;      /* bytes that can be registered as one */
        uint64_t message;     /* bytes of one message */
        unsigned requests;    /* of a queue */
        unsigned completions; /* of a completion queue */
} AldRdmaPlanLimits;

typedef struct AldRdmaPlan {
        AldRdmaUseOperation operation;
        unsigned queues;
        unsigned depth;       /* messages under way on each */
        size_t size;          /* of a message */
        size_t bytes;         /* of the memory for data, whole messages */
        size_t receive_bytes; /* bytes of each receive buffer; these follow the data */
        unsigned n_receives;  /* receive buffers; requests may share one, since the data is not read */
} AldRdmaPlan;

/* Makes a plan, which may have a smaller size and fewer queues. Returns false if the device does not even
 * support the minimum. */
bool ald_rdma_plan_make(const AldRdmaPlanLimits *limits, AldRdmaUseOperation operation, size_t size,
        unsigned queues, AldRdmaPlan *ret);

/* Returns the bytes of all the memory. */
size_t ald_rdma_plan_total(const AldRdmaPlan *plan);

/* Returns the number of messages per signaled one, if at most `depth` are in flight. */
unsigned ald_rdma_plan_group(uint64_t depth);
