/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/cluster-config.h"
#include "common/cluster-keys.h"
#include "services/cluster/mqtt/topic.h"
#include "services/common/state-config.h"

#define USEC_PER_HOUR (UINT64_C(3600) * G_USEC_PER_SEC)

static const char *const mirror_names[] = {
        [ALD_MIRROR_ALL] = "all",
        [ALD_MIRROR_SELF] = "self",
        [ALD_MIRROR_ON_DEMAND] = "on-demand",
        [ALD_MIRROR_NONE] = "none",
};

const char *ald_mirror_mode_name(AldMirrorMode mode)
{
        return mirror_names[mode];
}

static int find_mirror_mode(const char *name)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(mirror_names); i++)
                if (g_str_equal(mirror_names[i], name))
                        return (int) i;
        return -1;
}

static const char *refuse_mirror(const char *value)
{
        return find_mirror_mode(value) < 0 ? "must be all, self, on-demand or none" : NULL;
}

static const char *refuse_brokers(const char *value)
{
        g_auto(GStrv) addresses = g_strsplit(value, ";", -1);
        const char *reason = NULL;

        for (char **address = addresses; *address && !reason; address++)
                if (*g_strstrip(*address) != '\0')
                        reason = ald_broker_address_refuse(*address);
        return reason;
}

static const char *refuse_name(const char *value)
{
        return *value ? ald_cluster_name_refuse(value) : NULL;
}

const AldConfigKey ald_cluster_config_keys[] = {
        ALD_CLUSTER_CONFIG_KEYS(refuse_name, refuse_brokers, refuse_mirror),
        ALD_STATE_CONFIG_KEYS,
        { 0 },
};

AldClusterConfig *ald_cluster_config_new(const AldConfig *config)
{
        AldClusterConfig *cluster = g_new0(AldClusterConfig, 1);

        cluster->name = g_strdup(ald_config_string(config, "name"));
        cluster->brokers = g_array_new(FALSE, FALSE, sizeof(AldBrokerAddress));
        for (const char *const *text = ald_config_strv(config, "brokers"); *text; text++) {
                AldBrokerAddress address;

                if (ald_broker_address_parse(*text, &address, NULL) >= 0)
                        g_array_append_val(cluster->brokers, address);
        }
        cluster->discovery = ald_config_boolean(config, "discovery");
        cluster->mirror = (AldMirrorMode) find_mirror_mode(ald_config_string(config, "mirror"));
        cluster->expiry_usec = ald_config_uint(config, "expiry-h") * USEC_PER_HOUR;
        return cluster;
}

void ald_cluster_config_free(AldClusterConfig *config)
{
        if (!config)
                return;
        g_array_unref(config->brokers);
        g_free(config->name);
        g_free(config);
}
