/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/subscriber.h"
#include "services/cluster/peers/quota-report.h"
#include "services/cluster/subscriptions.h"
#include "services/common/service.h"
#include "services/common/timer.h"

/* How long subscriptions wait for the state service, which may start at the same time. */
#define HOLD_USEC (2 * G_USEC_PER_SEC)
/* The set of nodes to measure links with changes soon after nodes come and go, and from period to period. */
#define PEERS_SOON_USEC (2 * G_USEC_PER_SEC)
#define PEERS_USEC (60 * G_USEC_PER_SEC)

struct AldSubscriber {
        AldId own;
        char *cluster;
        AldBrokers *brokers;
        AldNodes *nodes;
        const AldRenewals *renewals;
        AldSubscriberScope scope;
        bool subscribed;
        AldTimer *hold_timer, *peers_timer;
        gint64 peers_due; /* ALD_TIMER_NEVER: subscriptions do not depend on the nodes that are present */
};

static char **filters_of_scope(const AldSubscriber *subscriber)
{
        if (subscriber->scope == ALD_SUBSCRIBER_ALL)
                return ald_subscriptions_to_all(subscriber->cluster);
        return ald_subscriptions_to_peers(subscriber->cluster, &subscriber->own,
                subscriber->scope == ALD_SUBSCRIBER_PEERS ? subscriber->nodes : NULL, ald_realtime_usec());
}

/* The messages of the brokers themselves are wanted in any scope. */
static char **wanted_filters(const AldSubscriber *subscriber)
{
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) filters = filters_of_scope(subscriber);

        g_strv_builder_addv(builder, (const char **) filters);
        if (subscriber->scope != ALD_SUBSCRIBER_ALL && subscriber->renewals) {
                g_auto(GStrv) renewals = ald_renewals_filters(subscriber->renewals);

                g_strv_builder_addv(builder, (const char **) renewals);
        }
        g_strv_builder_add(builder, ALD_QUOTA_REPORT_TOPIC);
        return g_strv_builder_end(builder);
}

void ald_subscriber_set_renewals(AldSubscriber *subscriber, const AldRenewals *renewals)
{
        subscriber->renewals = renewals;
}

static void subscribe(AldSubscriber *subscriber, bool again)
{
        g_auto(GStrv) filters = wanted_filters(subscriber);

        ald_brokers_subscribe(subscriber->brokers, (const char *const *) filters, again);
        subscriber->subscribed = true;
}

static void schedule_peers(AldSubscriber *subscriber, gint64 delay)
{
        gint64 due = g_get_monotonic_time() + delay;

        if (subscriber->scope == ALD_SUBSCRIBER_ALL || due >= subscriber->peers_due)
                return;
        subscriber->peers_due = due;
        ald_timer_set(subscriber->peers_timer, due);
}

static void on_peers_due(void *userdata)
{
        AldSubscriber *subscriber = userdata;

        subscriber->peers_due = ALD_TIMER_NEVER;
        if (subscriber->scope == ALD_SUBSCRIBER_ALL)
                return;
        if (subscriber->subscribed)
                subscribe(subscriber, false);
        schedule_peers(subscriber, PEERS_USEC);
}

static void on_hold_over(void *userdata)
{
        ald_subscriber_request_all(userdata);
}

AldSubscriber *ald_subscriber_new(const AldId *own, const char *cluster, AldBrokers *brokers, AldNodes *nodes)
{
        AldSubscriber *subscriber = g_new0(AldSubscriber, 1);

        subscriber->own = *own;
        subscriber->cluster = g_strdup(cluster);
        subscriber->brokers = brokers;
        subscriber->nodes = nodes;
        subscriber->peers_timer = ald_timer_new("peers", on_peers_due, subscriber);
        subscriber->peers_due = ALD_TIMER_NEVER;
        subscriber->hold_timer = ald_timer_new("hold", on_hold_over, subscriber);
        ald_timer_set(subscriber->hold_timer, g_get_monotonic_time() + HOLD_USEC);
        return subscriber;
}

void ald_subscriber_free(AldSubscriber *subscriber)
{
        if (!subscriber)
                return;
        ald_timer_free(subscriber->hold_timer);
        ald_timer_free(subscriber->peers_timer);
        g_free(subscriber->cluster);
        g_free(subscriber);
}

void ald_subscriber_set_scope(AldSubscriber *subscriber, AldSubscriberScope scope)
{
        subscriber->scope = scope;
        if (subscriber->subscribed)
                subscribe(subscriber, true);
        schedule_peers(subscriber, PEERS_USEC);
}

void ald_subscriber_note_presence(AldSubscriber *subscriber)
{
        schedule_peers(subscriber, PEERS_SOON_USEC);
}

void ald_subscriber_request_all(AldSubscriber *subscriber)
{
        ald_timer_set(subscriber->hold_timer, ALD_TIMER_NEVER);
        subscribe(subscriber, true);
}

bool ald_subscriber_ask_for(AldSubscriber *subscriber, const AldId *node)
{
        g_autofree char *filter = ald_subscription_to(subscriber->cluster, node);

        return !subscriber->subscribed || ald_brokers_request_again(subscriber->brokers, filter);
}
