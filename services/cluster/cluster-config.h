/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"
#include "services/cluster/mqtt/broker-address.h"

extern const AldConfigKey ald_cluster_config_keys[];

typedef enum AldMirrorMode {
        ALD_MIRROR_ALL,
        ALD_MIRROR_SELF,
        ALD_MIRROR_ON_DEMAND,
        ALD_MIRROR_NONE,
} AldMirrorMode;

/* Returns "all", "self", "on-demand" or "none". */
const char *ald_mirror_mode_name(AldMirrorMode mode);

typedef struct AldClusterConfig {
        char *name;      /* "" if this machine has not joined a cluster */
        GArray *brokers; /* AldBrokerAddress */
        bool discovery;
        AldMirrorMode mirror;
        uint64_t expiry_usec;
} AldClusterConfig;

AldClusterConfig *ald_cluster_config_new(const AldConfig *config);
void ald_cluster_config_free(AldClusterConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClusterConfig, ald_cluster_config_free)
