/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"
#include "services/telemetry/host/processor-reader.h"

/* The arrangement of the processors that are online, with the rows and their strings. */
typedef struct AldProcessorTopology {
        uint64_t threads, offline_threads, cores, threads_per_core, sockets; /* or absent */
        GArray *caches;                                                      /* of AldProcessorCache */
        GArray *nodes;                                                       /* of AldNumaNode */
        GStringChunk *strings;
} AldProcessorTopology;

AldProcessorTopology *ald_processor_topology_new(AldProcessorReader *reader);
void ald_processor_topology_free(AldProcessorTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldProcessorTopology, ald_processor_topology_free)
