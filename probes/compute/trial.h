/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/meter.h"

/* How long one launch takes, in s: the shortest of those done within 0.1 s, the first not counted. */
int ald_trial_run(
        AldSession *session, AldLaunch launch, void *userdata, double *ret_seconds, AldFailure *failure);
