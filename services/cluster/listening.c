/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/listening.h"
#include "services/cluster/excess.h"
#include "services/cluster/subscriptions.h"
#include "services/common/service.h"
#include "services/common/timer.h"

/* How long the state service is awaited, which may start together with us. */
#define HOLD_USEC (2 * G_USEC_PER_SEC)
/* The nodes to measure links with change as nodes come and go, and as their turns pass. */
#define PEERS_SOON_USEC (2 * G_USEC_PER_SEC)
#define PEERS_USEC (60 * G_USEC_PER_SEC)

struct AldListening {
        AldId own;
        char *cluster;
        AldBrokers *brokers;
        AldNodes *nodes;
        const AldRenewals *renewals;
        AldListeningScope scope;
        bool subscribed;
        AldTimer *hold_timer, *peers_timer;
        gint64 peers_due; /* ALD_TIMER_NEVER: it does not depend on who is there */
};

static char **filters_of_scope(const AldListening *listening)
{
        if (listening->scope == ALD_LISTENING_TO_ALL)
                return ald_subscriptions_to_all(listening->cluster);
        return ald_subscriptions_to_peers(listening->cluster, &listening->own,
                listening->scope == ALD_LISTENING_TO_PEERS ? listening->nodes : NULL, ald_realtime_usec());
}

/* Messages of the brokers themselves, in any scope. */
static char **wanted_filters(const AldListening *listening)
{
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) filters = filters_of_scope(listening);

        g_strv_builder_addv(builder, (const char **) filters);
        if (listening->scope != ALD_LISTENING_TO_ALL && listening->renewals) {
                g_auto(GStrv) renewals = ald_renewals_filters(listening->renewals);

                g_strv_builder_addv(builder, (const char **) renewals);
        }
        g_strv_builder_add(builder, ALD_EXCESS_TOPIC);
        return g_strv_builder_end(builder);
}

void ald_listening_set_renewals(AldListening *listening, const AldRenewals *renewals)
{
        listening->renewals = renewals;
}

static void subscribe(AldListening *listening, bool again)
{
        g_auto(GStrv) filters = wanted_filters(listening);

        ald_brokers_subscribe(listening->brokers, (const char *const *) filters, again);
        listening->subscribed = true;
}

static void schedule_peers(AldListening *listening, gint64 delay)
{
        gint64 due = g_get_monotonic_time() + delay;

        if (listening->scope == ALD_LISTENING_TO_ALL || due >= listening->peers_due)
                return;
        listening->peers_due = due;
        ald_timer_set(listening->peers_timer, due);
}

static void on_peers(void *userdata)
{
        AldListening *listening = userdata;

        listening->peers_due = ALD_TIMER_NEVER;
        if (listening->scope == ALD_LISTENING_TO_ALL)
                return;
        if (listening->subscribed)
                subscribe(listening, false);
        schedule_peers(listening, PEERS_USEC);
}

static void on_hold(void *userdata)
{
        ald_listening_ask_for_all(userdata);
}

AldListening *ald_listening_new(const AldId *own, const char *cluster, AldBrokers *brokers, AldNodes *nodes)
{
        AldListening *listening = g_new0(AldListening, 1);

        listening->own = *own;
        listening->cluster = g_strdup(cluster);
        listening->brokers = brokers;
        listening->nodes = nodes;
        listening->peers_timer = ald_timer_new("peers", on_peers, listening);
        listening->peers_due = ALD_TIMER_NEVER;
        listening->hold_timer = ald_timer_new("hold", on_hold, listening);
        ald_timer_set(listening->hold_timer, g_get_monotonic_time() + HOLD_USEC);
        return listening;
}

void ald_listening_free(AldListening *listening)
{
        if (!listening)
                return;
        ald_timer_free(listening->hold_timer);
        ald_timer_free(listening->peers_timer);
        g_free(listening->cluster);
        g_free(listening);
}

void ald_listening_set_scope(AldListening *listening, AldListeningScope scope)
{
        listening->scope = scope;
        if (listening->subscribed)
                subscribe(listening, true);
        schedule_peers(listening, PEERS_USEC);
}

void ald_listening_note_presence(AldListening *listening)
{
        schedule_peers(listening, PEERS_SOON_USEC);
}

void ald_listening_ask_for_all(AldListening *listening)
{
        ald_timer_set(listening->hold_timer, ALD_TIMER_NEVER);
        subscribe(listening, true);
}

bool ald_listening_ask_for(AldListening *listening, const AldId *node)
{
        g_autofree char *filter = ald_subscription_to(listening->cluster, node);

        return !listening->subscribed || ald_brokers_ask_again(listening->brokers, filter);
}
