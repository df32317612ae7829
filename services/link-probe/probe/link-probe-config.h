/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"
#include "services/link-probe/machine/probe-hours.h"

typedef struct AldLinkProbeConfig {
        bool enabled;
        bool rdma;
        unsigned port;
        unsigned max_sessions;
        uint64_t bytes_per_hour;
        uint64_t bytes_per_probe;
        uint64_t link_ttl_usec;    /* 0: depends on how much the figures vary */
        bool hears_peers;          /* not with mirror=none or a refused value */
        AldProbeHours probe_hours; /* never, if the value was refused */
} AldLinkProbeConfig;

extern const AldConfigKey ald_link_probe_config_keys[];

AldLinkProbeConfig ald_link_probe_config_read(const AldConfig *config);
