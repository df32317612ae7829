/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/model.h"

#define ALD_DEVICES_MAX 256u /* of one node; more are not looked at */

/* A node or one of its devices in a few numbers; NaN is absent. */
typedef struct AldFigures {
        double memory_total, memory_available; /* bytes; of a device, without what it shares with the host */
        double usage;                          /* percent: of the processors, or of the device */
        double millicelsius, microwatts;
        double tflops;    /* FP16 */
        double bandwidth; /* memory, bytes per second */
} AldFigures;

/* One compute device: its rows in Backends, System and Compute; NULL where there is none. */
typedef struct AldDevice {
        json_t *backend, *system, *compute;
} AldDevice;

/* The compute devices of a node: those of Backends, then what only System or Compute tell of. */
GArray *ald_devices_of(const AldEntity *node);

const char *ald_device_id(const AldDevice *device);

/* "gpu", "accelerator" or "cpu"; what has no row in Backends is taken for a GPU. */
const char *ald_device_class(const AldDevice *device);

/* Safe text: its name, else its id. */
char *ald_device_name(const AldDevice *device);

bool ald_device_is_asleep(const AldDevice *device);
bool ald_device_is_unified(const AldDevice *device);

/* Whether it is a part of another device, which has a row of its own. */
bool ald_device_is_instance(const AldDevice *device);

AldFigures ald_device_figures(const AldDevice *device);

/* What the node as a whole has: its own memory and load. TFLOPS and bandwidth are those of its GPUs and
 * accelerators if any of them was measured, else of its processors, as in the totals of org.alidade.State1:
 * the rule of ald_compute_summary(), to which tests/unit/test-compute-summary.c holds this one. */
AldFigures ald_node_figures(const AldEntity *node);

typedef struct AldGpuSummary {
        bool known; /* whether it is known which there are, maybe none */
        unsigned n, n_asleep;
        double usage; /* mean of those that tell it */
} AldGpuSummary;

/* GPUs and accelerators together, without instances of them. */
AldGpuSummary ald_gpu_summary(const AldEntity *node);

/* Addresses of the interfaces that lead elsewhere, without loopback and link-local ones. Safe text, or NULL.
 */
char *ald_node_addresses(const AldEntity *node);

/* How many findings there are of a severity. */
unsigned ald_count_findings(const json_t *findings, const char *severity);

/* "2 errors, 1 warning", or NULL for none. */
char *ald_findings_summary(const json_t *findings);
