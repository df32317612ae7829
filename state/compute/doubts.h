/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * Judges figures of compute devices that other measurements contradict, of the same device or of equal
 * devices on other nodes. A member of a cluster can publish any figure of its own, so totals and plans ignore
 * those that cannot be true. The state service decides this once, and keeps the result in Node1.Doubts.
 *
 * Honest figures must never be left out, so a limit that is unknown decides nothing, and one that was
 * measured under other conditions is only a coarse one. Processors and GPUs that compute in host memory are
 * not compared with others, since their rates depend on memory modules and power budgets that no record
 * describes, and neither are NVIDIA's virtual GPUs, which share a card with other machines.
 */

/* Measurements of one device agree with its limits within this. */
#define ALD_DOUBT_LIMIT 1.1

/* A device may exceed the rate of its slower matrix units, for which its peak may have been measured, by less
 * than this factor. */
#define ALD_DOUBT_UNITS 2.0

/* Clocks that were held down, and other work, reduce a peak by less than this factor. */
#define ALD_DOUBT_CONDITIONS 4.0

/* Devices that are equal differ by less than this factor. */
#define ALD_DOUBT_EQUALS 2.0

/* A figure is left out only if it contradicts equal devices on this many other nodes. */
#define ALD_DOUBT_EQUALS_LEAST 3u

/* Called for each node in the order of their ids: with a new record of Node1.Doubts, or with NULL if nothing
 * of the node is doubted. */
typedef void (*AldDoubtsFunc)(AldNode *node, AldRecord *record, void *userdata);

/* Judges the figures of all nodes, in one pass to compare them and one to judge them. The store must not be
 * changed meanwhile except for records of Node1.Doubts. */
void ald_doubts_judge(AldStore *store, AldDoubtsFunc func, void *userdata);

/* Returns the doubt because of which totals and plans leave out a figure of a device; NULL if they use it.
 * `doubts` may be NULL. */
const AldDoubt *ald_doubts_find(const AldDoubts *doubts, const char *device, AldDoubtField field);
