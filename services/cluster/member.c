/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/member-private.h"
#include "services/common/errors.h"

#define EXPIRE_SECONDS 600u

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

/* Passes the newest record from before a reinstallation to the state service, which then exceeds its
 * epoch. */
static bool on_stale(const AldUpdate *update, void *userdata)
{
        AldMember *member = userdata;

        if (!ald_handover_has_state(member->setup.handover))
                return false;
        ald_handover_record(member->setup.handover, update);
        return true;
}

static gboolean on_expire(gpointer userdata)
{
        AldMember *member = userdata;

        ald_announcer_expire(member->announcer, member->expiry_usec);
        ald_receiver_expire(member->receiver, now_usec());
        ald_trust_check(member->setup.trust, ald_realtime_usec());
        ald_trust_remind_broker(member->setup.trust);
        ald_member_changed(member);
        return G_SOURCE_CONTINUE;
}

static void on_discovered(const AldBrokerAddress *addresses, size_t n, void *userdata)
{
        AldMember *member = userdata;

        ald_brokers_discover(member->brokers, addresses, n);
}

static int set_discovery(AldMember *member, bool discovery)
{
        if (!discovery && member->discovery)
                ald_brokers_discover(member->brokers, NULL, 0);
        if (!discovery)
                g_clear_pointer(&member->discovery, ald_discovery_free);
        if (!discovery || member->discovery)
                return 0;
        return ald_discovery_new(
                member->setup.service, member->cluster, on_discovered, member, &member->discovery);
}

int ald_member_new(const AldMemberSetup *setup, const AldClusterConfig *config, AldMember **ret)
{
        g_autoptr(AldMember) member = g_new0(AldMember, 1);
        const AldTopic topic = { .type = ALD_TOPIC_STATUS, .node = *setup->own };
        g_autofree char *will_topic = ald_topic_format(&topic, config->name);
        char id[ALD_ID_STRING_SIZE];

        member->setup = *setup;
        member->own = *setup->own;
        member->cluster = g_strdup(config->name);
        member->has_peers = config->mirror != ALD_MIRROR_NONE;
        member->brokers = ald_brokers_new(&ald_member_brokers_handler, member);
        if (!member->brokers)
                return -ENOMEM;
        const AldAnnouncerSetup announcer = { setup->own, config->name, member->brokers, setup->status,
                setup->trust, ald_member_changed, member };
        member->announcer = ald_announcer_new(&announcer);
        member->receiver = ald_receiver_new(setup->own, config->name, &ald_member_receiver_handler, member);
        ald_handover_set_nodes(setup->handover, ald_receiver_nodes(member->receiver));
        member->presence_timer = ald_presence_timer_new(member->receiver);
        member->subscriber = ald_subscriber_new(
                setup->own, config->name, member->brokers, ald_receiver_nodes(member->receiver));
        member->will_delay = ald_will_delay_new(ald_member_receive, member);
        member->crl_limit = ald_crl_limit_new(ald_member_receive, member);
        member->stale = ald_stale_own_records_new(on_stale, member);
        member->duplicate_timer = ald_timer_new("duplicate", ald_member_on_duplicate_timer, member);
        member->answer_timer = ald_timer_new("answer", ald_member_on_answer, member);
        member->renewals = ald_renewals_new(setup->own, config->name, member->brokers);
        ald_subscriber_set_renewals(member->subscriber, member->renewals);
        member->expire_timer = g_timeout_add_seconds(EXPIRE_SECONDS, on_expire, member);
        ald_brokers_set_identity(member->brokers, ald_id_format(setup->own, id), will_topic);
        *ret = g_steal_pointer(&member);
        return 0;
}

void ald_member_free(AldMember *member)
{
        if (!member)
                return;
        g_clear_handle_id(&member->expire_timer, g_source_remove);
        g_clear_handle_id(&member->reconnect_timer, g_source_remove);
        ald_discovery_free(member->discovery);
        ald_timer_free(member->duplicate_timer);
        ald_timer_free(member->answer_timer);
        if (member->announcer)
                ald_announcer_publish_status(member->announcer, ALD_NODE_STATUS_STATE_OFFLINE);
        ald_brokers_free(member->brokers);
        ald_announcer_free(member->announcer);
        ald_will_delay_free(member->will_delay);
        ald_crl_limit_free(member->crl_limit);
        ald_stale_own_records_free(member->stale);
        ald_renewals_free(member->renewals);
        ald_subscriber_free(member->subscriber);
        ald_presence_timer_free(member->presence_timer);
        ald_handover_set_nodes(member->setup.handover, NULL);
        ald_receiver_free(member->receiver);
        g_free(member->cluster);
        g_free(member);
}

void ald_member_configure(AldMember *member, const AldClusterConfig *config)
{
        int r;

        member->expiry_usec = config->expiry_usec;
        (void) ald_member_end_duplicates(member);
        if (member->has_peers != (config->mirror != ALD_MIRROR_NONE)) {
                member->has_peers = !member->has_peers;
                ald_member_set_mirroring(member, member->mirroring);
        }
        ald_receiver_set_expiry(member->receiver, config->expiry_usec);
        ald_renewals_publish(member->renewals);
        ald_brokers_configure(
                member->brokers, (const AldBrokerAddress *) config->brokers->data, config->brokers->len);
        r = set_discovery(member, config->discovery);
        if (r < 0)
                g_warning("Cannot look for brokers with Avahi: %s", g_strerror(-r));
}

void ald_member_set_mirroring(AldMember *member, bool mirroring)
{
        AldSubscriberScope scope = member->has_peers ? ALD_SUBSCRIBER_PEERS : ALD_SUBSCRIBER_OWN;

        member->mirroring = mirroring;
        if (!mirroring)
                ald_handover_clear(member->setup.handover);
        ald_receiver_set_peers(member->receiver, member->has_peers);
        ald_receiver_set_mirroring(member->receiver, mirroring, now_usec(), ald_realtime_usec());
        ald_subscriber_set_scope(member->subscriber, mirroring ? ALD_SUBSCRIBER_ALL : scope);
}

void ald_member_drop_nodes(AldMember *member)
{
        ald_receiver_set_mirroring(member->receiver, false, now_usec(), ald_realtime_usec());
}

void ald_member_request_all(AldMember *member)
{
        ald_receiver_expect_all(member->receiver);
        ald_subscriber_request_all(member->subscriber);
}

void ald_member_request_own(AldMember *member)
{
        if (!ald_subscriber_ask_for(member->subscriber, &member->own))
                ald_handover_note_loss(member->setup.handover);
}

void ald_member_report_all_again(AldMember *member)
{
        ald_receiver_report_all_again(member->receiver);
}

int ald_member_forget(AldMember *member, const AldId *target)
{
        AldClusterNode *node = ald_nodes_find(ald_receiver_nodes(member->receiver), target);
        uint64_t real = ald_realtime_usec();
        AldNodeForget forget;
        AldStamp stamp;
        int r;

        if (ald_id_equal(target, &member->own))
                return -ALD_E_NODE_ONLINE;
        if (!node || node->is_forgotten)
                return -ALD_E_NO_SUCH_NODE;
        if (!ald_receiver_may_forget(member->receiver, node, now_usec()))
                return -ALD_E_NODE_ONLINE;
        if (!ald_brokers_first(member->brokers))
                return -ALD_E_NOT_JOINED;
        stamp = node->newest;
        /* If no record of it was seen, this forgets everything up to the end of its last epoch. */
        if (stamp.epoch < MAX(node->presence.epoch, 1))
                stamp = (AldStamp){ MAX(node->presence.epoch, 1), ALD_INTEGER_MAX };
        forget = (AldNodeForget){ .epoch = stamp.epoch, .sequence = stamp.seq, .sent_usec = real };
        r = ald_announcer_forget(member->announcer, target, &forget);
        if (r < 0)
                return r;
        node->forgotten_here = true;
        ald_receiver_forget(member->receiver, target, &stamp, now_usec(), real);
        return 0;
}

const AldQuotaReportRow *ald_member_refused(const AldMember *member, size_t *ret_n)
{
        *ret_n = member->n_refused;
        return member->refused;
}

AldAnnouncer *ald_member_announcer(AldMember *member)
{
        return member->announcer;
}

AldBrokers *ald_member_brokers(AldMember *member)
{
        return member->brokers;
}

AldReceiver *ald_member_receiver(AldMember *member)
{
        return member->receiver;
}
