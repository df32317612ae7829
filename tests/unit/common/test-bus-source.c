/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>

#include "common/bus-cleanup.h"
#include "common/bus-source.h"
#include "tests/unit/bus-pair.h"

/* More than a socket holds. */
#define SIGNALS 64
#define SIGNAL_SIZE 65536

/* A service whose client reads only when told to. */
typedef struct Fixture {
        GMainContext *context;
        BusPair *pair;
        GSource *source;
        gint64 slow_usec; /* that handling a call takes */
        bool client_reads;
        int calls;
        int closed; /* the error */
        int signals_read;
} Fixture;

static gint64 clock_usec = 1;

gint64 __wrap_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void)
{
        return clock_usec;
}

/* Instead of waiting, time passes. */
static gint poll_at_once(GPollFD *fds, guint n, gint timeout_ms)
{
        gint ready = g_poll(fds, n, 0);

        if (ready == 0 && timeout_ms > 0)
                /* Deadlines of sd-bus itself are on the real clock, which may be far ahead. */
                clock_usec += MIN((gint64) timeout_ms * 1000, ALD_BUS_STUCK_USEC);
        return ready;
}

static void on_closed(sd_bus *bus, int error, void *userdata)
{
        Fixture *fixture = userdata;

        fixture->closed = error;
}

static void write_signals(Fixture *fixture)
{
        g_autofree char *text = g_strnfill(SIGNAL_SIZE, 'x');

        for (int i = 0; i < SIGNALS; i++)
                g_assert_cmpint(sd_bus_emit_signal(fixture->pair->service, "/test", "org.alidade.Test1",
                                        "Test", "s", text),
                        >=, 0);
}

static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        Fixture *fixture = userdata;

        if (!sd_bus_message_is_method_call(call, NULL, "Slow"))
                return 0;
        fixture->calls++;
        clock_usec += fixture->slow_usec;
        if (fixture->client_reads)
                while (sd_bus_process(fixture->pair->client, NULL) > 0)
                        ;
        write_signals(fixture);
        return sd_bus_reply_method_return(call, NULL);
}

static void set_up(Fixture *fixture, const void *data)
{
        fixture->context = g_main_context_new();
        g_main_context_set_poll_func(fixture->context, poll_at_once);
        fixture->pair = bus_pair_new();
        g_assert_cmpint(sd_bus_add_filter(fixture->pair->service, NULL, on_call, fixture), >=, 0);
        g_main_context_push_thread_default(fixture->context);
        fixture->source = ald_bus_source_new(fixture->pair->service, on_closed, fixture);
        g_main_context_pop_thread_default(fixture->context);
}

static void tear_down(Fixture *fixture, const void *data)
{
        g_source_destroy(fixture->source);
        g_source_unref(fixture->source);
        bus_pair_free(fixture->pair);
        g_main_context_unref(fixture->context);
}

static void call_slow(Fixture *fixture)
{
        g_autoptr(AldMessage) call = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(
                                fixture->pair->client, &call, NULL, "/test", "org.alidade.Test1", "Slow"),
                >=, 0);
        g_assert_cmpint(sd_bus_message_set_expect_reply(call, 0), >=, 0);
        g_assert_cmpint(sd_bus_send(fixture->pair->client, call, NULL), >=, 0);
}

static void test_reader_stops(Fixture *fixture, const void *data)
{
        gint64 start = clock_usec;

        write_signals(fixture);
        while (fixture->closed == 0)
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_cmpint(fixture->closed, ==, -EBUSY);
        g_assert_cmpint(clock_usec - start, >=, ALD_BUS_STUCK_USEC);
        g_assert_cmpint(clock_usec - start, <, 2 * ALD_BUS_STUCK_USEC);
}

/* What it reads meanwhile is replaced by what is written, so that it looks as if it had read nothing. */
static void test_slow_calls_are_no_stop(Fixture *fixture, const void *data)
{
        fixture->slow_usec = 2 * ALD_BUS_STUCK_USEC;
        fixture->client_reads = true;
        write_signals(fixture);
        for (int i = 1; i <= 8; i++) {
                call_slow(fixture);
                while (fixture->calls < i)
                        g_main_context_iteration(fixture->context, TRUE);
                g_main_context_iteration(fixture->context, FALSE);
                g_assert_cmpint(fixture->closed, ==, 0);
        }
}

/* Its own work neither counts nor hides that the other side is stuck. */
static void test_reader_stops_amid_slow_calls(Fixture *fixture, const void *data)
{
        fixture->slow_usec = ALD_BUS_STUCK_USEC / 4;
        write_signals(fixture);
        for (int i = 0; i < 8; i++)
                call_slow(fixture);
        while (fixture->closed == 0)
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_cmpint(fixture->calls, ==, 8);
        g_assert_cmpint(fixture->closed, ==, -EBUSY);
}

/* Such as ssh, which asks for a password meanwhile. */
static void test_program_that_does_not_read_yet(Fixture *fixture, const void *data)
{
        g_autoptr(AldBus) bus = NULL;
        GSource *source;
        gint64 start = clock_usec;

        g_assert_cmpint(ald_bus_open_address("unixexec:path=sleep,argv1=60", &bus), >=, 0);
        g_main_context_push_thread_default(fixture->context);
        source = ald_bus_source_new(bus, on_closed, fixture);
        ald_bus_source_allow_questions(source);
        g_main_context_pop_thread_default(fixture->context);
        while (clock_usec - start < 2 * ALD_BUS_STUCK_USEC)
                g_main_context_iteration(fixture->context, TRUE);
        g_main_context_iteration(fixture->context, FALSE);
        g_assert_cmpint(fixture->closed, ==, 0);
        g_source_destroy(source);
        g_source_unref(source);
        sd_bus_close(bus);
}

static int on_signal(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        Fixture *fixture = userdata;

        fixture->signals_read++;
        ald_bus_source_delay(fixture->source, 100);
        return 0;
}

/* From the client, without a bus that would route them. */
static void send_signals(Fixture *fixture, int n)
{
        for (int i = 0; i < n; i++)
                g_assert_cmpint(
                        sd_bus_emit_signal(fixture->pair->client, "/test", "org.alidade.Test1", "Test", NULL),
                        >=, 0);
}

static void set_up_delay(Fixture *fixture, const void *data)
{
        set_up(fixture, data);
        g_assert_cmpint(sd_bus_match_signal(fixture->pair->service, NULL, NULL, "/test", NULL, "Test",
                                on_signal, fixture),
                >=, 0);
}

static void read_signals(Fixture *fixture, int n)
{
        while (fixture->signals_read < n)
                g_main_context_iteration(fixture->context, TRUE);
}

static void test_delay(Fixture *fixture, const void *data)
{
        gint64 start = clock_usec;

        send_signals(fixture, 1);
        read_signals(fixture, 1);
        g_assert_cmpint(clock_usec, ==, start);
        for (int i = 0; i < 3; i++) {
                send_signals(fixture, 1);
                g_main_context_iteration(fixture->context, FALSE);
        }
        g_assert_cmpint(fixture->signals_read, ==, 1);
        read_signals(fixture, 4);
        g_assert_cmpint(clock_usec - start, ==, 100000);
        /* Nothing comes after the delay, and no other delay. */
        g_main_context_iteration(fixture->context, TRUE);
        send_signals(fixture, 1);
        read_signals(fixture, 5);
        g_assert_cmpint(clock_usec - start, ==, 200000);
}

/* What is there already is read without a delay, however much it is. */
static void test_no_delay_of_what_is_there(Fixture *fixture, const void *data)
{
        gint64 start = clock_usec;

        send_signals(fixture, 100);
        read_signals(fixture, 100);
        g_assert_cmpint(clock_usec, ==, start);
}

/* The end of the connection is noticed at once. */
static void test_end_during_delay(Fixture *fixture, const void *data)
{
        gint64 start = clock_usec;

        send_signals(fixture, 1);
        read_signals(fixture, 1);
        sd_bus_close(fixture->pair->client);
        while (fixture->closed == 0)
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_cmpint(clock_usec, ==, start);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add("/bus-source/reader-stops", Fixture, NULL, set_up, test_reader_stops, tear_down);
        g_test_add("/bus-source/slow-calls-are-no-stop", Fixture, NULL, set_up, test_slow_calls_are_no_stop,
                tear_down);
        g_test_add("/bus-source/reader-stops-amid-slow-calls", Fixture, NULL, set_up,
                test_reader_stops_amid_slow_calls, tear_down);
        g_test_add("/bus-source/program-that-does-not-read-yet", Fixture, NULL, set_up,
                test_program_that_does_not_read_yet, tear_down);
        g_test_add("/bus-source/delay", Fixture, NULL, set_up_delay, test_delay, tear_down);
        g_test_add("/bus-source/no-delay-of-what-is-there", Fixture, NULL, set_up_delay,
                test_no_delay_of_what_is_there, tear_down);
        g_test_add("/bus-source/end-during-delay", Fixture, NULL, set_up_delay, test_end_during_delay,
                tear_down);
        return g_test_run();
}
