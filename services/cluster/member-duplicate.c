/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/member-private.h"

/* Limits how often we answer, and renew our instance, if someone keeps using our id: each answer reaches all
 * nodes that subscribe. */
#define ANSWER_USEC (G_USEC_PER_SEC / 10)
#define RENEW_USEC (5 * G_USEC_PER_SEC)

void ald_member_changed(void *userdata)
{
        AldMember *member = userdata;

        member->setup.changed(member->setup.userdata);
}

bool ald_member_is_duplicate(AldMember *member)
{
        return ald_brokers_count_held(member->brokers) > 0 &&
               ald_brokers_count_connected(member->brokers) == 0;
}

/* Takes a new instance. The will of a connection names the instance, so this reconnects. */
static void renew_instance(AldMember *member)
{
        AldId instance;

        if (ald_own_status_make_instance(&instance) >= 0)
                ald_own_status_renew(member->setup.status, &instance);
        ald_brokers_reconnect(member->brokers);
        ald_member_changed(member);
}

bool ald_member_end_duplicates(AldMember *member)
{
        if (ald_brokers_count_held(member->brokers) == 0)
                return false;
        ald_timer_set(member->duplicate_timer, ALD_TIMER_NEVER);
        ald_brokers_release(member->brokers);
        renew_instance(member);
        return true;
}

void ald_member_on_duplicate_timer(void *userdata)
{
        (void) ald_member_end_duplicates(userdata);
}

/* If another broker accepts us, this one may have forged the duplicate, so it publishes "offline" instead of
 * "duplicate" to the other nodes. The retry is randomized, so that two machines with one id do not check
 * again at the same time. */
void ald_member_leave_for_duplicate(AldMember *member, AldBroker *broker)
{
        bool elsewhere = ald_brokers_count_connected(member->brokers) > 1;

        if (!ald_broker_connected(broker))
                return;
        if (ald_brokers_count_held(member->brokers) == 0)
                ald_timer_set(member->duplicate_timer,
                        g_get_monotonic_time() + (gint64) (g_random_double_range(0.75, 1.25) *
                                                           (double) ALD_DUPLICATE_RETRY_USEC));
        g_warning("Another machine uses the id of this one at broker %s; disconnecting from it for some "
                  "minutes",
                ald_broker_address(broker));
        ald_announcer_publish_status_to(member->announcer, broker,
                elsewhere ? ALD_NODE_STATUS_STATE_OFFLINE : ALD_NODE_STATUS_STATE_DUPLICATE);
        ald_brokers_hold(member->brokers, broker, "another machine uses the id of this one there");
}

void ald_member_on_answer(void *userdata)
{
        AldMember *member = userdata;
        bool renews = member->renews;

        member->answers = member->renews = false;
        member->answered = g_get_monotonic_time();
        if (renews)
                renew_instance(member);
        else
                ald_announcer_publish_status(member->announcer, ALD_NODE_STATUS_STATE_ONLINE);
        ald_member_changed(member);
}

void ald_member_answer_foreign_status(AldMember *member, bool renew)
{
        gint64 now = g_get_monotonic_time();

        member->renews = member->renews || renew;
        if (member->answers)
                return;
        member->answers = true;
        ald_timer_set(member->answer_timer, MAX(now, member->answered + (renew ? RENEW_USEC : ANSWER_USEC)));
}

void ald_member_reconnect(AldMember *member)
{
        if (!ald_member_end_duplicates(member))
                ald_brokers_reconnect(member->brokers);
}
