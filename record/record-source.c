/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/record-source.h"

const AldRecordSource ald_record_sources[ALD_N_RECORD_SOURCES] = {
        [ALD_RECORD_SOURCE_IDENTITY] = { "org.alidade.Identity1", "/org/alidade/Identity1",
                "alidade-identityd", { ALD_KIND_IDENTITY }, 1 },
        [ALD_RECORD_SOURCE_TELEMETRY] = { "org.alidade.Telemetry1", "/org/alidade/Telemetry1",
                "alidade-telemetryd",
                { ALD_KIND_MEMORY, ALD_KIND_SYSTEM, ALD_KIND_BACKENDS, ALD_KIND_NETWORK, ALD_KIND_DISK,
                        ALD_KIND_FABRIC },
                6 },
        [ALD_RECORD_SOURCE_LINK_PROBE] = { "org.alidade.LinkProbe1", "/org/alidade/LinkProbe1",
                "alidade-link-probed", { ALD_KIND_COMPUTE, ALD_KIND_PROBE_POLICY }, 2, true },
        [ALD_RECORD_SOURCE_CLUSTER] = { "org.alidade.Cluster1", "/org/alidade/Cluster1", "alidade-clusterd",
                { ALD_KIND_MEMBERSHIP }, 1, true },
};
