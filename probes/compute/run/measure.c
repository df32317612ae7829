/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/run/measure.h"

static const char *const flag_names[ALD_N_FLAGS] = { "busy", "unstable", "suspect", "reduced", "wall_clock" };

void ald_flags_to_words(unsigned flags, const char *ret[ALD_N_FLAGS + 1])
{
        for (unsigned i = 0; i < ALD_N_FLAGS; i++)
                if (flags & 1u << i)
                        *ret++ = flag_names[i];
        *ret = NULL;
}

unsigned ald_flags_from_words(const char *const *words)
{
        unsigned flags = 0;

        for (; words && *words; words++)
                for (unsigned i = 0; i < ALD_N_FLAGS; i++)
                        if (g_str_equal(*words, flag_names[i]))
                                flags |= 1u << i;
        return flags;
}

void ald_measure_report(
        const AldMeasureOptions *options, AldComputeStepPhase phase, const char *variant, double fraction)
{
        if (options->progress)
                options->progress(phase, variant, fraction, options->userdata);
}
