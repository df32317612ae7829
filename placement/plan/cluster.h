/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/schema.h"

/* What is known of a cluster on which a model is to be placed. Absent figures are ALD_PLAN_ABSENT, or NAN.
 * The caller owns the strings. */
#define ALD_PLAN_ABSENT UINT64_MAX

#define ALD_PLAN_NONE UINT32_MAX /* no index */

typedef struct AldPlanNode {
        const char *id;
        const char *name, *host_name; /* or NULL */
        const char *unusable; /* why none of its devices can be used, in one word, such as "offline"; NULL:
                                 they can */
        const AldStorageFileSystem *storage; /* from which models are read, at a rate that was measured; or
                                                NULL */
} AldPlanNode;

typedef struct AldPlanDevice {
        uint32_t node;             /* index */
        const char *id;            /* as in Node1.Backends */
        const char *name, *vendor; /* or NULL */
        bool is_processor;
        bool uses_host_memory; /* its memory is the host's, and shared with the others of the node that use it
                                */
        uint64_t free_bytes;   /* of the memory that it computes in */
        bool is_free_assumed;  /* these are all that it has, as how much is in use is unknown */
        uint64_t total_bytes;  /* that its programs are shown; absent if it uses the host's and they are not
                                  known */
        double bytes_per_second; /* that it reads of its memory, as measured */
        double flops;            /* of matrix products in fp16, as measured */
        uint64_t free_usec;      /* when free_bytes was reported, CLOCK_REALTIME; or ALD_PLAN_ABSENT */
        const AldComputeDevice *measured; /* what was; or NULL */
        const AldDoubt *doubt;            /* about one of these figures, which is NAN then; NULL: none */
        bool lacks_opencl;                /* so that it cannot be measured */
        const char
                *opencl_package; /* that has a driver of OpenCL for it; NULL: none is known to be missing */
} AldPlanDevice;

/*
 * From one node to another one. Of several paths between two nodes, the best for what is sent is used. A star
 * has one connection to each node, and so uses a path and its reverse, or two paths for which none is known.
 */
typedef struct AldPlanPath {
        uint32_t source, sink; /* indices of nodes */
        bool is_rdma;
        double rtt_nsec;                           /* median, as measured */
        double bits_per_second;                    /* from source to sink, as measured */
        const AldEdgeRow *edge;                    /* where these are from; or NULL */
        const char *source_address, *sink_address; /* of its ends; or NULL */
        double disputed_bits_per_second; /* that the other end measured, which is more than the intervals
                                            explain; 0: none */
        uint32_t reverse; /* index of the path that the same connection takes from sink to source, whose
                             reverse is this one; ALD_PLAN_NONE: not known */
} AldPlanPath;

typedef struct AldPlanCluster {
        const AldPlanNode *nodes;
        uint32_t n_nodes;
        const AldPlanDevice *devices;
        uint32_t n_devices;
        const AldPlanPath *paths; /* those that are live */
        uint32_t n_paths;
} AldPlanCluster;
