/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/* The folder that has a folder for each NUMA node. */
#define ALD_MEMORY_NODES_DIR "sys/devices/system/node"

/* Returns the memory of a NUMA node in bytes, or absent. */
uint64_t ald_memory_node_total(int root, unsigned node);

/*
 * NUMA nodes that are the memory of a GPU. With coherent links (Grace, POWER9) NVIDIA's driver hands the
 * memory of a GPU to the kernel, which then counts it as memory of the host, although the device reports it
 * too. Other nodes without processors, such as HBM in flat mode or CXL memory, belong to the host.
 */

/* Returns the numbers (guint) of these nodes: the nodes that the driver names, else, except on x86, nodes
 * without processors that match one of these devices (rows of AldBackend) in size. */
GArray *ald_memory_nodes_of_devices(int root, const AldRows *backends);

/* Subtracts these nodes from total and available. */
void ald_memory_nodes_subtract(int root, const GArray *nodes, AldMemory *memory);
