/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/member-private.h"

#define REFUSED_PUBLISH                                                                                \
        "it passed on nothing of what this machine publishes, as where its access rules do not grant " \
        "the topics of the own id"

/* Only who is spoken for can notice; to all others it is what this machine says. */
#define FORGED                                                                                          \
        "somebody else publishes under the id of this machine: the access rules of the broker are not " \
        "those that alidadectl cluster wrote"

static AldTls *make_tls(const char *name, char **ret_problem, void *userdata)
{
        AldMember *member = userdata;

        return ald_trust_make_tls(member->setup.trust, name, ret_problem);
}

static char *make_will(uint64_t conn, void *userdata)
{
        AldMember *member = userdata;

        return ald_own_status_write(member->setup.status, ALD_PRESENCE_SAYS_OFFLINE, conn);
}

static void on_connected(AldBroker *broker, void *userdata)
{
        AldMember *member = userdata;

        ald_voice_connected(member->voice, broker);
        ald_judging_set_connected(member->judging, true);
        ald_member_changed(member);
}

static void on_disconnected(AldBroker *broker, const char *reason, void *userdata)
{
        AldMember *member = userdata;

        if (member->forged_by == ald_broker_number(broker))
                member->forged_by = 0;
        ald_wills_lose(member->wills, ald_broker_number(broker));
        ald_voice_disconnected(member->voice, broker);
        if (ald_brokers_count_connected(member->brokers) == 0)
                ald_judging_set_connected(member->judging, false);
        ald_member_changed(member);
}

static void on_first_changed(AldBroker *first, void *userdata)
{
        AldMember *member = userdata;

        ald_voice_first_changed(member->voice, first);
        ald_member_changed(member);
}

/* What the inbox had no room for is asked for again, once there is room. */
static void note_dropped(AldMember *member)
{
        uint64_t dropped = ald_brokers_dropped(member->brokers);

        if (dropped != member->dropped)
                ald_handover_note_loss(member->setup.handover);
        member->dropped = dropped;
}

void ald_member_take(const AldReceived *received, void *userdata)
{
        AldMember *member = userdata;

        ald_receiver_take(member->receiver, received, (uint64_t) g_get_monotonic_time(), ald_realtime_usec());
}

static void on_message(AldBroker *broker, const AldBrokerMessage *message, void *userdata)
{
        AldMember *member = userdata;
        const AldReceived received = {
                .broker = ald_broker_number(broker),
                .conn = ald_broker_conn(broker),
                .topic = message->topic,
                .payload = message->payload,
                .size = message->size,
                .retained = message->retained,
        };

        if (!ald_wills_hold(member->wills, &received, member->cluster, &member->own, g_get_monotonic_time()))
                ald_member_take(&received, member);
        note_dropped(member);
}

static void on_brokers_changed(void *userdata)
{
        ald_member_changed(userdata);
}

const AldBrokersHandler ald_member_brokers_handler = {
        .make_tls = make_tls,
        .make_will = make_will,
        .connected = on_connected,
        .disconnected = on_disconnected,
        .first_changed = on_first_changed,
        .message = on_message,
        .changed = on_brokers_changed,
};

char *ald_member_broker_problem(AldMember *member, AldBroker *broker)
{
        const char *problem = ald_broker_problem(broker);

        if (member->forged_by == ald_broker_number(broker))
                return g_strdup(FORGED);
        if (!ald_own_status_is_lost(
                    member->setup.status, ald_broker_number(broker), (uint64_t) g_get_monotonic_time()))
                return g_strdup(problem);
        return problem ? g_strdup_printf("%s; before, " REFUSED_PUBLISH, problem) : g_strdup(REFUSED_PUBLISH);
}
