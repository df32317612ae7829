/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "services/common/service-private.h"
#include "services/state/findings-watch.h"
#include "services/state/objects-bus.h"
#include "services/state/presences.h"
#include "services/state/signals.h"
#include "tests/unit/bus-pair.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"
#include "tests/unit/record-maker.h"

#define BURST 64u

/* The linker puts this in the place of GLib's clock, which stands still but for what a test adds. */
gint64 __wrap_g_get_monotonic_time(void);
static gint64 now = G_USEC_PER_SEC;

gint64 __wrap_g_get_monotonic_time(void)
{
        return now;
}

/* The signals of a state service, and a client that notes them: "+ID kinds", "-ID kinds", "!ID Kind fields".
 */
typedef struct Fixture {
        BusPair *pair;
        AldService service;
        FakeRoot *root;
        AldConfig *config;
        AldStateManager *manager;
        AldObjects *objects;
        AldSignals *signals;
        const char *listener; /* the subscriber whose signals are noted; NULL for those to everybody */
        GPtrArray *heard;
        uint64_t seq;
} Fixture;

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Names in an array or map, in order, each with a space before it; interfaces without their prefix. */
static void read_names(sd_bus_message *message, const char *contents, GString *text)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        bool in_map = *contents == '{';
        const char *name;

        g_assert_cmpint(sd_bus_message_enter_container(message, 'a', contents), >, 0);
        while (sd_bus_message_at_end(message, false) == 0) {
                if (in_map)
                        g_assert_cmpint(sd_bus_message_enter_container(message, 'e', NULL), >, 0);
                g_assert_cmpint(sd_bus_message_read(message, "s", &name), >, 0);
                if (in_map) {
                        g_assert_cmpint(sd_bus_message_skip(message, NULL), >, 0);
                        g_assert_cmpint(sd_bus_message_exit_container(message), >, 0);
                }
                if (g_str_has_prefix(name, "org.alidade."))
                        name += strlen("org.alidade.");
                g_ptr_array_add(names, (gpointer) name);
        }
        g_assert_cmpint(sd_bus_message_exit_container(message), >, 0);
        g_ptr_array_sort(names, compare_names);
        for (guint i = 0; i < names->len; i++)
                g_string_append_printf(text, " %s", (const char *) names->pdata[i]);
}

/* The last digits of the first eight tell nodes apart. */
static const char *node_of(const char *path)
{
        g_assert_true(g_str_has_prefix(path, "/org/alidade/State1/node/0000"));
        return path + strlen("/org/alidade/State1/node/0000");
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        const char *member = sd_bus_message_get_member(message), *path = sd_bus_message_get_path(message);
        g_autoptr(GString) text = g_string_new(NULL);
        const char *interface;
        Fixture *f = userdata;

        if (g_strcmp0(sd_bus_message_get_destination(message), f->listener) != 0)
                return 1;
        if (strcmp(member, "PropertiesChanged") == 0) {
                g_assert_cmpint(sd_bus_message_read(message, "s", &interface), >, 0);
                g_string_printf(text, "!%.4s %s", node_of(path), interface + strlen("org.alidade."));
                read_names(message, "{sv}", text);
        } else if (strcmp(member, "FindingsChanged") == 0) {
                g_string_assign(text, member);
        } else {
                bool added = strcmp(member, "InterfacesAdded") == 0;

                g_assert_cmpint(sd_bus_message_read(message, "o", &path), >, 0);
                g_string_printf(text, "%c%.4s", added ? '+' : '-', node_of(path));
                read_names(message, added ? "{sa{sv}}" : "s", text);
        }
        g_ptr_array_add(f->heard, g_string_free(g_steal_pointer(&text), FALSE));
        return 1;
}

static Fixture *fixture_new(void)
{
        const AldId local = id_make(1);
        Fixture *f = g_new0(Fixture, 1);

        f->pair = bus_pair_new();
        f->service.bus = f->pair->service;
        f->root = fake_root_new();
        g_setenv("STATE_DIRECTORY", f->root->dir, TRUE);
        f->config = ald_config_load(ald_state_config_keys, f->root->dir);
        f->manager = ald_state_manager_new(&local, f->config);
        f->heard = g_ptr_array_new_with_free_func(g_free);
        g_assert_cmpint(ald_objects_new(&f->service, f->manager, &f->objects), >=, 0);
        g_assert_cmpint(ald_signals_new(&f->service, f->manager, &f->signals), >=, 0);
        g_assert_cmpint(sd_bus_add_filter(f->pair->client, NULL, on_message, f), >=, 0);
        return f;
}

static void fixture_free(Fixture *f)
{
        ald_objects_free(f->objects);
        ald_signals_free(f->signals);
        ald_state_manager_free(f->manager);
        ald_config_free(f->config);
        fake_root_free(f->root);
        g_ptr_array_unref(f->heard);
        bus_pair_free(f->pair);
        g_free(f);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)

/* Whatever is due now, and the client reads all of it. */
static void turn(Fixture *f)
{
        while (g_main_context_iteration(NULL, FALSE))
                ;
        bus_pair_pump(f->pair);
}

static void pass(Fixture *f, gint64 milliseconds)
{
        now += milliseconds * 1000;
        turn(f);
}

static void put(Fixture *f, unsigned node, AldKind kind, AldRecord *record)
{
        g_assert_true(ald_state_manager_put(f->manager, &(AldUpdate){ .node = id_make(node),
                                                                .kind = kind,
                                                                .key = "",
                                                                .stamp = { 1, ++f->seq },
                                                                .updated_usec = f->seq,
                                                                .record = record }));
}

static void put_memory(Fixture *f, unsigned node, uint64_t total)
{
        AldMemory fields = ALD_MEMORY_INIT;
        g_autoptr(AldRecord) record = NULL;

        fields.total_bytes = total;
        record = record_make(ALD_KIND_MEMORY, &fields);
        put(f, node, ALD_KIND_MEMORY, record);
}

static void put_disk(Fixture *f, unsigned node)
{
        const AldDisk fields = ALD_DISK_INIT;
        g_autoptr(AldRecord) record = record_make(ALD_KIND_DISK, &fields);

        put(f, node, ALD_KIND_DISK, record);
}

/* All that was heard since the last time, and nothing else. */
static void assert_heard(Fixture *f, ...)
{
        const char *text;
        unsigned n = 0;
        va_list ap;

        va_start(ap, f);
        while ((text = va_arg(ap, const char *))) {
                g_assert_cmpuint(f->heard->len, >, n);
                g_assert_cmpstr(f->heard->pdata[n++], ==, text);
        }
        va_end(ap);
        g_assert_cmpuint(f->heard->len, ==, n);
        g_ptr_array_set_size(f->heard, 0);
}

static unsigned count_heard(Fixture *f)
{
        unsigned n = f->heard->len;

        g_ptr_array_set_size(f->heard, 0);
        return n;
}

static void test_life_of_an_object(void)
{
        g_autoptr(Fixture) f = fixture_new();

        put_memory(f, 2, 1);
        put_disk(f, 2);
        g_assert_cmpuint(f->heard->len, ==, 0);
        turn(f);
        /* Both at once; an object is told of with what sd-bus gives to each. */
        assert_heard(f, "+0002 Node1.Disk Node1.Memory", NULL);
        put_memory(f, 2, 2);
        turn(f);
        assert_heard(f, "!0002 Node1.Memory Revision TotalBytes UpdatedUSec", NULL);
        put_memory(f, 2, 2);
        turn(f);
        assert_heard(f, "!0002 Node1.Memory Revision UpdatedUSec", NULL);
        put(f, 2, ALD_KIND_MEMORY, NULL);
        turn(f);
        assert_heard(f, "-0002 Node1.Memory", NULL);
        put_memory(f, 2, 3);
        turn(f);
        assert_heard(f, "+0002 Node1.Memory", NULL);
        put(f, 2, ALD_KIND_MEMORY, NULL);
        put(f, 2, ALD_KIND_DISK, NULL);
        turn(f);
        assert_heard(f, "-0002 Node1.Memory", "-0002 Node1.Disk", NULL);
}

static void test_what_is_over_before_it_is_told(void)
{
        g_autoptr(Fixture) f = fixture_new();

        put_memory(f, 2, 1);
        put(f, 2, ALD_KIND_MEMORY, NULL);
        put_memory(f, 3, 1);
        turn(f);
        assert_heard(f, "+0003 Node1.Memory", NULL);
        put_memory(f, 3, 2);
        put(f, 3, ALD_KIND_MEMORY, NULL);
        put_memory(f, 3, 3);
        turn(f);
        /* It was there all the time, as far as anybody knows. */
        assert_heard(f, "!0003 Node1.Memory Revision TotalBytes UpdatedUSec", NULL);
}

static void test_budget(void)
{
        g_autoptr(Fixture) f = fixture_new();

        for (unsigned n = 2; n < 202; n++)
                put_memory(f, n, 1);
        turn(f);
        g_assert_cmpuint(count_heard(f), ==, BURST);
        turn(f);
        g_assert_cmpuint(count_heard(f), ==, 0);
        pass(f, 100);
        g_assert_cmpuint(count_heard(f), ==, ALD_SIGNALS_PER_SECOND / 10);
        pass(f, 100);
        g_assert_cmpuint(count_heard(f), ==, ALD_SIGNALS_PER_SECOND / 10);
        /* However long nothing was sent, no more than so many go at once. */
        pass(f, 100000);
        g_assert_cmpuint(count_heard(f), ==, BURST);
        pass(f, 1000);
        g_assert_cmpuint(count_heard(f), ==, 200 - 2 * BURST - ALD_SIGNALS_PER_SECOND / 5);
        pass(f, 1000);
        g_assert_cmpuint(count_heard(f), ==, 0);
}

static void put_all(Fixture *f, uint64_t total)
{
        for (unsigned n = 2; n < 202; n++)
                put_memory(f, n, total);
}

/* What one hears within so many milliseconds after a burst. */
static unsigned count_of(Fixture *f, const char *listener, uint64_t total)
{
        f->listener = listener;
        pass(f, 100000);
        put_all(f, total);
        turn(f);
        g_assert_cmpuint(count_heard(f), ==, BURST);
        pass(f, 20);
        return count_heard(f);
}

static void test_subscribed_budget(void)
{
        g_autoptr(Fixture) f = fixture_new();
        const unsigned all = ALD_SIGNALS_PER_SECOND_SUBSCRIBED / 50; /* in 20 ms */

        put_all(f, 1);
        for (unsigned i = 0; i < 10; i++)
                pass(f, 1000);
        count_heard(f);
        g_assert_cmpint(ald_signals_subscribe(f->signals, ":1.1", 1000), ==, 0);
        g_assert_cmpint(ald_signals_subscribe(f->signals, ":1.1", 1000), ==, -EEXIST);
        g_assert_cmpuint(count_of(f, ":1.1", 2), ==, all);
        /* However many connections another user has, each user has its share. */
        for (unsigned i = 0; i < 4; i++) {
                g_autofree char *name = g_strdup_printf(":2.%u", i);

                g_assert_cmpint(ald_signals_subscribe(f->signals, name, 2000), ==, 0);
        }
        g_assert_cmpuint(count_of(f, ":1.1", 3), ==, all / 2);
        g_assert_cmpuint(count_of(f, ":2.3", 4), ==, all / 2 / 4);
        g_assert_cmpuint(count_of(f, NULL, 5), ==, ALD_SIGNALS_PER_SECOND / 50);
        for (unsigned i = 0; i < 4; i++) {
                g_autofree char *name = g_strdup_printf(":2.%u", i);

                ald_signals_unsubscribe(f->signals, name);
        }
        g_assert_cmpuint(count_of(f, ":1.1", 6), ==, all);
        ald_signals_unsubscribe(f->signals, ":1.1");
        pass(f, 1000);
        count_heard(f);
        put_all(f, 7);
        pass(f, 1000);
        g_assert_cmpuint(count_heard(f), ==, 0);
}

/* A subscriber is told the same as everybody. */
static void test_life_of_an_object_for_a_subscriber(void)
{
        g_autoptr(Fixture) f = fixture_new();
        const AldId id = id_make(2);

        put_memory(f, 2, 1);
        turn(f);
        count_heard(f);
        f->listener = ":1.1";
        g_assert_cmpint(ald_signals_subscribe(f->signals, f->listener, 1000), ==, 0);
        put_memory(f, 2, 2);
        put_disk(f, 2);
        turn(f);
        assert_heard(f, "!0002 Node1.Memory Revision TotalBytes UpdatedUSec", "+0002 Node1.Disk", NULL);
        ald_store_forget(ald_state_manager_store(f->manager), &id, 1);
        turn(f);
        assert_heard(f, "-0002 Node1.Disk Node1.Memory", NULL);
}

/* Who waits has its turn, however often others change. */
static void test_nobody_starves(void)
{
        g_autoptr(Fixture) f = fixture_new();
        bool told = false;

        for (unsigned n = 2; n < 152; n++)
                put_memory(f, n, 0);
        for (unsigned i = 0; i < 3; i++)
                pass(f, 1000);
        g_assert_cmpuint(count_heard(f), ==, 150);

        for (unsigned n = 2; n < 152; n++)
                put_memory(f, n, 1);
        turn(f);
        for (unsigned i = 0; i < 60 && !told; i++) {
                for (unsigned n = 2; n < 20; n++)
                        put_memory(f, n, 2 + i);
                pass(f, 10);
                told = g_str_has_prefix(f->heard->pdata[f->heard->len - 1], "!0097"); /* 151 */
        }
        g_assert_true(told);
}

/* Whoever does not read keeps changes waiting here, where they are few, rather than in a queue without end.
 */
static void test_bus_that_takes_nothing(void)
{
        g_autoptr(Fixture) f = fixture_new();
        uint64_t queued, before;

        f->listener = ":1.1";
        g_assert_cmpint(ald_signals_subscribe(f->signals, f->listener, 1000), ==, 0);
        put_memory(f, 2, 0);
        turn(f);
        count_heard(f);
        for (unsigned i = 1; i <= 20000; i++) {
                put_memory(f, 2, i);
                now += 1000;
                while (g_main_context_iteration(NULL, FALSE))
                        ;
        }
        g_assert_cmpint(sd_bus_get_n_queued_write(f->pair->service, &queued), >=, 0);
        g_assert_cmpuint(queued, >=, 200);
        g_assert_cmpuint(queued, <=, 300);
        before = queued;
        pass(f, 0);
        g_assert_cmpuint(count_heard(f), >, before);

        /* It reads again, and is told the last word within the time of a look: all fields of it, since what
         * it knew was not kept meanwhile. */
        pass(f, 100);
        g_assert_cmpuint(f->heard->len, >=, 1);
        g_assert_cmpstr(f->heard->pdata[f->heard->len - 1], ==,
                "!0002 Node1.Memory AvailableBytes PressureFull10 PressureSome10 Revision SwapAvailableBytes "
                "SwapTotalBytes TotalBytes UpdatedUSec");
        count_heard(f);
        pass(f, 1000);
        assert_heard(f, NULL);
}

/* What is forgotten of one object goes in one signal, in its turn. */
static void test_forgotten(void)
{
        g_autoptr(Fixture) f = fixture_new();
        AldStore *store = ald_state_manager_store(f->manager);

        put_memory(f, 2, 1);
        put_disk(f, 2);
        put_memory(f, 3, 1);
        turn(f);
        count_heard(f);
        put_memory(f, 3, 2); /* still waiting when its node goes */
        put_memory(f, 4, 1); /* never told of */
        ald_store_expire(store, (uint64_t) now + 100, 1, 1);
        bus_pair_pump(f->pair);
        g_assert_cmpuint(f->heard->len, ==, 0);
        turn(f);
        assert_heard(f, "-0003 Node1.Memory", "-0002 Node1.Disk Node1.Memory", NULL);
        put_memory(f, 2, 1);
        turn(f);
        assert_heard(f, "+0002 Node1.Memory", NULL);
}

/* Who is there again before its end was told has ended nonetheless, for the clients. */
static void test_back_before_it_is_told(void)
{
        g_autoptr(Fixture) f = fixture_new();
        const AldId id = id_make(2);

        put_memory(f, 2, 1);
        put_disk(f, 2);
        turn(f);
        count_heard(f);
        ald_store_forget(ald_state_manager_store(f->manager), &id, 1);
        put_memory(f, 2, 1);
        turn(f);
        assert_heard(f, "-0002 Node1.Disk Node1.Memory", "+0002 Node1.Memory", NULL);
        ald_store_announce(ald_state_manager_store(f->manager), &id, 2);
        turn(f);
        assert_heard(f, "-0002 Node1.Memory", NULL);
}

/* One interface goes, the object stays. */
static void test_part_forgotten(void)
{
        g_autoptr(Fixture) f = fixture_new();
        const AldId id = id_make(2);

        put_memory(f, 2, 1);
        ald_presences_put(f->manager,
                &(AldPresencePut){ .node = "00000002000000000000000000000000", .state = "online" }, 1);
        turn(f);
        g_assert_cmpuint(count_heard(f), ==, 1);
        ald_store_announce(ald_state_manager_store(f->manager), &id, 2);
        turn(f);
        assert_heard(f, "-0002 Node1.Memory", NULL);
        ald_presences_set_unknown(f->manager);
        turn(f);
        assert_heard(f, "!0002 Node1.Presence ClockOffsetUSec Revision SinceUSec State UpdatedUSec", NULL);
}

static void test_budget_of_removals(void)
{
        g_autoptr(Fixture) f = fixture_new();
        AldStore *store = ald_state_manager_store(f->manager);

        for (unsigned n = 2; n < 202; n++)
                put_memory(f, n, 1);
        for (unsigned i = 0; i < 5; i++)
                pass(f, 1000);
        g_assert_cmpuint(count_heard(f), ==, 200);
        ald_store_expire(store, (uint64_t) now + 100, 1, 1);
        turn(f);
        g_assert_cmpuint(count_heard(f), ==, BURST);
        pass(f, 100);
        g_assert_cmpuint(count_heard(f), ==, ALD_SIGNALS_PER_SECOND / 10);
        /* Whoever comes and goes meanwhile adds nothing. */
        for (unsigned i = 0; i < 1000; i++) {
                put_memory(f, 2, 1);
                ald_store_expire(store, (uint64_t) now + 200, 1, 1);
        }
        for (unsigned i = 0; i < 3; i++)
                pass(f, 1000);
        g_assert_cmpuint(count_heard(f), ==, 200 - BURST - ALD_SIGNALS_PER_SECOND / 10);
}

static void set_problem(Fixture *f, AldFindingsWatch *findings, const char *problem)
{
        ald_state_manager_set_history_problem(f->manager, problem);
        ald_findings_watch_refresh(findings);
}

/* A problem that goes and is back while findings are computed, at each moment of that: what was signalled
 * last is as it was, with none or both of the changes. */
static void test_findings_change_while_they_are_computed(void)
{
        g_autoptr(Fixture) f = fixture_new();
        AldFindingsWatch *findings = ald_findings_watch_new(f->manager, f->signals);
        unsigned n_seen = 0;

        set_problem(f, findings, "the disk is full");
        pass(f, 1000);
        assert_heard(f, "FindingsChanged", NULL);
        for (unsigned turns = 0; turns < 20; turns++) {
                unsigned n;

                set_problem(f, findings, NULL);
                now += G_USEC_PER_SEC;
                for (unsigned i = 0; i < turns; i++)
                        g_main_context_iteration(NULL, FALSE);
                set_problem(f, findings, "the disk is full");
                for (unsigned i = 0; i < 3; i++)
                        pass(f, 1000);
                n = count_heard(f);
                g_assert_true(n == 0 || n == 2);
                n_seen += n;
        }
        g_assert_cmpuint(n_seen, >, 0);
        ald_findings_watch_free(findings);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/signals/life-of-an-object", test_life_of_an_object);
        g_test_add_func("/signals/what-is-over-before-it-is-told", test_what_is_over_before_it_is_told);
        g_test_add_func("/signals/budget", test_budget);
        g_test_add_func("/signals/subscribed-budget", test_subscribed_budget);
        g_test_add_func("/signals/subscriber", test_life_of_an_object_for_a_subscriber);
        g_test_add_func("/signals/nobody-starves", test_nobody_starves);
        g_test_add_func("/signals/bus-that-takes-nothing", test_bus_that_takes_nothing);
        g_test_add_func("/signals/forgotten", test_forgotten);
        g_test_add_func("/signals/back-before-it-is-told", test_back_before_it_is_told);
        g_test_add_func("/signals/part-forgotten", test_part_forgotten);
        g_test_add_func("/signals/budget-of-removals", test_budget_of_removals);
        g_test_add_func("/signals/findings-change-while-they-are-computed",
                test_findings_change_while_they_are_computed);
        return g_test_run();
}
