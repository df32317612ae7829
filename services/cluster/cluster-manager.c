/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <systemd/sd-id128.h>

#include "common/node-id.h"
#include "services/cluster/cluster-manager.h"
#include "services/common/timer.h"

/* Being without a broker for less than this, as at the start, is not reported as a finding. */
#define BROKERLESS_USEC (10 * G_USEC_PER_SEC)

#define DUPLICATE_PROBLEM                                                                                   \
        "Another machine has the id of this one, as copies of the same image do, or someone else uses its " \
        "certificate. On a copy, remove /etc/machine-id, run systemd-machine-id-setup, reboot, and join "   \
        "the cluster again. If there is no copy, revoke the certificate of this machine and join again. "   \
        "This machine retries every few minutes, and after systemctl reload alidade-clusterd"

#define CONTESTED_PROBLEM                                                                                    \
        "Someone else published under the id of this machine within the last few minutes, and may have its " \
        "certificate. If there is no copy of this machine, revoke its certificate and join again"

struct AldClusterManager {
        AldService *service;
        AldId own;
        uint64_t since;
        AldOwnStatus *status;
        AldTrust *trust;
        AldHandover *handover;
        AldClusterConfig *config;
        AldMember *member;
        bool begun; /* may join a cluster */
        bool wanted;
        AldPresenceState presence; /* of this node, as last sent to the state service */
        gint64 brokerless_since;   /* since when there has been no broker; 0: there is one, or no member */
        AldTimer *presence_timer;
        bool put_own; /* the running state service was sent the newest stamp of this node */
        AldTimer *behind_timer;
        bool epoch_missing; /* the state service has sent all its records, which were none */
        void (*changed)(void *userdata);
        void *userdata;
};

static void notify_changed(AldClusterManager *manager)
{
        if (manager->changed)
                manager->changed(manager->userdata);
}

static void on_begin(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (manager->member)
                ald_announcer_begin(ald_member_announcer(manager->member));
}

/* If the state service lost its state, or restarted after its clock was set back, its epoch is lower than
 * that of records that other nodes already have, and they would refuse all its records. Sends it the newest
 * known stamp of this node, which it then exceeds. */
static void on_behind(void *userdata)
{
        AldClusterManager *manager = userdata;
        AldUpdate newest;

        if (!manager->member || manager->put_own || !ald_handover_has_state(manager->handover) ||
                !ald_announcer_is_behind(ald_member_announcer(manager->member)))
                return;
        manager->put_own = true;
        newest = ald_announcer_newest(ald_member_announcer(manager->member));
        g_message("The state service restarted with an older epoch; sending it the newest one of this node");
        ald_handover_put_own(manager->handover, &newest);
}

static void on_record(const AldUpdate *update, void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return;
        ald_announcer_record(ald_member_announcer(manager->member), update);
        if (!manager->put_own && ald_announcer_is_behind(ald_member_announcer(manager->member)))
                ald_timer_set(manager->behind_timer, g_get_monotonic_time());
        if (manager->epoch_missing)
                ald_member_request_own(manager->member);
        manager->epoch_missing = false;
}

/* Requests what the brokers have stored only now: our own epoch must be known to judge it. */
static void on_complete(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return;
        if (manager->put_own && ald_announcer_is_behind(ald_member_announcer(manager->member))) {
                g_warning("The state service still uses an older epoch than the newest known of this node; "
                          "its records are published, but nodes that have newer ones ignore them");
                ald_announcer_accept_older_epoch(ald_member_announcer(manager->member));
                ald_handover_read_own(manager->handover);
                return;
        }
        manager->epoch_missing = ald_own_status_epoch(manager->status) == 0;
        ald_announcer_end(ald_member_announcer(manager->member));
        ald_member_request_all(manager->member);
}

static void on_owner(bool there, void *userdata)
{
        AldClusterManager *manager = userdata;

        manager->put_own = false;
        if (manager->member && there)
                ald_member_report_all_again(manager->member);
        notify_changed(manager);
}

static void on_records_lost(void *userdata)
{
        AldClusterManager *manager = userdata;

        if (!manager->member)
                return;
        ald_member_report_all_again(manager->member);
        ald_member_request_all(manager->member);
}

static const AldHandoverHandler handover_handler = {
        .own = { .begin = on_begin, .record = on_record, .complete = on_complete },
        .owner = on_owner,
        .lost = on_records_lost,
};

/* A machine outside any cluster counts as online: it has no duplicate and needs no broker. */
static AldPresenceState determine_presence(AldClusterManager *manager)
{
        gint64 now = g_get_monotonic_time();

        if (!manager->member || ald_brokers_count_connected(ald_member_brokers(manager->member)) > 0) {
                manager->brokerless_since = 0;
                ald_timer_set(manager->presence_timer, ALD_TIMER_NEVER);
                return ALD_PRESENCE_STATE_ONLINE;
        }
        if (ald_member_is_duplicate(manager->member))
                return ALD_PRESENCE_STATE_DUPLICATE;
        if (manager->brokerless_since == 0) {
                manager->brokerless_since = now;
                ald_timer_set(manager->presence_timer, now + BROKERLESS_USEC);
        }
        return now - manager->brokerless_since < BROKERLESS_USEC ? ALD_PRESENCE_STATE_ONLINE
                                                                 : ALD_PRESENCE_STATE_STALE;
}

static void update_own_presence(AldClusterManager *manager)
{
        AldPresenceState presence = determine_presence(manager);

        if (presence == manager->presence)
                return;
        if (presence == ALD_PRESENCE_STATE_DUPLICATE)
                g_warning("%s", DUPLICATE_PROBLEM);
        manager->presence = presence;
        ald_handover_own_presence(manager->handover, &manager->own, presence);
}

static void on_presence_timer(void *userdata)
{
        update_own_presence(userdata);
}

static void on_member_changed(void *userdata)
{
        AldClusterManager *manager = userdata;

        update_own_presence(manager);
        notify_changed(manager);
}

/* Returns whether the configuration and the clients ask for all records of other nodes, even outside a
 * cluster. */
static bool wants_all_records(const AldClusterManager *manager)
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

/* Begins a new instance for each membership, because each membership counts its connections from the start:
 * with the same instance, other nodes would mistake the end of a connection for the end of an earlier one. */
static int renew_own_status(AldClusterManager *manager)
{
        AldId instance, boot = { 0 };
        sd_id128_t booted;
        int r;

        r = ald_own_status_make_instance(&instance);
        if (r < 0)
                return r;
        if (sd_id128_get_boot(&booted) >= 0)
                memcpy(boot.bytes, booted.bytes, sizeof boot.bytes);
        ald_own_status_free(manager->status);
        manager->status = ald_own_status_new(&instance, &boot);
        return 0;
}

static int create_member(AldClusterManager *manager)
{
        const AldMemberSetup setup = {
                .service = manager->service,
                .own = &manager->own,
                .status = manager->status,
                .trust = manager->trust,
                .handover = manager->handover,
                .changed = on_member_changed,
                .userdata = manager,
        };

        return ald_member_new(&setup, manager->config, &manager->member);
}

static void join_cluster(AldClusterManager *manager)
{
        int r;

        r = renew_own_status(manager);
        if (r >= 0)
                r = create_member(manager);
        if (r < 0) {
                g_critical("Cannot join cluster %s: %s", manager->config->name, g_strerror(-r));
                return;
        }
        ald_member_set_mirroring(manager->member, wants_all_records(manager));
        ald_member_configure(manager->member, manager->config);
        ald_handover_read_own(manager->handover);
}

/* Leaves the cluster; the state service then forgets all its nodes. */
static void leave_cluster(AldClusterManager *manager)
{
        ald_handover_clear(manager->handover);
        if (manager->member)
                ald_member_drop_nodes(manager->member);
        g_clear_pointer(&manager->member, ald_member_free);
}

static void apply_config(AldClusterManager *manager)
{
        g_autoptr(AldClusterConfig) before = manager->config;
        bool mirrored = before && wants_all_records(manager), new_trust, is_other;

        manager->config = ald_cluster_config_new(ald_service_config(manager->service));
        new_trust = *manager->config->name && ald_trust_load(manager->trust);
        is_other = !before || !g_str_equal(before->name, manager->config->name);
        if (is_other)
                leave_cluster(manager);
        update_own_presence(manager);
        if (!*manager->config->name)
                return;
        if (!manager->member) {
                if (manager->begun)
                        join_cluster(manager);
                return;
        }
        ald_member_configure(manager->member, manager->config);
        if (mirrored != wants_all_records(manager))
                ald_member_set_mirroring(manager->member, wants_all_records(manager));
        if (new_trust)
                ald_member_reconnect(manager->member);
}

void ald_cluster_manager_configure(AldClusterManager *manager)
{
        apply_config(manager);
        update_own_presence(manager);
        notify_changed(manager); /* after leaving, no member reports it */
}

int ald_cluster_manager_new(AldService *service, AldClusterManager **ret)
{
        g_autoptr(AldClusterManager) manager = g_new0(AldClusterManager, 1);
        char id[ALD_NODE_ID_SIZE];
        int r;

        manager->service = service;
        manager->since = ald_realtime_usec();
        r = ald_node_id(id);
        if (r < 0)
                return r;
        r = ald_id_parse(id, &manager->own);
        if (r >= 0)
                r = renew_own_status(manager);
        if (r < 0)
                return r;
        manager->trust = ald_trust_new(id);
        manager->behind_timer = ald_timer_new("behind", on_behind, manager);
        manager->presence_timer = ald_timer_new("own-presence", on_presence_timer, manager);
        manager->presence = ALD_PRESENCE_STATE_ONLINE;
        r = ald_handover_new(service, &handover_handler, manager, &manager->handover);
        if (r < 0)
                return r;
        ald_handover_own_presence(manager->handover, &manager->own, ALD_PRESENCE_STATE_ONLINE);
        ald_cluster_manager_configure(manager);
        *ret = g_steal_pointer(&manager);
        return 0;
}

void ald_cluster_manager_begin(AldClusterManager *manager)
{
        manager->begun = true;
        if (*manager->config->name)
                join_cluster(manager);
        update_own_presence(manager);
        notify_changed(manager);
}

void ald_cluster_manager_free(AldClusterManager *manager)
{
        if (!manager)
                return;
        ald_member_free(manager->member);
        ald_timer_free(manager->behind_timer);
        ald_timer_free(manager->presence_timer);
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
        bool mirrored = wants_all_records(manager);

        manager->wanted = wanted;
        if (manager->member && mirrored != wants_all_records(manager))
                ald_member_set_mirroring(manager->member, !mirrored);
        notify_changed(manager);
}

static const char *const state_names[] = {
        [ALD_CLUSTER_IDLE] = "idle",
        [ALD_CLUSTER_CONNECTING] = "connecting",
        [ALD_CLUSTER_ONLINE] = "online",
        [ALD_CLUSTER_DUPLICATE] = "duplicate",
};

const char *ald_cluster_state_name(AldClusterState state)
{
        return state_names[state];
}

AldClusterState ald_cluster_manager_state(const AldClusterManager *manager)
{
        if (manager->presence == ALD_PRESENCE_STATE_DUPLICATE)
                return ALD_CLUSTER_DUPLICATE;
        if (!manager->member || ald_brokers_count(ald_member_brokers(manager->member)) == 0)
                return ALD_CLUSTER_IDLE;
        if (ald_brokers_count_connected(ald_member_brokers(manager->member)) > 0)
                return ALD_CLUSTER_ONLINE;
        return ALD_CLUSTER_CONNECTING;
}

/* Returns the problem of the broker that this node publishes to or, if it publishes to none, of the first
 * broker that has one. NULL if there is none. */
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

        if (manager->presence == ALD_PRESENCE_STATE_DUPLICATE)
                return g_strdup(DUPLICATE_PROBLEM);
        if (manager->member && ald_trust_problem(manager->trust))
                return g_strdup(ald_trust_problem(manager->trust));
        if (manager->member &&
                ald_own_status_is_contested(manager->status, (uint64_t) g_get_monotonic_time()))
                return g_strdup(CONTESTED_PROBLEM);
        if (manager->member)
                problem = brokers_problem(manager);
        if (!problem && manager->member)
                problem = ald_trust_warning(manager->trust, ald_realtime_usec());
        if (!problem && manager->member && !ald_handover_has_state(manager->handover))
                return g_strdup("The state service is not running: start alidade-stated");
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

const char *ald_cluster_manager_instance(const AldClusterManager *manager)
{
        return ald_own_status_instance(manager->status);
}

AldMirrorMode ald_cluster_manager_mirror(const AldClusterManager *manager)
{
        return manager->config->mirror;
}

bool ald_cluster_manager_is_mirroring(const AldClusterManager *manager)
{
        return manager->member && wants_all_records(manager);
}

uint64_t ald_cluster_manager_refused(const AldClusterManager *manager)
{
        return manager->member ? ald_receiver_refused(ald_member_receiver(manager->member)) : 0;
}

uint64_t ald_cluster_manager_certificate_expiry(const AldClusterManager *manager)
{
        return *manager->config->name ? ald_trust_expiry(manager->trust) : UINT64_MAX;
}

void ald_cluster_manager_membership(const AldClusterManager *manager, AldMembershipMade *ret)
{
        const AldQuotaReportRow *refused = NULL;
        size_t n = 0;

        if (manager->member)
                refused = ald_member_refused(manager->member, &n);
        ald_membership_make(manager->config->name, ald_trust_ends(manager->trust), refused, n, ret);
}

uint64_t ald_cluster_manager_since(const AldClusterManager *manager)
{
        return manager->since;
}

AldMember *ald_cluster_manager_member(const AldClusterManager *manager)
{
        return manager->member;
}
