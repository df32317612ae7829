/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/measure.h"

const char *ald_phase_to_string(AldPhase phase)
{
        static const char *const names[] = {
                [ALD_PHASE_BUILD] = "build",
                [ALD_PHASE_TRIAL] = "trial",
                [ALD_PHASE_SETTLE] = "settle",
                [ALD_PHASE_MEASURE] = "measure",
        };

        return names[phase];
}

void ald_measure_tell(const AldMeasureOptions *options, AldPhase phase, const char *variant, double fraction)
{
        if (options->progress)
                options->progress(phase, variant, fraction, options->userdata);
}
