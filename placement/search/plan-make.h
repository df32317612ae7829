/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * Makes the best plan for the goal. Equal input has an equal plan unless is_late() stops the work. Returns
 * -EINVAL and sets the refusal if there is no plan, or -ECANCELED, without a refusal, if the request gives it
 * up. The cluster and the request must outlive the plan.
 *
 * The work is bounded, to a few seconds for 1000 devices, so some results are not exact; which ones depends
 * only on the numbers of devices and stages.
 * - The best steps are exact unless lower_nsec is less than nsec. That may be so with nodes_max if there
 *   are more than 16 devices in a ring, or hundreds in a star; if the fastest of the devices that compute in
 *   the same memory may use less of it than another one, since then either the fastest ones of all nodes are
 *   used, or those with the most room; and if the engine needs equally many GPUs of each node, but those of a
 *   node differ.
 * - If nodes with several devices are required, the result is exact for up to 64 choices of one device of
 *   each; with more, the fastest ones are used.
 * - Verdicts are exact for stars. In rings of more than 15 stages, or fewer if there are many devices to
 *   judge, a device is inserted where it costs least among the stages in their order. In slices on more than
 *   128 nodes, it replaces a stage. For many more slices, and for ranks if devices times stages exceed 256,
 *   its cost is not computed.
 * - Alternatives and sensitivities of rings of more than 16 devices are not exact.
 * - Alternatives are the best plans without each stage. In stars of more than 128 nodes, they keep the
 *   client; in rings of more than 16 devices, if devices times stages exceed 256, only stages with the fewest
 *   layers are left out; in slices on more than 128 nodes, only six stages are.
 * - Sensitivities are exact for stars. For such rings, ranks and slices they are computed with the same
 *   stages, which is an upper bound on the time of a step.
 */
int ald_plan_make(const AldPlanCluster *cluster, const AldPlanRequest *request, AldPlan **ret,
        AldPlanRefusal *ret_refusal);
