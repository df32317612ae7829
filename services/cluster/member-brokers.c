/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/member-private.h"
#include "services/cluster/peers/quota-report.h"

#define REFUSED_PUBLISH                                                                                      \
        "it did not deliver what this machine publishes; its access rules may not grant the topics of this " \
        "machine's id"

/* Only this machine can notice this; to other nodes these messages look genuine. */
#define FORGED                                                                                              \
        "someone else publishes under the id of this machine: with its certificate, or because the access " \
        "rules of the broker are not those that alidadectl cluster wrote"

#define CLOSES_CONNECTIONS                                                                                 \
        "it closed the connection several times within minutes, although it can be reached: someone else " \
        "may be using this machine's certificate"

#define WITHHOLDS_KINDS                                                                               \
        "it does not pass on records of %s that this machine publishes: its access rules are older. " \
        "Upgrade Alidade on its machine and run alidadectl cluster renew there"

static AldTls *make_tls(const char *name, char **ret_problem, void *userdata)
{
        AldMember *member = userdata;

        return ald_trust_make_tls(member->setup.trust, name, ret_problem);
}

static char *make_will(uint64_t conn, void *userdata)
{
        AldMember *member = userdata;

        return ald_own_status_write(member->setup.status, ALD_NODE_STATUS_STATE_OFFLINE, conn);
}

static void on_connected(AldBroker *broker, void *userdata)
{
        AldMember *member = userdata;

        ald_announcer_connected(member->announcer, broker);
        ald_renewals_publish(member->renewals);
        ald_receiver_set_connected(
                member->receiver, true, (uint64_t) g_get_monotonic_time(), ald_realtime_usec());
        ald_member_changed(member);
}

static void on_disconnected(AldBroker *broker, const char *reason, void *userdata)
{
        AldMember *member = userdata;
        uint64_t now = (uint64_t) g_get_monotonic_time(), real = ald_realtime_usec();

        if (member->forged_by == ald_broker_number(broker))
                member->forged_by = 0;
        if (member->exceeded == ald_broker_number(broker))
                member->exceeded = 0;
        if (ald_broker_is_of(broker, &member->own))
                member->n_refused = 0;
        ald_will_delay_lose(member->will_delay, ald_broker_number(broker));
        ald_receiver_lose(member->receiver, ald_broker_number(broker), now, real);
        ald_announcer_disconnected(member->announcer, broker);
        if (ald_brokers_count_connected(member->brokers) == 0)
                ald_receiver_set_connected(member->receiver, false, now, real);
        ald_member_changed(member);
}

static void on_first_changed(AldBroker *first, void *userdata)
{
        AldMember *member = userdata;

        /* The broker sends its retained messages, and all nodes publish their records there. */
        if (first)
                ald_receiver_expect_all(member->receiver);
        ald_announcer_first_changed(member->announcer, first);
        ald_member_changed(member);
}

/* Requests again what the inbox had no room for. */
static void note_dropped(AldMember *member)
{
        uint64_t dropped = ald_brokers_dropped(member->brokers);

        if (dropped != member->dropped)
                ald_handover_note_loss(member->setup.handover);
        member->dropped = dropped;
}

void ald_member_receive(const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;

        ald_receiver_take(member->receiver, received, (uint64_t) g_get_monotonic_time(), ald_realtime_usec());
}

static void take_quota_report(AldMember *member, AldBroker *broker, const AldReceived *received)
{
        AldQuotaReportRow report[ALD_QUOTA_REPORT_NODES];
        size_t n = ald_quota_report_read(received->payload, received->size, report);

        if (n > 0) {
                member->exceeded = received->broker;
                member->over_quota = report[0].node;
        } else if (member->exceeded == received->broker) {
                member->exceeded = 0;
        }
        if (ald_broker_is_of(broker, &member->own)) {
                memcpy(member->refused, report, n * sizeof report[0]);
                member->n_refused = n;
        }
        ald_member_changed(member);
}

static void on_message(AldBroker *broker, const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;
        gint64 now = g_get_monotonic_time();

        if (strcmp(received->topic, ALD_QUOTA_REPORT_TOPIC) == 0) {
                take_quota_report(member, broker, received);
                return;
        }
        if (ald_renewals_take(member->renewals, received, now))
                return;
        if (!ald_will_delay_hold(member->will_delay, received, member->cluster, &member->own, now))
                ald_member_receive(received, member);
        note_dropped(member);
}

const AldBrokersHandler ald_member_brokers_handler = {
        .make_tls = make_tls,
        .make_will = make_will,
        .connected = on_connected,
        .disconnected = on_disconnected,
        .first_changed = on_first_changed,
        .message = on_message,
        .changed = ald_member_changed,
};

char *ald_member_broker_problem(AldMember *member, AldBroker *broker)
{
        const char *problem = ald_broker_problem(broker);

        if (member->forged_by == ald_broker_number(broker))
                return g_strdup(FORGED);
        if (!problem && ald_broker_is_contested(broker))
                problem = CLOSES_CONNECTIONS;
        if (!ald_own_status_is_lost(
                    member->setup.status, ald_broker_number(broker), (uint64_t) g_get_monotonic_time())) {
                if (!problem && member->exceeded == ald_broker_number(broker))
                        return ald_quota_report_describe(
                                &member->over_quota, ald_id_equal(&member->over_quota, &member->own));
                if (!problem && broker == ald_brokers_first(member->brokers) &&
                        ald_announcer_unheard_kinds(member->announcer))
                        return g_strdup_printf(
                                WITHHOLDS_KINDS, ald_announcer_unheard_kinds(member->announcer));
                return g_strdup(problem);
        }
        return problem ? g_strdup_printf("%s; before that, " REFUSED_PUBLISH, problem)
                       : g_strdup(REFUSED_PUBLISH);
}
