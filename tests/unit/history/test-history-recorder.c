/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "services/history/recorder.h"
#include "services/history/store/tier-table.h"
#include "tests/unit/history/history-folder.h"
#include "tests/unit/record-maker.h"

#define SECOND INT64_C(1000000)
#define BEGIN (INT64_C(1700000000) * SECOND)
#define LINK_KEY "a-key"

typedef struct Fixture {
        HistoryFolder folder;
        AldHistory *history;
        AldRecorder *recorder;
        AldId node;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        history_folder_make(&fixture->folder);
        fixture->history = ald_history_new(fixture->folder.path, UINT64_C(64) << 20);
        fixture->recorder = ald_recorder_new(fixture->history);
        fixture->node = id_make(1);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        ald_recorder_free(fixture->recorder);
        ald_history_free(fixture->history);
        history_folder_remove(&fixture->folder);
}

static void take(Fixture *fixture, AldKind kind, const char *key, const void *fields, int second)
{
        g_autoptr(AldRecord) record = record_make(kind, fields);

        record->updated_usec = (uint64_t) (BEGIN + second * SECOND);
        ald_recorder_take(fixture->recorder, &fixture->node, key, record, BEGIN + second * SECOND);
}

/* Its samples in the first minutes: "SECOND:VALUE …", where ? is unknown; "none" if there are none. */
static char *samples_text(Fixture *fixture, const char *kind, const char *key, const char *field)
{
        const AldSeriesName name = { ID_TEXT(1), kind, key, field };
        g_autoptr(GArray) buckets = NULL;
        GString *text = g_string_new(NULL);

        if (ald_history_query(fixture->history, &name, BEGIN, BEGIN + 1000 * SECOND, 1000, &buckets) < 0)
                g_string_append(text, " none");
        for (guint i = 0; buckets && i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);

                g_string_append_printf(text, " %d:", (int) ((bucket->start - BEGIN) / SECOND));
                if (bucket->count > 0)
                        g_string_append_printf(text, "%g", bucket->mean);
                else
                        g_string_append_c(text, '?');
        }
        return g_string_free(text, FALSE);
}

static void check(
        Fixture *fixture, const char *kind, const char *key, const char *field, const char *expected)
{
        g_autofree char *text = samples_text(fixture, kind, key, field);

        g_assert_cmpstr(text, ==, expected);
}

/* What changes has a sample each time, and all has one every 30 s. */
static void test_changes(Fixture *fixture, gconstpointer data)
{
        AldMemory memory = ALD_MEMORY_INIT;

        memory.total_bytes = 1000;
        for (int second = 0; second < 65; second += 5) {
                memory.available_bytes = second < 20 ? 500 : 600;
                /* Within an eighth of the threshold of 0.5: no change. */
                memory.pressure_some10 = 3 + second / 1000.0;
                take(fixture, ALD_KIND_MEMORY, NULL, &memory, second);
        }
        check(fixture, "Node1.Memory", "", "TotalBytes", " 0:1000 30:1000 60:1000");
        check(fixture, "Node1.Memory", "", "AvailableBytes", " 0:500 20:600 30:600 60:600");
        check(fixture, "Node1.Memory", "", "PressureSome10", " 0:3 30:3 60:3");
        check(fixture, "Node1.Memory", "", "PressureFull10", " none");
        check(fixture, "Node1.Memory", "", "UpdatedUSec", " none");
}

static void test_unknown(Fixture *fixture, gconstpointer data)
{
        AldMemory memory = ALD_MEMORY_INIT;

        memory.total_bytes = 1000;
        memory.available_bytes = 500;
        take(fixture, ALD_KIND_MEMORY, NULL, &memory, 0);
        memory.available_bytes = ALD_ABSENT_UINT64;
        take(fixture, ALD_KIND_MEMORY, NULL, &memory, 5);
        take(fixture, ALD_KIND_MEMORY, NULL, &memory, 10);
        memory.available_bytes = 500;
        take(fixture, ALD_KIND_MEMORY, NULL, &memory, 15);
        ald_recorder_end(fixture->recorder, &fixture->node, ALD_KIND_MEMORY, NULL, BEGIN + 20 * SECOND);
        ald_recorder_end(fixture->recorder, &fixture->node, ALD_KIND_MEMORY, NULL, BEGIN + 25 * SECOND);
        take(fixture, ALD_KIND_MEMORY, NULL, &memory, 28);
        ald_recorder_end_all(fixture->recorder, BEGIN + 40 * SECOND);
        check(fixture, "Node1.Memory", "", "TotalBytes", " 0:1000 20:? 28:1000 40:?");
        check(fixture, "Node1.Memory", "", "AvailableBytes", " 0:500 5:? 15:500 20:? 28:500 40:?");
}

/* Each row has series of its own, whichever rows come and go beside it. */
static void test_rows(Fixture *fixture, gconstpointer data)
{
        AldDiskPath paths[] = { ALD_DISK_PATH_INIT, ALD_DISK_PATH_INIT };
        AldDisk disk = ALD_DISK_INIT;

        paths[0].id = "/";
        paths[0].total_bytes = 100;
        paths[1].id = "/home";
        paths[1].total_bytes = 200;
        disk.paths.items = paths;
        disk.paths.n = 2;
        take(fixture, ALD_KIND_DISK, NULL, &disk, 0);
        disk.paths.items = &paths[1];
        disk.paths.n = 1;
        take(fixture, ALD_KIND_DISK, NULL, &disk, 5);
        paths[1].total_bytes = 300;
        take(fixture, ALD_KIND_DISK, NULL, &disk, 10);
        disk.paths.n = 0;
        take(fixture, ALD_KIND_DISK, NULL, &disk, 15);
        check(fixture, "Node1.Disk", "", "Paths[/].TotalBytes", " 0:100 5:?");
        check(fixture, "Node1.Disk", "", "Paths[/home].TotalBytes", " 0:200 10:300 15:?");
}

/* Numbers that are no metric, such as that of a line of the configuration, are no figures either. */
static void test_what_is_no_metric(Fixture *fixture, gconstpointer data)
{
        AldRefusedSetting problem = ALD_REFUSED_SETTING_INIT;
        AldConfiguration configuration = ALD_CONFIGURATION_INIT;
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        problem.id = "a line";
        problem.line = 7;
        configuration.problems.items = &problem;
        configuration.problems.n = 1;
        link.upload.bits_per_second = link.upload.spot_bits_per_second = 100;
        take(fixture, ALD_KIND_CONFIGURATION, NULL, &configuration, 0);
        take(fixture, ALD_KIND_LINK_SOCKET, LINK_KEY, &link, 0);
        check(fixture, "Node1.Configuration", "", "Problems[a line].Line", " none");
        check(fixture, "Link1.Socket", LINK_KEY, "SpotUploadBitsPerSecond", " none");
        check(fixture, "Link1.Socket", LINK_KEY, "UploadBitsPerSecond", " 0:100");
        g_assert_false(ald_recorder_is_field(ALD_KIND_CONFIGURATION, "Problems[a line].Line"));
        g_assert_false(ald_recorder_is_field(ALD_KIND_LINK_SOCKET, "SpotUploadBitsPerSecond"));
        g_assert_true(ald_recorder_is_field(ALD_KIND_PROCESSES, "Devices[0000:01:00.0].HeldBytes"));
        g_assert_false(ald_recorder_is_field(ALD_KIND_PROCESSES, "Holders[0000:01:00.0,7].MemoryBytes"));
        g_assert_true(ald_recorder_is_field(ALD_KIND_LINK_SOCKET, "UploadBitsPerSecond"));
}

/* Of a link that is measured now and then, each result is one sample, at its time, however often it is sent.
 */
/* How much is held is kept, but not who does. */
static void test_holders(Fixture *fixture, gconstpointer data)
{
        static const char gpu[] = "0000:01:00.0", unit[] = "0000:01:00.0,unit,secret.service";
        AldHeldDevice device = { gpu, 1, 100 };
        AldHolder holder = ALD_HOLDER_INIT;
        AldProcesses processes = ALD_PROCESSES_INIT;

        holder.id = unit;
        holder.device = gpu;
        holder.owner = "secret.service";
        holder.processes = holder.pid = 1;
        holder.memory_bytes = 100;
        holder.usage = 50;
        processes.devices.items = &device;
        processes.holders.items = &holder;
        processes.devices.n = processes.holders.n = 1;
        take(fixture, ALD_KIND_PROCESSES, NULL, &processes, 0);
        check(fixture, "Node1.Processes", "", "Devices[0000:01:00.0].Holders", " 0:1");
        for (size_t i = 0; i < ald_holder_struct.n_fields; i++) {
                g_autofree char *field = g_strdup_printf(
                        "Holders[%s].%s", unit, ald_holder_struct.fields[i].name);

                check(fixture, "Node1.Processes", "", field, " none");
        }
}

static void test_results(Fixture *fixture, gconstpointer data)
{
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        link.upload.bits_per_second = 100;
        link.rtt_p50_nsec = 7;
        link.negotiated_bits_per_second = 400;
        link.measured_usec = (uint64_t) (BEGIN + 2 * SECOND);
        link.rtt_measured_usec = (uint64_t) (BEGIN + 3 * SECOND);
        take(fixture, ALD_KIND_LINK_SOCKET, LINK_KEY, &link, 4);
        take(fixture, ALD_KIND_LINK_SOCKET, LINK_KEY, &link, 40);
        link.rtt_measured_usec = (uint64_t) (BEGIN + 50 * SECOND);
        take(fixture, ALD_KIND_LINK_SOCKET, LINK_KEY, &link, 51);
        link.measured_usec = (uint64_t) (BEGIN + 60 * SECOND);
        take(fixture, ALD_KIND_LINK_SOCKET, LINK_KEY, &link, 61);
        ald_recorder_end_all(fixture->recorder, BEGIN + 70 * SECOND);
        check(fixture, "Link1.Socket", LINK_KEY, "UploadBitsPerSecond", " 2:100 60:100 70:?");
        check(fixture, "Link1.Socket", LINK_KEY, "RttP50NSec", " 3:7 50:7 70:?");
}

/* Any records, in any order, and a clock that jumps. */
static void test_any_records(Fixture *fixture, gconstpointer data)
{
        for (unsigned i = 0; i < 500; i++) {
                g_autoptr(AldRecord) record = record_random((AldKind) g_test_rand_int_range(0, ALD_N_KINDS));
                const AldId node = id_make((unsigned) g_test_rand_int_range(1, 3));
                const int64_t now = BEGIN + g_test_rand_int_range(0, 100000) * SECOND;

                record->updated_usec = (uint64_t) (now + g_test_rand_int_range(-90, 90) * 1000 * SECOND);
                ald_recorder_take(fixture->recorder, &node, i % 2 ? "a" : NULL, record, now);
                if (i % 7 == 0)
                        ald_recorder_end(fixture->recorder, &node, record->kind, i % 2 ? "a" : NULL, now);
        }
        ald_recorder_end_all(fixture->recorder, BEGIN);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN), ==, 0);
        g_assert_cmpint(ald_history_flush(fixture->history, BEGIN + ALD_HOUR_USEC), ==, 0);
}

#define ADD(name, function) g_test_add("/history-recorder/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        ADD("changes", test_changes);
        ADD("unknown", test_unknown);
        ADD("rows", test_rows);
        ADD("what-is-no-metric", test_what_is_no_metric);
        ADD("holders", test_holders);
        ADD("results", test_results);
        ADD("any-records", test_any_records);
        return g_test_run();
}
