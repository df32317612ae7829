/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/state/presences.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define USEC_PER_HOUR (INT64_C(3600) * G_USEC_PER_SEC)

/* The linker puts these in the place of GLib's, so that hours need not pass. */
gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);
guint __real_g_timeout_add_seconds(guint seconds, GSourceFunc function, gpointer data);
guint __wrap_g_timeout_add_seconds(guint seconds, GSourceFunc function, gpointer data);

static gint64 clock_offset;

typedef struct Timer {
        guint id;
        GSourceFunc function;
        gpointer data;
} Timer;

static Timer timers[8];

gint64 __wrap_g_get_monotonic_time(void)
{
        return __real_g_get_monotonic_time() + clock_offset;
}

guint __wrap_g_timeout_add_seconds(guint seconds, GSourceFunc function, gpointer data)
{
        for (size_t i = 0; i < G_N_ELEMENTS(timers); i++)
                if (timers[i].id == 0 || !g_main_context_find_source_by_id(NULL, timers[i].id)) {
                        timers[i] = (Timer){ __real_g_timeout_add_seconds(100000, function, data), function,
                                data };
                        return timers[i].id;
                }
        g_assert_not_reached();
}

/* What is set now; a timer that says so goes. */
static unsigned fire_timers(void)
{
        unsigned fired = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(timers); i++) {
                Timer timer = timers[i];

                if (timer.id == 0 || !g_main_context_find_source_by_id(NULL, timer.id))
                        continue;
                fired++;
                if (timer.function(timer.data) == G_SOURCE_REMOVE) {
                        timers[i].id = 0;
                        g_source_remove(timer.id);
                }
        }
        return fired;
}

typedef struct Watch {
        unsigned changed, removed;
} Watch;

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        ((Watch *) userdata)->changed++;
}

static void on_removing(AldEntry *entry, void *userdata)
{
        ((Watch *) userdata)->removed++;
}

/* A manager that keeps its file below a folder of its own. */
typedef struct Fixture {
        FakeRoot *root;
        AldConfig *config;
        AldStateManager *manager;
        AldStore *store;
        Watch watch;
} Fixture;

static void fixture_start(Fixture *f)
{
        const AldId local = id_make(1);

        f->manager = ald_state_manager_new(&local, f->config);
        ald_state_manager_begin_saving(f->manager);
        f->store = ald_state_manager_store(f->manager);
        ald_state_manager_watch(f->manager, on_changed, on_removing, &f->watch);
}

static void fixture_stop(Fixture *f)
{
        ald_state_manager_free(f->manager);
}

static Fixture *fixture_new(const char *config)
{
        Fixture *f = g_new0(Fixture, 1);

        f->root = fake_root_new();
        fake_root_mkdir(f->root, "state");
        fake_root_write(f->root, "alidade.conf", config);
        g_autofree char *folder = g_build_filename(f->root->dir, "state", NULL);
        g_setenv("STATE_DIRECTORY", folder, TRUE);
        f->config = ald_config_load(ald_state_config_keys, f->root->dir);
        log_count_reset();
        fixture_start(f);
        return f;
}

static void fixture_free(Fixture *f)
{
        fixture_stop(f);
        ald_config_free(f->config);
        fake_root_free(f->root);
        g_free(f);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)

static AldRecord *memory(uint64_t total)
{
        AldMemory fields = ALD_MEMORY_INIT;

        fields.total_bytes = total;
        return record_make(ALD_KIND_MEMORY, &fields);
}

static bool put(Fixture *f, unsigned node, uint64_t epoch, uint64_t seq, AldRecord *record)
{
        return ald_state_manager_put(f->manager, &(AldUpdate){ .node = id_make(node),
                                                         .kind = ALD_KIND_MEMORY,
                                                         .key = "",
                                                         .stamp = { epoch, seq },
                                                         .updated_usec = 7,
                                                         .record = record });
}

static void put_compute(Fixture *f)
{
        g_autoptr(AldRecord) record = record_random(ALD_KIND_COMPUTE);

        record->updated_usec = 1234;
        ald_state_manager_put_local(f->manager, ALD_KIND_COMPUTE, "", record);
}

static AldEntry *find(Fixture *f, unsigned node, AldKind kind)
{
        const AldId id = id_make(node);

        return ald_store_find(f->store, &id, kind, "");
}

static void test_local_records_are_stamped(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) first = memory(1);
        g_autoptr(AldRecord) second = memory(2);
        AldStamp stamp;

        first->updated_usec = 11;
        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", first);
        stamp = find(f, 1, ALD_KIND_MEMORY)->stamp;
        g_assert_cmpuint(stamp.epoch, ==, ald_store_epoch(f->store));
        g_assert_cmpuint(find(f, 1, ALD_KIND_MEMORY)->updated_usec, ==, 11);
        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", second);
        g_assert_cmpuint(find(f, 1, ALD_KIND_MEMORY)->stamp.epoch, ==, stamp.epoch);
        g_assert_cmpuint(find(f, 1, ALD_KIND_MEMORY)->stamp.seq, >, stamp.seq);
        g_assert_cmpuint(f->watch.changed, ==, 2);
}

static void test_bad_local_record_is_told(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) record = memory(1);

        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "key", record);
        g_assert_cmpuint(log_count("of this node: "), ==, 1);
        g_assert_cmpuint(f->watch.changed, ==, 0);
}

static void test_refusals_are_counted_and_told_seldom(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) record = memory(1);

        for (unsigned i = 0; i < 100; i++)
                g_assert_false(put(f, 2, UINT64_MAX, 1, record));
        ald_state_manager_refuse(f->manager, "somebody", "something", "Field", "a reason");
        g_assert_cmpuint(ald_state_manager_refused(f->manager), ==, 101);
        g_assert_cmpuint(log_count("Refused"), ==, 1);
        g_assert_cmpuint(log_count("Refused a record Node1.Memory of node 00000002"), ==, 1);

        clock_offset += 61 * G_USEC_PER_SEC;
        ald_state_manager_refuse(f->manager, "some\x1b[31mbody", "\xff", "Field", "a reason");
        g_assert_cmpuint(log_count("Refused"), ==, 2);
        g_assert_cmpuint(log_count("some?[31mbody: Field: a reason (102 refused so far)"), ==, 1);
}

/* Hours, so that the clock does not overtake it, and that it is no absurd time. */
#define AHEAD (10 * UINT64_C(3600000000))

static void test_own_epochs_are_taken_over_twice(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) record = memory(1);
        g_autoptr(AldRecord) mine = memory(2);
        uint64_t epoch = ald_store_epoch(f->store);

        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", mine);
        g_assert_true(put(f, 1, epoch, 99, record));
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch);
        g_assert_true(put(f, 1, epoch + AHEAD, 1, record));
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch + AHEAD + 1);
        g_assert_cmpuint(find(f, 1, ALD_KIND_MEMORY)->stamp.epoch, ==, epoch + AHEAD + 1);
        records_assert_same(find(f, 1, ALD_KIND_MEMORY)->record, mine);

        /* The newer of two past epochs, delivered after the older one. */
        g_assert_true(put(f, 1, epoch + AHEAD + 100, 1, record));
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch + AHEAD + 101);
        records_assert_same(find(f, 1, ALD_KIND_MEMORY)->record, mine);

        g_assert_false(put(f, 1, epoch + 2 * AHEAD, 1, record));
        g_assert_cmpuint(ald_state_manager_refused(f->manager), ==, 1);
        g_assert_cmpuint(log_count("another machine uses the id of this node"), ==, 1);
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch + AHEAD + 101);

        ald_state_manager_new_cluster(f->manager);
        g_assert_true(put(f, 1, epoch + 2 * AHEAD, 1, record));
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch + 2 * AHEAD + 1);

        /* It was written down at once: what others were told must never be told again. */
        fixture_stop(f);
        fixture_start(f);
        g_assert_cmpuint(ald_store_epoch(f->store), >, epoch + 2 * AHEAD + 1);
}

/* A machine with the same id goes beyond each epoch of this one at once: in the long run each is answered as
 * seldom as if there were no second advance. */
static void test_war_of_epochs_is_slow(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) record = memory(1);
        const uint64_t hour = UINT64_C(3600) * G_USEC_PER_SEC;
        unsigned answered = 0;

        for (uint64_t passed = 0; passed < hour; passed += 10 * G_USEC_PER_SEC) {
                answered += put(f, 1, ald_store_epoch(f->store) + 1, 1, record);
                clock_offset += 10 * G_USEC_PER_SEC;
        }
        g_assert_cmpuint(answered, ==, 6 + 1);
}

/* Two machines whose clocks differ by years must not push each other's epochs to their end. */
static void test_absurd_epoch_is_refused(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);
        uint64_t epoch = ald_store_epoch(f->store);

        g_assert_false(put(f, 1, epoch + 3 * AHEAD, 1, record));
        g_assert_false(put(f, 1, ALD_EPOCH_MAX, 1, record));
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch);
        g_assert_cmpuint(ald_state_manager_refused(f->manager), ==, 2);
        g_assert_cmpuint(log_count("an epoch of this node more than a day in the future"), ==, 1);
        /* That was no takeover, so one is still free. */
        g_assert_true(put(f, 1, epoch + AHEAD, 1, record));
        g_assert_cmpuint(ald_store_epoch(f->store), ==, epoch + AHEAD + 1);
}

static bool put_updated(Fixture *f, unsigned node, uint64_t seq, uint64_t updated)
{
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);

        return ald_state_manager_put(f->manager, &(AldUpdate){ .node = id_make(node),
                                                         .kind = ALD_KIND_MEMORY,
                                                         .key = "",
                                                         .stamp = { 1, seq },
                                                         .updated_usec = updated,
                                                         .record = record });
}

/* A time far ahead is refused, whoever says it, unless most clocks are so far ahead of ours. */
static void test_records_of_the_future(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        uint64_t today = (uint64_t) g_get_real_time(), year = 365 * UINT64_C(86400000000);
        AldPresencePut presences[] = {
                { "00000002000000000000000000000000", "online", 1, (int64_t) year, 0, 0 },
                { "00000003000000000000000000000000", "online", 1, (int64_t) year, 0, 0 },
        };

        g_assert_true(put_updated(f, 2, 1, today + AHEAD));
        g_assert_false(put_updated(f, 2, 2, today + year));
        g_assert_cmpuint(log_count("updated more than a day in the future"), ==, 1);
        g_assert_true(ald_presences_put(f->manager, presences, 1));
        g_assert_false(put_updated(f, 2, 3, today + year));
        g_assert_true(ald_presences_put(f->manager, presences, 2));
        g_assert_true(put_updated(f, 2, 4, today + year));
        g_assert_false(put_updated(f, 2, 5, today + 2 * year));
        presences[0].clock_offset_usec = -(int64_t) year;
        g_assert_true(ald_presences_put(f->manager, presences, 1));
        g_assert_false(put_updated(f, 2, 6, today + year));
        g_assert_true(put_updated(f, 2, 7, today));
        g_assert_false(put_updated(f, 2, 8, (uint64_t) ALD_INTEGER_MAX));
}

/* An epoch that is further ahead than can be would stand above all that the node ever says. */
static void test_epochs_of_the_future(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) record = memory(1);
        uint64_t today = (uint64_t) g_get_real_time();

        g_assert_false(put(f, 2, ALD_INTEGER_MAX, ALD_INTEGER_MAX, record));
        g_assert_true(put(f, 2, today + AHEAD, 1, record));
        g_assert_cmpuint(ald_state_manager_refused(f->manager), ==, 1);
}

/* The clock was days ahead when this service started. */
static void test_epoch_goes_back_with_the_clock(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) mine = memory(2);
        uint64_t today = (uint64_t) g_get_real_time();

        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", mine);
        ald_store_set_epoch(f->store, today + 3 * AHEAD, 1);
        fire_timers();
        g_assert_cmpuint(ald_store_epoch(f->store), <=, today + AHEAD);
        g_assert_cmpuint(find(f, 1, ALD_KIND_MEMORY)->stamp.epoch, ==, ald_store_epoch(f->store));

        ald_store_set_epoch(f->store, today + 3 * AHEAD, 1);
        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", mine);
        put_compute(f);
        fixture_stop(f);
        fixture_start(f);
        g_assert_cmpuint(ald_store_epoch(f->store), <=, today + AHEAD);
}

static const AldPresence *presence_of(Fixture *f, unsigned node)
{
        const AldEntry *entry = find(f, node, ALD_KIND_PRESENCE);

        return entry ? ald_record_as(entry->record, PRESENCE, AldPresence) : NULL;
}

static void test_presences(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autofree char *one = state_id(1), *two = state_id(2);
        AldPresencePut put_two = { two, "stale", 1234, -5, 0 }, put_one = { one, "online", 1, 0, 7 };

        g_assert_true(ald_presences_put(f->manager, &put_two, 1));
        g_assert_true(ald_presences_put(f->manager, &put_one, 1));
        g_assert_cmpstr(presence_of(f, 1)->state, ==, "online");
        g_assert_cmpstr(presence_of(f, 2)->state, ==, "stale");
        g_assert_cmpuint(presence_of(f, 2)->since_usec, ==, 1234);
        g_assert_cmpint(presence_of(f, 2)->clock_offset_usec, ==, -5);

        g_assert_true(put_updated(f, 2, 1, 1));
        put_two = (AldPresencePut){ two, "offline", 5, ALD_ABSENT_INT64, 2 };
        g_assert_true(ald_presences_put(f->manager, &put_two, 1));
        g_assert_null(find(f, 2, ALD_KIND_MEMORY));
        g_assert_cmpint(presence_of(f, 2)->clock_offset_usec, ==, ALD_ABSENT_INT64);
        g_assert_true(put_updated(f, 2, 1, 1)); /* known, so no refusal, but not taken */
        g_assert_null(find(f, 2, ALD_KIND_MEMORY));

        put_two.state = "forgotten";
        g_assert_true(ald_presences_put(f->manager, &put_two, 1));
        g_assert_null(presence_of(f, 2));
        g_assert_cmpuint(ald_store_n_nodes(f->store), ==, 1);
        g_assert_true(put_updated(f, 2, 1, 1));
        g_assert_nonnull(find(f, 2, ALD_KIND_MEMORY));

        ald_presences_set_unknown(f->manager);
        g_assert_null(presence_of(f, 1));
        g_assert_cmpstr(presence_of(f, 2)->state, ==, "unknown");
        g_assert_nonnull(find(f, 2, ALD_KIND_MEMORY));
        g_assert_cmpuint(ald_state_manager_refused(f->manager), ==, 0);
}

/* Those of one call go together, and yet each row holds after those before it. */
static void test_forgotten_together(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autofree char *one = state_id(1), *two = state_id(2), *three = state_id(3), *four = state_id(4);
        const AldPresencePut puts[] = {
                { two, "forgotten", 0, 0, 0 },
                { three, "online", 0, 0, 0 },
                { two, "stale", 7, 0, 0 },
                { three, "forgotten", 0, 0, 0 },
                { three, "forgotten", 0, 0, 0 },
                { one, "forgotten", 0, 0, 0 },
                { four, "forgotten", 0, 0, 0 },
        };

        for (unsigned node = 2; node <= 5; node++)
                g_assert_true(put_updated(f, node, 1, 1));
        state_put_link(f->store, ALD_KIND_LINK_SOCKET, 5, 2, 1, "{}");
        state_put_link(f->store, ALD_KIND_LINK_SOCKET, 5, 3, 1, "{}");
        state_put_link(f->store, ALD_KIND_LINK_SOCKET, 5, 1, 1, "{}");
        state_put_link(f->store, ALD_KIND_LINK_RDMA, 5, 4, 1, "{}");
        g_assert_cmpuint(ald_presences_put(f->manager, puts, G_N_ELEMENTS(puts)), ==, G_N_ELEMENTS(puts) - 1);
        g_assert_cmpuint(ald_store_n_nodes(f->store), ==, 3);
        g_assert_null(find(f, 2, ALD_KIND_MEMORY));
        g_assert_cmpuint(presence_of(f, 2)->since_usec, ==, 7);
        g_assert_nonnull(find(f, 5, ALD_KIND_MEMORY));
        g_assert_cmpuint(ald_store_n_links(f->store), ==, 4); /* what another node measured stays */
        g_assert_cmpuint(ald_presences_put(f->manager, NULL, 0), ==, 0);
}

static void test_who_is_forgotten_makes_room(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autofree char *two = state_id(2), *last = NULL;
        unsigned n = 1;
        bool taken;

        do {
                g_free(last);
                last = state_id(++n);
                taken = ald_presences_put(f->manager, &(AldPresencePut){ last, "stale", 1, 0, 0 }, 1);
        } while (taken);
        g_assert_cmpuint(ald_store_n_nodes(f->store), ==, n - 1);

        const AldPresencePut puts[] = { { two, "forgotten", 0, 0, 0 }, { last, "online", 1, 0, 0 } };

        g_assert_cmpuint(ald_presences_put(f->manager, puts, 2), ==, 2);
        g_assert_null(presence_of(f, 2));
        g_assert_cmpstr(presence_of(f, n)->state, ==, "online");
}

static void test_bad_presences(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autofree char *one = state_id(1), *two = state_id(2);
        const uint64_t large = (uint64_t) ALD_INTEGER_MAX + 1;
        const AldPresencePut bad[] = {
                { "", "online", 0, 0, 0 },
                { "two", "online", 0, 0, 0 },
                { two, "", 0, 0, 0 },
                { two, "Online", 0, 0, 0 },
                { two, "online\n", 0, 0, 0 },
                { two, "online", large, 0, 0 },
                { two, "online", UINT64_MAX, 0, 0 },
                { two, "online", 0, (int64_t) large, 0 },
                { two, "online", 0, INT64_MAX, 0 },
                { two, "online", 0, INT64_MIN + 1, 0 },
                { two, "online", 0, 0, large },
                { two, "forgotten", 0, 0, large },
                { one, "forgotten", 0, 0, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_assert_false(ald_presences_put(f->manager, &bad[i], 1));
                g_assert_cmpuint(ald_state_manager_refused(f->manager), ==, i + 1);
        }
        g_assert_cmpuint(ald_store_n_nodes(f->store), ==, 1);
        g_assert_null(presence_of(f, 1));
        g_assert_cmpuint(log_count("Refused a record Node1.Presence"), ==, 1);
}

static void test_dear_results_are_kept(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) cheap = memory(1);
        g_autoptr(AldRecord) before = NULL;

        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", cheap);
        put_compute(f);
        before = ald_record_ref(find(f, 1, ALD_KIND_COMPUTE)->record);
        fixture_stop(f);
        fixture_start(f);
        g_assert_null(find(f, 1, ALD_KIND_MEMORY));
        records_assert_same(find(f, 1, ALD_KIND_COMPUTE)->record, before);
        g_assert_cmpuint(find(f, 1, ALD_KIND_COMPUTE)->updated_usec, ==, 1234);
}

/* A change is written soon, though nobody stops the service in an orderly way; without one, nothing is. */
static void test_dear_results_are_kept_soon(void)
{
        g_autoptr(Fixture) f = fixture_new("");
        g_autofree char *path = g_build_filename(f->root->dir, "state/state.json", NULL);
        g_autofree char *text = NULL, *later = NULL;
        unsigned quiet = fire_timers();

        put_compute(f);
        put_compute(f);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_null(strstr(text, "Node1.Compute"));
        g_assert_cmpuint(fire_timers(), ==, quiet + 1);
        g_assert_true(g_file_get_contents(path, &later, NULL, NULL));
        g_assert_nonnull(strstr(later, "Node1.Compute"));
        g_assert_cmpuint(fire_timers(), ==, quiet);
}

static void test_what_no_longer_applies_is_pruned(void)
{
        const AldBackends no_devices = ALD_BACKENDS_INIT;
        AldComputeDevice device = ALD_COMPUTE_DEVICE_INIT;
        AldCompute compute = ALD_COMPUTE_INIT;
        g_autoptr(Fixture) f = fixture_new("");
        g_autoptr(AldRecord) backends = NULL, record = NULL;

        device.id = "gone";
        compute.devices.items = &device;
        compute.devices.n = 1;
        g_assert_cmpint(ald_record_new(ALD_KIND_BACKENDS, &no_devices, &backends), ==, 0);
        g_assert_cmpint(ald_record_new(ALD_KIND_COMPUTE, &compute, &record), ==, 0);
        ald_state_manager_put_local(f->manager, ALD_KIND_BACKENDS, "", backends);
        ald_state_manager_put_local(f->manager, ALD_KIND_COMPUTE, "", record);
        g_assert_true(find(f, 1, ALD_KIND_COMPUTE)->record == record);
        fire_timers();
        g_assert_cmpuint(
                ald_record_as(find(f, 1, ALD_KIND_COMPUTE)->record, COMPUTE, AldCompute)->devices.n, ==, 0);
}

static void test_silent_nodes_expire(void)
{
        g_autoptr(Fixture) f = fixture_new("[state]\nexpiry-h=2\n");
        g_autoptr(AldRecord) record = memory(1);
        g_autoptr(AldRecord) mine = memory(2);

        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", mine);
        put(f, 2, 1, 1, record);
        put(f, 3, 1, 1, record);
        clock_offset += USEC_PER_HOUR;
        put(f, 3, 1, 2, record);
        clock_offset += USEC_PER_HOUR - G_USEC_PER_SEC;
        fire_timers();
        g_assert_nonnull(find(f, 2, ALD_KIND_MEMORY));
        clock_offset += 2 * G_USEC_PER_SEC;
        fire_timers();
        g_assert_null(find(f, 2, ALD_KIND_MEMORY));
        g_assert_nonnull(find(f, 3, ALD_KIND_MEMORY));
        g_assert_nonnull(find(f, 1, ALD_KIND_MEMORY));
        g_assert_cmpuint(f->watch.removed, ==, 1);
}

static void test_expiry_is_configured_anew(void)
{
        g_autoptr(Fixture) f = fixture_new("[state]\nexpiry-h=10\n");
        g_autoptr(AldRecord) record = memory(1);

        put(f, 2, 1, 1, record);
        clock_offset += 2 * USEC_PER_HOUR;
        fire_timers();
        g_assert_nonnull(find(f, 2, ALD_KIND_MEMORY));
        fake_root_write(f->root, "alidade.conf", "[state]\nexpiry-h=1\n");
        ald_config_free(f->config);
        f->config = ald_config_load(ald_state_config_keys, f->root->dir);
        ald_state_manager_configure(f->manager, f->config);
        fire_timers();
        g_assert_null(find(f, 2, ALD_KIND_MEMORY));
}

static void test_max_nodes(void)
{
        g_autoptr(Fixture) f = fixture_new("[state]\nmax-nodes=2\n");
        g_autoptr(AldRecord) record = memory(1);

        for (unsigned n = 2; n < 6; n++)
                g_assert_true(put(f, n, 1, 1, record));
        g_assert_cmpuint(ald_store_n_nodes(f->store), ==, 5);
        g_assert_cmpuint(ald_store_n_hidden(f->store), ==, 3);
        ald_state_manager_put_local(f->manager, ALD_KIND_MEMORY, "", record);
        g_assert_true(ald_store_local_node(f->store)->shown);
        g_assert_cmpuint(ald_store_n_hidden(f->store), ==, 3);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/state-manager/local-records-are-stamped", test_local_records_are_stamped);
        g_test_add_func("/state-manager/bad-local-record-is-told", test_bad_local_record_is_told);
        g_test_add_func("/state-manager/refusals-are-counted-and-told-seldom",
                test_refusals_are_counted_and_told_seldom);
        g_test_add_func(
                "/state-manager/own-epochs-are-taken-over-twice", test_own_epochs_are_taken_over_twice);
        g_test_add_func("/state-manager/war-of-epochs-is-slow", test_war_of_epochs_is_slow);
        g_test_add_func("/state-manager/absurd-epoch-is-refused", test_absurd_epoch_is_refused);
        g_test_add_func("/state-manager/records-of-the-future", test_records_of_the_future);
        g_test_add_func("/state-manager/epochs-of-the-future", test_epochs_of_the_future);
        g_test_add_func("/state-manager/epoch-goes-back-with-the-clock", test_epoch_goes_back_with_the_clock);
        g_test_add_func("/state-manager/presences", test_presences);
        g_test_add_func("/state-manager/forgotten-together", test_forgotten_together);
        g_test_add_func("/state-manager/who-is-forgotten-makes-room", test_who_is_forgotten_makes_room);
        g_test_add_func("/state-manager/bad-presences", test_bad_presences);
        g_test_add_func("/state-manager/dear-results-are-kept", test_dear_results_are_kept);
        g_test_add_func("/state-manager/dear-results-are-kept-soon", test_dear_results_are_kept_soon);
        g_test_add_func("/state-manager/silent-nodes-expire", test_silent_nodes_expire);
        g_test_add_func(
                "/state-manager/what-no-longer-applies-is-pruned", test_what_no_longer_applies_is_pruned);
        g_test_add_func("/state-manager/expiry-is-configured-anew", test_expiry_is_configured_anew);
        g_test_add_func("/state-manager/max-nodes", test_max_nodes);
        return g_test_run();
}
