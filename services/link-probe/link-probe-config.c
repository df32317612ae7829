/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/link-probe-config.h"

#define BYTES_PER_MB UINT64_C(1000000)

/* The data connections of a session have the 16 ports above. */
const AldConfigKey ald_link_probe_config_keys[] = {
        { .group = "link-probe", .key = "enabled", .type = ALD_CONFIG_BOOLEAN, .fallback = "true" },
        { .group = "link-probe", .key = "rdma", .type = ALD_CONFIG_BOOLEAN, .fallback = "true" },
        { .group = "link-probe", .key = "compute", .type = ALD_CONFIG_BOOLEAN, .fallback = "true" },
        { .group = "link-probe",
                .key = "port",
                .type = ALD_CONFIG_UINT,
                .min = 1024,
                .max = 65519,
                .fallback = "7461" },
        { .group = "link-probe",
                .key = "max-sessions",
                .type = ALD_CONFIG_UINT,
                .min = 1,
                .max = 16,
                .fallback = "2" },
        { .group = "link-probe",
                .key = "mb-per-hour",
                .type = ALD_CONFIG_UINT,
                .min = 0,
                .max = 1000000000,
                .fallback = "0" },
        { .group = "link-probe",
                .key = "mb-per-probe",
                .type = ALD_CONFIG_UINT,
                .min = 1,
                .max = 1000000,
                .fallback = "32000" },
        { 0 },
};

AldLinkProbeConfig ald_link_probe_config_read(const AldConfig *config)
{
        return (AldLinkProbeConfig){
                .enabled = ald_config_boolean(config, "enabled"),
                .rdma = ald_config_boolean(config, "rdma"),
                .compute = ald_config_boolean(config, "compute"),
                .port = (unsigned) ald_config_uint(config, "port"),
                .max_sessions = (unsigned) ald_config_uint(config, "max-sessions"),
                .bytes_per_hour = ald_config_uint(config, "mb-per-hour") * BYTES_PER_MB,
                .bytes_per_probe = ald_config_uint(config, "mb-per-probe") * BYTES_PER_MB,
        };
}
