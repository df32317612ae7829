/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/schema.h"

/* The known facts about the cluster on which a model is to be placed. Absent figures are ALD_PLAN_ABSENT, or
 * NAN. The caller owns the strings. */
#define ALD_PLAN_ABSENT UINT64_MAX

#define ALD_PLAN_NONE UINT32_MAX /* no index */

typedef struct AldPlanNode {
        const char *id;
        const char *name, *host_name; /* or NULL */
        const char *unusable; /* why none of its devices can be used, in one word such as "offline"; NULL if
                                 they can */
        /* The file system from which models are read, with a measured rate; or NULL. */
        const AldStorageFileSystem *storage;
} AldPlanNode;

typedef struct AldPlanDevice {
        uint32_t node;             /* index */
        const char *id;            /* as in Node1.Backends */
        const char *name, *vendor; /* or NULL */
        bool is_processor;
        bool uses_host_memory; /* it uses host memory, and shares it with the other such devices of its node
                                */
        uint64_t free_bytes;   /* of the memory that it computes in */
        bool is_free_assumed;  /* free_bytes is all of its memory, since how much is in use is unknown */
        uint64_t total_bytes;  /* of its memory, as programs see it; absent if it uses host memory of unknown
                                  size */
        double bytes_per_second; /* measured rate of reading its memory */
        double flops;            /* measured rate of matrix products in fp16 */
        uint64_t free_usec;      /* when free_bytes was reported, CLOCK_REALTIME; or ALD_PLAN_ABSENT */
        const AldComputeDevice *measured; /* the measurement; or NULL */
        const AldDoubt *doubt;      /* about one of these figures, which is NAN then; NULL if there is none */
        bool lacks_opencl;          /* it cannot be measured for this reason */
        const char *opencl_package; /* package with an OpenCL driver for it; NULL if none is known to be
                                       missing */
} AldPlanDevice;

/*
 * A path from one node to another. Of several paths between two nodes, the one that suits the transfer best
 * is used. A star has one connection to each node, so it uses a path and its reverse, or two paths with
 * unknown reverses.
 */
typedef struct AldPlanPath {
        uint32_t source, sink; /* indices of nodes */
        bool is_rdma;
        double rtt_nsec;                           /* measured median */
        double bits_per_second;                    /* measured rate from source to sink */
        const AldEdgeRow *edge;                    /* the measurement; or NULL */
        const char *source_address, *sink_address; /* addresses of its ends; or NULL */
        double disputed_bits_per_second; /* the rate that the other end measured, if it exceeds the intervals;
                                            0 if the ends agree */
        uint32_t reverse; /* index of the path of the same connection from sink to source, whose reverse is
                             this one; ALD_PLAN_NONE if unknown */
} AldPlanPath;

typedef struct AldPlanCluster {
        const AldPlanNode *nodes;
        uint32_t n_nodes;
        const AldPlanDevice *devices;
        uint32_t n_devices;
        const AldPlanPath *paths; /* live paths */
        uint32_t n_paths;
} AldPlanCluster;
