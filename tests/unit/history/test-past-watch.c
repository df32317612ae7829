/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "services/history/past-watch.h"
#include "tests/unit/history/history-folder.h"
#include "tests/unit/record-maker.h"

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define BEGIN (INT64_C(1700000000) * SECOND)
#define ONE "00000001000000000000000000000000"
#define TWO "00000002000000000000000000000000"
#define LINK_ID ONE "/" TWO ",192.0.2.2"
#define GBIT UINT64_C(1000000000)

/* What a manager has: a model, a feed of all of it, and what watches the past. */
typedef struct Fixture {
        HistoryFolder folder;
        AldModel *model;
        AldHistory *history;
        AldRecorder *recorder;
        AldRecordFeed *feed;
        AldPastWatch *watch;
        int64_t now;
        unsigned changes;
} Fixture;

static void on_past_changed(void *userdata)
{
        ((Fixture *) userdata)->changes++;
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        Fixture *fixture = userdata;

        if (ald_record_feed_change(fixture->feed, change, fixture->now))
                ald_past_watch_restart(fixture->watch);
        else
                ald_past_watch_change(fixture->watch, change);
}

static void open_watch(Fixture *fixture)
{
        fixture->feed = ald_record_feed_new(fixture->model, fixture->recorder);
        ald_record_feed_set_scope(fixture->feed, ALD_HISTORY_ALL, fixture->now);
        fixture->watch = ald_past_watch_new(
                fixture->model, fixture->history, fixture->feed, on_past_changed, fixture);
        ald_model_watch(fixture->model, on_changed, fixture);
}

static void close_watch(Fixture *fixture)
{
        ald_past_watch_free(fixture->watch);
        ald_record_feed_free(fixture->feed);
}

static void set_up(Fixture *fixture, gconstpointer data)
{
        history_folder_make(&fixture->folder);
        fixture->now = BEGIN;
        fixture->model = ald_model_new();
        fixture->history = ald_history_new(fixture->folder.path, UINT64_C(64) << 20);
        fixture->recorder = ald_recorder_new(fixture->history);
        open_watch(fixture);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        close_watch(fixture);
        ald_recorder_free(fixture->recorder);
        ald_history_free(fixture->history);
        ald_model_free(fixture->model);
        history_folder_remove(&fixture->folder);
}

static void settle(void)
{
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

static void put(Fixture *fixture, const char *id, AldKind kind, const void *fields)
{
        AldRecord *record = record_make(kind, fields);

        record->updated_usec = (uint64_t) fixture->now;
        g_assert_cmpint(ald_model_put(fixture->model, id, record, NULL), ==, 0);
        ald_record_unref(record);
        settle();
}

static void name_node(Fixture *fixture, const char *id, const char *name)
{
        AldIdentity identity = ALD_IDENTITY_INIT;

        identity.friendly_name = name;
        put(fixture, id, ALD_KIND_IDENTITY, &identity);
}

/* A result of a probe now. */
static void probe(Fixture *fixture, uint64_t upload, uint64_t download, const char *flag)
{
        const char *flags[] = { flag, NULL };
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        link.source = ONE;
        link.sink = TWO;
        link.sink_address = "192.0.2.2";
        link.source_interface = "eth0";
        link.upload.bits_per_second = upload;
        link.download.bits_per_second = download;
        link.measured_usec = (uint64_t) fixture->now;
        if (flag)
                link.flags = flags;
        put(fixture, LINK_ID, ALD_KIND_LINK_SOCKET, &link);
}

static void check_findings(Fixture *fixture, const char *expected)
{
        g_autoptr(AldNodeNames) names = ald_node_names_new(fixture->model);
        g_autoptr(GPtrArray) rows = ald_past_watch_findings(fixture->watch, names);
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < rows->len; i++)
                g_string_append_printf(text, "%s\n", ((const AldFindingRow *) rows->pdata[i])->text);
        g_assert_cmpstr(text->str, ==, expected);
}

/* A steady past: a result every hour. */
static void make_past(Fixture *fixture)
{
        name_node(fixture, ONE, "one");
        name_node(fixture, TWO, "two");
        for (unsigned i = 0; i < 24; i++) {
                probe(fixture, 10 * GBIT + i % 3 * (GBIT / 100), 10 * GBIT, NULL);
                fixture->now += HOUR;
                g_assert_cmpint(ald_history_flush(fixture->history, fixture->now), ==, 0);
        }
        check_findings(fixture, "");
}

#define SLOWER                                                                                  \
        "The link from one to two (eth0 to 192.0.2.2) has been slower than its own past since " \
        "2023-11-15 22:13:18 UTC: 8.50 Gb/s from one to two instead of 10.0 Gb/s.\n"

/* The first slow result may be chance, the second confirms it, however soon it comes. */
static void test_link(Fixture *fixture, gconstpointer data)
{
        make_past(fixture);
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        check_findings(fixture, "");
        fixture->now += 5 * SECOND;
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        check_findings(fixture, SLOWER);
        g_assert_cmpuint(fixture->changes, ==, 1);
        fixture->now += HOUR;
        probe(fixture, 10 * GBIT, 10 * GBIT, NULL);
        check_findings(fixture, "");
        g_assert_cmpuint(fixture->changes, ==, 2);
}

/* Neither is found by a result that other traffic disturbed, nor confirmed by one. */
static void test_disturbed(Fixture *fixture, gconstpointer data)
{
        make_past(fixture);
        for (unsigned i = 0; i < 3; i++) {
                probe(fixture, 5 * GBIT, 10 * GBIT, "disturbed");
                fixture->now += 10 * SECOND;
        }
        check_findings(fixture, "");
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        check_findings(fixture, "");
}

/* Nor by one that was disturbed earlier. */
static void test_disturbed_twice(Fixture *fixture, gconstpointer data)
{
        make_past(fixture);
        for (unsigned i = 0; i < 2; i++) {
                probe(fixture, 5 * GBIT, 10 * GBIT, i == 0 ? "disturbed" : "unsteady");
                fixture->now += HOUR;
        }
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        check_findings(fixture, "");
        fixture->now += HOUR;
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        g_assert_cmpuint(fixture->changes, ==, 1);
}

/* A history that begins anew finds what it found before. */
static void test_restart(Fixture *fixture, gconstpointer data)
{
        make_past(fixture);
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        fixture->now += 5 * SECOND;
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        close_watch(fixture);
        open_watch(fixture);
        ald_past_watch_restart(fixture->watch);
        settle();
        check_findings(fixture, SLOWER);
}

static void set_presence(Fixture *fixture, const char *state)
{
        AldPresence presence = ALD_PRESENCE_INIT;

        presence.state = state;
        put(fixture, ONE, ALD_KIND_PRESENCE, &presence);
}

/* Nothing is said about a node that is gone, or a link. */
static void test_offline(Fixture *fixture, gconstpointer data)
{
        make_past(fixture);
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        fixture->now += 5 * SECOND;
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        check_findings(fixture, SLOWER);
        set_presence(fixture, "offline");
        check_findings(fixture, "");
        set_presence(fixture, "online");
        check_findings(fixture, SLOWER);
        ald_model_remove(fixture->model, LINK_ID, "Link1.Socket");
        settle();
        check_findings(fixture, "");
}

static void measure(Fixture *fixture, double tflops, const char *flag)
{
        const char *flags[] = { flag, NULL };
        AldComputeDevice device = ALD_COMPUTE_DEVICE_INIT;
        AldCompute compute = ALD_COMPUTE_INIT;

        device.id = "cpu";
        device.gemm_tflops = tflops;
        device.memory_bandwidth_bytes_per_second = 100 * GBIT;
        device.measured_usec = (uint64_t) fixture->now;
        if (flag)
                device.flags = flags;
        compute.devices.items = &device;
        compute.devices.n = 1;
        put(fixture, ONE, ALD_KIND_COMPUTE, &compute);
        fixture->now += HOUR;
}

static void test_device(Fixture *fixture, gconstpointer data)
{
        static const char *const excuses[] = { "busy", "suspect", "reduced", "wall_clock" };

        name_node(fixture, ONE, "one");
        for (unsigned i = 0; i < 22; i++)
                measure(fixture, 2.0 + i % 2 * 0.01, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(excuses); i++)
                measure(fixture, 1.6, excuses[i]);
        measure(fixture, 1.6, NULL);
        check_findings(fixture, "");
        measure(fixture, 1.5, NULL);
        check_findings(fixture,
                "On one, device cpu has been slower than its own past since 2023-11-16 00:13:19 UTC: matrix "
                "products at 1.60 TFLOPS instead of 2.00 TFLOPS.\n");
}

static void load(Fixture *fixture, uint64_t rate)
{
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;
        AldStorage storage = ALD_STORAGE_INIT;

        row.id = "/srv/models";
        row.read_bytes_per_second = rate;
        row.measured_usec = (uint64_t) fixture->now;
        storage.file_systems.items = &row;
        storage.file_systems.n = 1;
        put(fixture, ONE, ALD_KIND_STORAGE, &storage);
        fixture->now += HOUR;
}

/* A file system is named by where it is mounted. */
static void test_storage(Fixture *fixture, gconstpointer data)
{
        name_node(fixture, ONE, "one");
        for (unsigned i = 0; i < 22; i++)
                load(fixture, 3 * GBIT + i % 2 * GBIT / 100);
        load(fixture, 2 * GBIT);
        check_findings(fixture, "");
        load(fixture, 2 * GBIT);
        check_findings(fixture,
                "On one, /srv/models has been slower than its own past since 2023-11-15 20:13:19 UTC: reads "
                "of models at 2.00 GB/s instead of 3.00 GB/s.\n");
}

/* A failed attempt repeats the record as it was. */
static void test_same_result(Fixture *fixture, gconstpointer data)
{
        int64_t now;

        make_past(fixture);
        now = fixture->now;
        probe(fixture, 85 * GBIT / 10, 10 * GBIT, NULL);
        for (unsigned i = 0; i < 3; i++) {
                probe(fixture, 85 * GBIT / 10, 10 * GBIT + i, NULL);
                check_findings(fixture, "");
        }
        g_assert_cmpint(fixture->now, ==, now);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
#define TEST(name, function) \
        g_test_add("/history/past-watch/" name, Fixture, NULL, set_up, function, tear_down)
        TEST("link", test_link);
        TEST("disturbed", test_disturbed);
        TEST("disturbed-twice", test_disturbed_twice);
        TEST("restart", test_restart);
        TEST("offline", test_offline);
        TEST("device", test_device);
        TEST("storage", test_storage);
        TEST("same-result", test_same_result);
        return g_test_run();
}
