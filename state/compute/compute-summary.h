/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "state/store/node-sums.h"

/* Returns "Disbelieved", "Failed", "NeverMeasured", "NoOpenCl" or "OtherPrecision", which are keys of
 * TflopsFp16LeftOutReasons and, except for the last one, of MemoryBandwidthLeftOutReasons. */
const char *ald_left_out_to_string(AldLeftOut reason);

/*
 * Sums up the GPUs and accelerators of a node if any of them was measured, else its processors. Totals and
 * all clients use this rule (ald_node_figures()). Figures of FP32 are summed up separately.
 *
 * Devices that could have a figure but lack it count as left out: GPUs and accelerators, and processors too
 * while none of the former was measured. A device in the sum of FP32 does not count as left out of the TFLOPS
 * of FP16; one that was measured in neither precision does. Figures that `doubts` leaves out count as left
 * out. A device that is not in `backends`, whose class is unknown, or that is split into instances is
 * ignored. Each record may be NULL.
 */
void ald_compute_summary(const AldBackends *backends, const AldCompute *compute, const AldDoubts *doubts,
        AldComputeSummary *ret);

/* Returns whether its product was measured in FP32, not in FP16, so that its GemmTflops are of FP32. */
bool ald_compute_has_fp32_only(const AldComputeDevice *device);

/* Returns whether the device is split into instances; then it is never measured as a whole. */
bool ald_compute_is_split(const AldBackends *backends, const AldBackend *backend);

/* Adds to a sum that is absent until the first addition; it is limited to ALD_INTEGER_MAX. */
void ald_sum_add(uint64_t *sum, uint64_t value);
void ald_sum_add_double(double *sum, double value);
