/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <math.h>

#include "clients/common/tone.h"
#include "state-client/model.h"
#include "state/compute/node-power.h"

/* Returns the label of a node: its friendly name, with the first digits of its id if it reads like the id of
 * another node; only these digits if it has none. Safe text, to be freed. */
char *ald_node_label(const char *name, const char *id);

/* Returns the same for a node of the model; for a link, its id. */
char *ald_entity_label(const AldEntity *entity);

/* Returns the label of the node with this id, even if the model does not know it. Safe text, to be freed;
 * NULL for NULL. */
char *ald_node_name(AldModel *model, const char *id);

/* These functions say when a node was last heard, according to its presence and the age of its records. Times
 * are CLOCK_REALTIME in µs; NaN is absent. */

/* Returns the current time of the node's clock, as far as its offset is known. */
double ald_node_now(const AldEntity *node, double now_usec);

/* Returns "live" until the next update is due from a source that is heard, else the age. Both times are from
 * the same clock. The source is a node; NULL stands for this machine. */
char *ald_format_record_age(const AldEntity *source, double updated_usec, double now_usec);

/* Returns "offline", "duplicate" or "unknown" if the node does not count for this reason; NULL if it counts,
 * as this machine always does, or has no presence. */
const char *ald_node_exclusion(AldModel *model, const AldEntity *node);

/* Returns true if the node is another machine that has been silent for a while, and still counts. */
bool ald_node_is_stale(AldModel *model, const AldEntity *node);

/* Returns "online"; "stale for 5 s"; "offline for 5 min", or another state in which the node does not count.
 * If the beginning of that state is unknown, the age of its records is shown: "offline, 5 min ago". Without a
 * presence, returns only the age. Sets the tone accordingly. */
char *ald_format_seen(const AldEntity *node, double now_usec, AldTone *ret_tone);

#define ALD_NODE_DEVICES_MAX 256u /* of one node; others are ignored */

/* Key figures of a node or one of its devices; NaN is absent. */
typedef struct AldNodeFigures {
        double memory_total,
                memory_available; /* bytes; for a device, without memory that it shares with the host */
        double usage;             /* percent, of the processors or of the device */
        double millicelsius, microwatts;
        double tflops;       /* FP16 */
        double tflops_fp32;  /* of devices that were measured in it, not in FP16 */
        double bandwidth;    /* memory, bytes per second */
        AldPowerOf power_of; /* of a node: what `microwatts` was measured of */
} AldNodeFigures;

#define ALD_NODE_FIGURES_INIT                                                \
        {                                                                    \
                NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, ALD_POWER_OF_NOTHING \
        }

/* Makes the figures absent that are outdated once the node is silent: free memory, load, temperature and
 * power. */
void ald_node_figures_forget_samples(AldNodeFigures *figures);

/* Returns how much of the memory is in use, from 0 to 1; NaN if that is unknown or impossible. */
double ald_node_figures_used(const AldNodeFigures *figures);

/* One compute device: its rows in Node1.Backends, Node1.System and Node1.Compute, and what is doubted of the
 * node; NULL if there is none. They belong to the records of the node. */
typedef struct AldNodeDevice {
        const AldBackend *backend;
        const AldDevice *system;
        const AldComputeDevice *compute;
        const AldDoubts *doubts;
} AldNodeDevice;

/* Returns the AldNodeDevices of a node: those of Backends, then those that only System or Compute list. */
GArray *ald_node_devices(const AldEntity *node);

/* Returns the same, and how many devices beyond ALD_NODE_DEVICES_MAX are left out. */
GArray *ald_node_devices_counted(const AldEntity *node, guint *ret_n_unlisted);

/* Returns the id of the device, from any of its rows; never NULL. */
const char *ald_node_device_id(const AldNodeDevice *device);

/* Returns "gpu", "accelerator" or "cpu"; a device without a row in Backends is assumed to be a GPU. */
const char *ald_node_device_class(const AldNodeDevice *device);

bool ald_node_device_is_processor(const AldNodeDevice *device);

/* Returns the name of the device, else its id. Safe text. */
char *ald_node_device_name(const AldNodeDevice *device);

bool ald_node_device_is_asleep(const AldNodeDevice *device);
bool ald_node_device_is_unified(const AldNodeDevice *device);

/* Returns "82.6 TFLOPS" for FP16; "412 GFLOPS FP32" if no device was measured in FP16. */
char *ald_node_compute(const AldNodeFigures *figures);

/* Returns "whole machine, by its meter", "processors + GPUs" and so on; NULL for nothing. */
const char *ald_power_of_words(AldPowerOf of);

/* Returns what is left out of totals and plans, such as "compute not believed"; NULL if nothing is. */
char *ald_node_device_doubts(const AldNodeDevice *device);

AldNodeFigures ald_node_device_figures(const AldNodeDevice *device);

/* Returns "install pocl-opencl-icd to measure it" if OpenCL does not show the device and that would help;
 * else NULL. */
char *ald_node_device_remedy(const AldEntity *node, const AldNodeDevice *device);

/* Returns the memory and load of the node itself; TFLOPS and bandwidth are those of ald_compute_summary(),
 * and the power is that of ald_node_power(), as in the totals of org.alidade.State1. */
AldNodeFigures ald_node_figures(const AldEntity *node);

typedef struct AldGpuSummary {
        bool known; /* whether the devices, or their absence, are known */
        unsigned n, n_asleep;
        double usage; /* percent, mean of those that report it; NaN if none does */
} AldGpuSummary;

/* Summarizes all GPUs and accelerators, without instances. */
AldGpuSummary ald_gpu_summary(const AldEntity *node);

/* Returns the addresses of the interfaces that lead out of the machine, separated by spaces, without loopback
 * and link-local ones. Safe text, or NULL if there are none. */
char *ald_node_addresses(const AldEntity *node);
