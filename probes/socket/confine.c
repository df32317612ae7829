/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/socket/confine.h"
#include "probes/common/limits.h"

static const AldLimits limits = {
        .data_max = 64u * 1024 * 1024,
        .files_max = 64,
        .cpu_seconds_max = 600,
};

int ald_confine(int signal, int parent)
{
        return ald_limits_take(&limits, signal, parent);
}
