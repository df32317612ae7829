/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/common/link-options.h"

#define ALD_PROBE_PORT 7461u
#define ALD_PROBE_DATA_PORTS 16u /* above it */

/* How much is measured. */
typedef enum AldProbeScope {
        ALD_PROBE_FULL,
        ALD_PROBE_CHECK,       /* a few round trips, and a spot check of each direction */
        ALD_PROBE_ROUND_TRIPS, /* a few round trips */
        ALD_PROBE_RTT_ONLY,    /* as many round trips as in a full measurement */
} AldProbeScope;

/* "full", "check", or "round-trips" for the last two. */
const char *ald_probe_scope_to_string(AldProbeScope scope);

/* ALD_PROBE_FULL for any other text, which a newer peer may send, and for NULL. */
AldProbeScope ald_probe_scope_from_string(const char *text);

/* The command line. Strings point into argv. */
typedef struct AldProbeOptions {
        AldLinkOptions link;
        const char *source;
        unsigned streams_max;
        bool zerocopy;
        AldProbeScope scope;
        const char *busy, *inhibited; /* reason to refuse sessions, which the other side receives */
} AldProbeOptions;

/* -EINVAL with the reason in *ret_error. */
int ald_probe_options_parse(int argc, char **argv, AldProbeOptions *ret, char **ret_error);

extern const char ald_probe_help[];
