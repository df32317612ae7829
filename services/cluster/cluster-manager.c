/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <systemd/sd-id128.h>

#include "services/cluster/cluster-manager.h"
#include "services/common/node-id.h"

static const char *const state_names[] = {
        [ALD_CLUSTER_IDLE] = "idle",
        [ALD_CLUSTER_CONNECTING] = "connecting",
        [ALD_CLUSTER_ONLINE] = "online",
        [ALD_CLUSTER_DUPLICATE] = "duplicate",
};

#define DUPLICATE_PROBLEM                                                                                  \
        "Another machine has the id of this one, as copies of one image do. On the copy remove "           \
        "/etc/machine-id, run systemd-machine-id-setup, reboot, and join the cluster again; then restart " \
        "alidade-clusterd on both"

struct AldClusterManager {
        AldService *service;
        AldId own;
        uint64_t since;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        AldClusterConfig *config;
        AldMember *member;
        bool wanted, duplicate;
        bool epoch_missing; /* the state service has told all, and that was nothing yet */
        void (*changed)(void *userdata);
        void *userdata;
};

const char *ald_cluster_state_name(AldClusterState state)
{
        return state_names[state];
}

static void changed(AldClusterManager *manager)
{
        if (manager->changed)
                manager->changed(manager->userdata);
}

static void on_begin(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (manager->member)
                ald_voice_begin(ald_member_voice(manager->member));
}

static void on_record(const AldUpdate *update, void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return;
        ald_voice_record(ald_member_voice(manager->member), update);
        if (manager->epoch_missing)
                ald_member_ask_for_own(manager->member);
        manager->epoch_missing = false;
}

/* Now that our own epoch is known, what the brokers keep makes sense. */
static void on_complete(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return;
        manager->epoch_missing = ald_own_status_epoch(manager->status) == 0;
        ald_voice_end(ald_member_voice(manager->member));
        ald_member_ask_for_all(manager->member);
}

static void on_owner(bool there, void *userdata)
{
        AldClusterManager *manager = userdata;

        if (manager->member && there)
                ald_member_tell_all(manager->member);
        changed(manager);
}

static AldClusterNode *find_node(const AldId *id, void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return NULL;
        return ald_nodes_find(ald_receiver_nodes(ald_member_receiver(manager->member)), id);
}

static void on_lost(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return;
        ald_member_tell_all(manager->member);
        ald_member_ask_for_all(manager->member);
}

static const AldHandoverHandler handover_handler = {
        .link = {
                .begin = on_begin,
                .record = on_record,
                .complete = on_complete,
                .owner = on_owner,
        },
        .find = find_node,
        .lost = on_lost,
};

static void on_member_changed(void *userdata)
{
        changed(userdata);
}

static void on_duplicate(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->duplicate)
                g_warning("%s", DUPLICATE_PROBLEM);
        manager->duplicate = true;
        ald_handover_own_presence(manager->handover, &manager->own, ALD_PRESENCE_STATE_DUPLICATE);
        changed(manager);
}

static bool is_mirroring(const AldClusterManager *manager)
{
        switch (manager->config->mirror) {
        case ALD_MIRROR_ALL:
                return true;
        case ALD_MIRROR_SELF:
        case ALD_MIRROR_NONE:
                return false;
        case ALD_MIRROR_ON_DEMAND:
                return manager->wanted;
        }
        g_assert_not_reached();
}

static void join(AldClusterManager *manager)
{
        const AldMemberSetup setup = {
                .service = manager->service,
                .own = &manager->own,
                .status = manager->status,
                .trust = manager->trust,
                .handover = manager->handover,
                .changed = on_member_changed,
                .duplicate = on_duplicate,
                .userdata = manager,
        };
        int r;

        r = ald_member_new(&setup, manager->config, &manager->member);
        if (r < 0) {
                g_critical("Cannot join cluster %s: %s", manager->config->name, g_strerror(-r));
                g_clear_pointer(&manager->member, ald_member_free);
                return;
        }
        ald_member_set_mirroring(manager->member, is_mirroring(manager));
        ald_member_configure(manager->member, manager->config);
        ald_handover_read_own(manager->handover);
}

/* The state service forgets all nodes of that cluster. */
static void leave(AldClusterManager *manager)
{
        ald_handover_clear(manager->handover);
        if (manager->member)
                ald_member_drop_nodes(manager->member);
        g_clear_pointer(&manager->member, ald_member_free);
}

/* Who is in no cluster is no duplicate in one. */
static void end_duplicate(AldClusterManager *manager)
{
        manager->duplicate = false;
        ald_handover_own_presence(manager->handover, &manager->own, ALD_PRESENCE_STATE_ONLINE);
}

static void configure(AldClusterManager *manager)
{
        g_autoptr(AldClusterConfig) before = manager->config;
        bool mirrored = before && is_mirroring(manager), new_trust, is_other;

        manager->config = ald_cluster_config_new(ald_service_config(manager->service));
        new_trust = *manager->config->name && ald_trust_load(manager->trust);
        is_other = !before || !g_str_equal(before->name, manager->config->name);
        if (is_other)
                leave(manager);
        if (manager->duplicate && !*manager->config->name)
                end_duplicate(manager);
        if (manager->duplicate || !*manager->config->name)
                return;
        if (!manager->member) {
                join(manager);
                return;
        }
        ald_member_configure(manager->member, manager->config);
        if (mirrored != is_mirroring(manager))
                ald_member_set_mirroring(manager->member, is_mirroring(manager));
        if (new_trust)
                ald_member_reconnect(manager->member);
}

void ald_cluster_manager_configure(AldClusterManager *manager)
{
        configure(manager);
        changed(manager); /* who has left has no member that would tell of it */
}

static int random_id(AldId *ret)
{
        sd_id128_t random;
        int r;

        r = sd_id128_randomize(&random);
        if (r >= 0)
                memcpy(ret->bytes, random.bytes, sizeof ret->bytes);
        return r;
}

static int new_status(AldClusterManager *manager)
{
        AldId instance, boot = { 0 };
        sd_id128_t booted;
        int r;

        r = random_id(&instance);
        if (r < 0)
                return r;
        if (sd_id128_get_boot(&booted) >= 0)
                memcpy(boot.bytes, booted.bytes, sizeof boot.bytes);
        manager->status = ald_own_status_new(&instance, &boot);
        return 0;
}

int ald_cluster_manager_new(AldService *service, AldClusterManager **ret)
{
        AldClusterManager *manager = g_new0(AldClusterManager, 1);
        char id[ALD_NODE_ID_SIZE];
        int r;

        *ret = manager;
        manager->service = service;
        manager->since = ald_realtime_usec();
        r = ald_node_id(id);
        if (r < 0)
                return r;
        r = ald_id_parse(id, &manager->own);
        if (r >= 0)
                r = new_status(manager);
        if (r < 0)
                return r;
        manager->trust = ald_trust_new(id);
        r = ald_handover_new(service, &handover_handler, manager, &manager->handover);
        if (r < 0)
                return r;
        ald_handover_own_presence(manager->handover, &manager->own, ALD_PRESENCE_STATE_ONLINE);
        ald_cluster_manager_configure(manager);
        return 0;
}

void ald_cluster_manager_free(AldClusterManager *manager)
{
        if (!manager)
                return;
        ald_member_free(manager->member);
        ald_handover_free(manager->handover);
        ald_trust_free(manager->trust);
        ald_own_status_free(manager->status);
        ald_cluster_config_free(manager->config);
        g_free(manager);
}

void ald_cluster_manager_watch(AldClusterManager *manager, void (*callback)(void *userdata), void *userdata)
{
        manager->changed = callback;
        manager->userdata = userdata;
}

void ald_cluster_manager_set_wanted(AldClusterManager *manager, bool wanted)
{
        bool mirrored = is_mirroring(manager);

        manager->wanted = wanted;
        if (manager->member && mirrored != is_mirroring(manager))
                ald_member_set_mirroring(manager->member, !mirrored);
        changed(manager);
}

AldClusterState ald_cluster_manager_state(const AldClusterManager *manager)
{
        if (manager->duplicate)
                return ALD_CLUSTER_DUPLICATE;
        if (!manager->member || ald_brokers_count(ald_member_brokers(manager->member)) == 0)
                return ALD_CLUSTER_IDLE;
        if (ald_brokers_count_connected(ald_member_brokers(manager->member)) > 0)
                return ALD_CLUSTER_ONLINE;
        return ALD_CLUSTER_CONNECTING;
}

/* Of the broker that is published to; without one, of the first that tells a reason. */
static char *brokers_problem(const AldClusterManager *manager)
{
        AldBrokers *brokers = ald_member_brokers(manager->member);
        AldBroker *first = ald_brokers_first(brokers);

        if (ald_brokers_count(brokers) == 0)
                return g_strdup(manager->config->discovery ? "No broker is configured, and none was found"
                                                           : "No broker is configured");
        for (size_t i = 0; i < ald_brokers_count(brokers); i++) {
                AldBroker *broker = ald_brokers_get(brokers, i);
                g_autofree char *problem = ald_member_broker_problem(manager->member, broker);

                if (problem && (!first || first == broker))
                        return g_strdup_printf("Broker %s: %s", ald_broker_address(broker), problem);
        }
        return NULL;
}

char *ald_cluster_manager_problem(const AldClusterManager *manager)
{
        char *problem = NULL;

        if (manager->duplicate)
                return g_strdup(DUPLICATE_PROBLEM);
        if (manager->member && ald_trust_problem(manager->trust))
                return g_strdup(ald_trust_problem(manager->trust));
        if (manager->member)
                problem = brokers_problem(manager);
        if (!problem && manager->member && !ald_handover_has_state(manager->handover))
                return g_strdup("The state service is not there: start alidade-stated");
        return problem ? problem : g_strdup("");
}

const char *ald_cluster_manager_name(const AldClusterManager *manager)
{
        return manager->config->name;
}

const AldId *ald_cluster_manager_own(const AldClusterManager *manager)
{
        return &manager->own;
}

const AldId *ald_cluster_manager_instance(const AldClusterManager *manager)
{
        return ald_own_status_instance(manager->status);
}

AldMirrorMode ald_cluster_manager_mirror(const AldClusterManager *manager)
{
        return manager->config->mirror;
}

bool ald_cluster_manager_is_mirroring(const AldClusterManager *manager)
{
        return manager->member && is_mirroring(manager);
}

uint64_t ald_cluster_manager_refused(const AldClusterManager *manager)
{
        return manager->member ? ald_receiver_refused(ald_member_receiver(manager->member)) : 0;
}

uint64_t ald_cluster_manager_certificate_expiry(const AldClusterManager *manager)
{
        return *manager->config->name ? ald_trust_expiry(manager->trust) : UINT64_MAX;
}

uint64_t ald_cluster_manager_since(const AldClusterManager *manager)
{
        return manager->since;
}

AldMember *ald_cluster_manager_member(const AldClusterManager *manager)
{
        return manager->member;
}
