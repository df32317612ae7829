/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/common/keys.h"

#define ALD_PROBE_PORT 7461u
#define ALD_PROBE_DATA_PORTS 16u /* above it */

typedef enum AldProbeMode {
        ALD_PROBE_HELP,
        ALD_PROBE_VERSION,
        ALD_PROBE_LISTEN,
        ALD_PROBE_CONNECT,
        ALD_PROBE_SESSION,
} AldProbeMode;

/* The command line. Strings are those of argv. */
typedef struct AldProbeOptions {
        AldProbeMode mode;
        const char *host; /* to connect to; to listen on, NULL: any address */
        unsigned port;
        bool once;
        int session_fd, progress_fd, report_fd; /* -1: none */
        AldKeyFiles keys;
        const char *device, *source;
        unsigned seconds_max; /* of each direction */
        uint64_t bytes_max;   /* the same */
        unsigned streams_max;
        bool zerocopy, rtt_only, json;
        const char *busy, *inhibited; /* what to tell the other side instead of a measurement */
        bool ask;                     /* report_fd tells that, once it is known who it is */
} AldProbeOptions;

/* -EINVAL with *ret_error in plain words. */
int ald_probe_options_parse(int argc, char **argv, AldProbeOptions *ret, char **ret_error);

extern const char ald_probe_help[];
