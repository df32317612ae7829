/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/own/announcer.h"
#include "services/common/timer.h"
#include "state/store/presence.h"
#include "tests/unit/record-maker.h"

/* Brokers and timers are played: one broker, that is always connected, and time that nobody waits for. */

typedef struct Repeat {
        void (*expired)(void *userdata);
        void *userdata;
        AldTimer *timer;
        gint64 due;
} Repeat;

static Repeat repeat;
static unsigned n_statuses;
static bool was_retained;

AldTimer *__real_ald_timer_new(const char *name, void (*expired)(void *userdata), void *userdata);
AldTimer *__wrap_ald_timer_new(const char *name, void (*expired)(void *userdata), void *userdata);
void __wrap_ald_timer_set(AldTimer *timer, gint64 due_usec);
size_t __wrap_ald_brokers_count(AldBrokers *brokers);
AldBroker *__wrap_ald_brokers_get(AldBrokers *brokers, size_t i);
bool __wrap_ald_broker_connected(const AldBroker *broker);
uint64_t __wrap_ald_broker_conn(const AldBroker *broker);
uint32_t __wrap_ald_broker_number(const AldBroker *broker);
int __wrap_ald_broker_publish(
        AldBroker *broker, const char *topic, const void *payload, size_t size, int qos, bool retain);

AldTimer *__wrap_ald_timer_new(const char *name, void (*expired)(void *userdata), void *userdata)
{
        AldTimer *timer = __real_ald_timer_new(name, expired, userdata);

        if (g_str_equal(name, "repeat"))
                repeat = (Repeat){ expired, userdata, timer, ALD_TIMER_NEVER };
        return timer;
}

void __wrap_ald_timer_set(AldTimer *timer, gint64 due_usec)
{
        if (timer == repeat.timer)
                repeat.due = due_usec;
}

size_t __wrap_ald_brokers_count(AldBrokers *brokers)
{
        return 1;
}

AldBroker *__wrap_ald_brokers_get(AldBrokers *brokers, size_t i)
{
        return NULL;
}

bool __wrap_ald_broker_connected(const AldBroker *broker)
{
        return true;
}

uint64_t __wrap_ald_broker_conn(const AldBroker *broker)
{
        return 1;
}

uint32_t __wrap_ald_broker_number(const AldBroker *broker)
{
        return 1;
}

int __wrap_ald_broker_publish(
        AldBroker *broker, const char *topic, const void *payload, size_t size, int qos, bool retain)
{
        g_autoptr(AldRecord) status = NULL;

        g_assert_true(g_str_has_suffix(topic, "/status"));
        g_assert_cmpint(
                ald_message_parse(ALD_KIND_NODE_STATUS, payload, size, ALD_PAYLOAD_SMALL_MAX, &status, NULL),
                ==, 0);
        g_assert_cmpstr(ald_record_as(status, NODE_STATUS, AldNodeStatus)->state, ==, "online");
        n_statuses++;
        was_retained = retain;
        return 0;
}

/* Who listens to nothing else forgets a node that does not. */
static void test_status_is_said_again(void)
{
        const AldId own = id_make(1), instance = id_make(2), boot = id_make(3);
        g_autoptr(AldOwnStatus) status = ald_own_status_new(&instance, &boot);
        const AldAnnouncerSetup setup = { .own = &own, .cluster = "home", .status = status };
        AldAnnouncer *announcer = ald_announcer_new(&setup);

        for (unsigned i = 0; i < 3; i++) {
                gint64 now = g_get_monotonic_time();

                g_assert_cmpuint(n_statuses, ==, i);
                g_assert_cmpint(repeat.due, >, now);
                g_assert_cmpint(repeat.due, <=, now + (gint64) ALD_PRESENCE_REPEAT_USEC);
                repeat.due = ALD_TIMER_NEVER;
                repeat.expired(repeat.userdata);
                g_assert_true(was_retained);
        }
        ald_announcer_free(announcer);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-announcer/status-is-said-again", test_status_is_said_again);
        return g_test_run();
}
