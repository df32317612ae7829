/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

#define ALD_NODE_DEVICES_MAX 256u /* of one node; others are ignored */

/* Key figures of a node or one of its devices; NaN is absent. */
typedef struct AldNodeFigures {
        double memory_total,
                memory_available; /* bytes; for a device, without memory that it shares with the host */
        double usage;             /* percent, of the processors or of the device */
        double millicelsius, microwatts;
        double tflops;    /* FP16 */
        double bandwidth; /* memory, bytes per second */
} AldNodeFigures;

/* One compute device: its rows in Node1.Backends, Node1.System and Node1.Compute; NULL if there is none.
 * They are part of the records of the node. */
typedef struct AldNodeDevice {
        const AldBackend *backend;
        const AldDevice *system;
        const AldComputeDevice *compute;
} AldNodeDevice;

/* The AldNodeDevices of a node: those of Backends, then those that only System or Compute list. */
GArray *ald_node_devices(const AldEntity *node);

/* "gpu", "accelerator" or "cpu"; a device without a row in Backends is assumed to be a GPU. */
const char *ald_node_device_class(const AldNodeDevice *device);

bool ald_node_device_is_processor(const AldNodeDevice *device);

/* Its name, else its id. Safe text. */
char *ald_node_device_name(const AldNodeDevice *device);

bool ald_node_device_is_asleep(const AldNodeDevice *device);
bool ald_node_device_is_unified(const AldNodeDevice *device);

AldNodeFigures ald_node_device_figures(const AldNodeDevice *device);

/* The memory and load of the node itself; TFLOPS and bandwidth are those of ald_compute_summary(), as in the
 * totals of org.alidade.State1. */
AldNodeFigures ald_node_figures(const AldEntity *node);

typedef struct AldGpuSummary {
        bool known; /* whether the devices, or their absence, are known */
        unsigned n, n_asleep;
        double usage; /* percent, mean of those that report it; NaN if none does */
} AldGpuSummary;

/* All GPUs and accelerators, without instances. */
AldGpuSummary ald_gpu_summary(const AldEntity *node);

/* Addresses of the interfaces that lead out of the machine, separated by spaces, without loopback and
 * link-local ones. Safe text, or NULL if there are none. */
char *ald_node_addresses(const AldEntity *node);
