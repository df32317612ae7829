/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/config.h"

typedef struct AldLinkProbeConfig {
        bool enabled;
        bool rdma;
        bool compute;
        unsigned port;
        unsigned max_sessions;
        uint64_t bytes_per_hour;
        uint64_t bytes_per_probe;
} AldLinkProbeConfig;

extern const AldConfigKey ald_link_probe_config_keys[];

AldLinkProbeConfig ald_link_probe_config_read(const AldConfig *config);
