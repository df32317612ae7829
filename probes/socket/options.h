/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/common/link-options.h"

#define ALD_PROBE_PORT 7461u
#define ALD_PROBE_DATA_PORTS 16u /* above it */

/* The command line. Strings are those of argv. */
typedef struct AldProbeOptions {
        AldLinkOptions link;
        const char *source;
        unsigned streams_max;
        bool zerocopy, rtt_only;
        const char *busy, *inhibited; /* what to tell the other side instead of a measurement */
} AldProbeOptions;

/* -EINVAL with *ret_error in plain words. */
int ald_probe_options_parse(int argc, char **argv, AldProbeOptions *ret, char **ret_error);

extern const char ald_probe_help[];
