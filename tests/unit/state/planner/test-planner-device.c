/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/planner/planner-device.h"
#include "state/results/compute-result.h"
#include "state/store/saved.h"
#include "tests/unit/state-maker.h"

#define SECOND UINT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define TICK (15 * SECOND)
#define NOW (UINT64_C(1700000000) * SECOND)

#define CPU "{'Id': 'cpu', 'Class': 'cpu', 'OpenClPlatform': 'PoCL', 'DriverVersion': '3.1'}"
#define GPU "{'Id': '0000:01:00.0', 'Class': 'gpu', 'OpenClPlatform': 'CUDA', 'DriverVersion': '555'}"
#define BARE "{'Id': '0000:02:00.0', 'Class': 'gpu'}"

static AldStore *make(const char *backends, const char *rows)
{
        AldStore *store = state_make();
        g_autofree char *devices = g_strdup_printf("{'Devices': [%s]}", backends);
        g_autofree char *compute = g_strdup_printf("{'Devices': [%s]}", rows ?: "");

        state_put(store, 1, ALD_KIND_BACKENDS, devices);
        if (rows)
                state_put(store, 1, ALD_KIND_COMPUTE, compute);
        return store;
}

/* "Id reason" of each. */
static void check(AldStore *store, const AldPlannerInput *input, const char *expected)
{
        g_autoptr(GArray) due = ald_planner_devices(store, input);
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < due->len; i++) {
                const AldDueProbe *device = &g_array_index(due, AldDueProbe, i);

                g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "", device->device,
                        ald_due_reason_to_string(device->reason));
        }
        g_assert_cmpstr(text->str, ==, expected);
}

static void check_row(const char *row, const char *expected)
{
        const AldPlannerInput input = { .now_realtime = NOW, .max = 8 };
        g_autoptr(AldStore) store = make(CPU, row);

        check(store, &input, expected);
}

static char *row_at(int64_t measured_ago, const char *more)
{
        return g_strdup_printf(
                "{'Id': 'cpu', 'MeasuredUSec': %" G_GINT64_FORMAT "%s}", (int64_t) NOW - measured_ago, more);
}

static void check_at(int64_t measured_ago, const char *more, const char *expected)
{
        g_autofree char *row = row_at(measured_ago, more);

        check_row(row, expected);
}

static void test_reasons(void)
{
        check_row(NULL, "cpu never");
        check_row("", "cpu never");
        check_row("{'Id': 'other', 'MeasuredUSec': 1}", "cpu never");
        check_at(HOUR - 1, "", "");
        check_at(HOUR, "", "cpu expired");
        check_at(-1, "", "cpu future");
        check_at(MINUTE, ", 'DriverVersion': '3.1'", "");
        check_at(MINUTE, ", 'DriverVersion': '3.0'", "cpu driver");
        check_at(2 * HOUR, ", 'DriverVersion': '3.0'", "cpu expired");
}

static void check_failed(uint64_t ago, unsigned failures, const char *expected)
{
        g_autofree char *row = g_strdup_printf(
                "{'Id': 'cpu', 'DriverVersion': '1', 'FailedUSec': %" G_GUINT64_FORMAT
                ", 'MeasuredUSec': 1, 'Failures': %u}",
                NOW - ago, failures);

        check_row(row, expected);
}

static void test_failures_back_off(void)
{
        check_failed(44 * SECOND, 1, "");
        check_failed(MINUTE, 1, "cpu failed");
        /* A new driver that fails as well does not fail at once again. */
        check_failed(2 * MINUTE, 3, "");
        check_failed(4 * MINUTE, 3, "cpu failed");
        check_failed(44 * MINUTE, 50, "");
        check_failed(HOUR, 50, "cpu failed");
        check_failed((uint64_t) -SECOND, 1, "cpu future");
}

static void test_which_devices(void)
{
        const AldPlannerInput all = { .now_realtime = NOW, .max = 8 };
        const AldPlannerInput one = { .now_realtime = NOW, .max = 1 };
        const AldPlannerInput none = { .now_realtime = NOW, .max = 0 };
        const char *const busy[] = { "cpu" };
        const AldPlannerInput held = {
                .now_realtime = NOW, .max = 8, .avoid_devices = busy, .n_avoid_devices = 1
        };
        g_autoptr(AldStore) store = make(CPU ", " GPU ", " BARE, NULL);
        g_autoptr(AldStore) empty = state_make();

        check(empty, &all, "");
        check(store, &all, "0000:01:00.0 never, cpu never");
        check(store, &one, "0000:01:00.0 never");
        check(store, &none, "");
        check(store, &held, "0000:01:00.0 never");
        /* What waits longest comes first. */
        state_put(store, 1, ALD_KIND_SYSTEM, "{'Devices': [{'Id': '0000:01:00.0', 'Usage': 0}]}");
        state_put(store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'cpu', 'MeasuredUSec': 5}, {'Id': '0000:01:00.0', 'MeasuredUSec': 6}]}");
        check(store, &all, "cpu expired, 0000:01:00.0 expired");
}

static void test_devices_in_use(void)
{
        const AldPlannerInput input = { .now_realtime = NOW, .max = 8 };
        g_autoptr(AldStore) store = make(GPU, NULL);

        state_put(store, 1, ALD_KIND_SYSTEM, "{'Devices': [{'Id': '0000:01:00.0', 'Usage': 10.5}]}");
        check(store, &input, "");
        state_put(store, 1, ALD_KIND_SYSTEM, "{'Devices': [{'Id': '0000:01:00.0', 'Usage': 10}]}");
        check(store, &input, "0000:01:00.0 never");
        state_put(store, 1, ALD_KIND_SYSTEM, "{'Devices': [{'Id': '0000:01:00.0', 'PowerState': 'asleep'}]}");
        check(store, &input, "0000:01:00.0 never");
        /* It is not woken only to say the same again. */
        state_put(store, 1, ALD_KIND_COMPUTE, "{'Devices': [{'Id': '0000:01:00.0', 'MeasuredUSec': 5}]}");
        check(store, &input, "");
        state_put(store, 1, ALD_KIND_SYSTEM,
                "{'Devices': [{'Id': '0000:01:00.0', 'PowerState': 'active', 'Usage': 0}]}");
        check(store, &input, "0000:01:00.0 expired");
}

/* A model that is loaded and waits for questions is work. */
static void test_devices_computed_on(void)
{
        const AldPlannerInput input = { .now_realtime = NOW, .max = 8 };
        g_autoptr(AldStore) store = make(GPU, NULL);

        state_put(store, 1, ALD_KIND_SYSTEM,
                "{'Devices': [{'Id': '0000:01:00.0', 'Usage': 0, 'ComputeProcesses': 1}]}");
        check(store, &input, "");
        state_put(store, 1, ALD_KIND_SYSTEM,
                "{'Devices': [{'Id': '0000:01:00.0', 'Usage': 0, 'ComputeProcesses': 0}]}");
        check(store, &input, "0000:01:00.0 never");
}

static void test_unknown_loads(void)
{
        const AldPlannerInput input = { .now_realtime = NOW, .max = 8 };
        g_autoptr(AldStore) store = make(GPU ", " CPU, NULL);

        /* The first measurement is allowed. */
        check(store, &input, "0000:01:00.0 never, cpu never");
        state_put(store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'FailedUSec': 5, 'Failures': 1}]}");
        check(store, &input, "cpu never, 0000:01:00.0 failed");
        /* Later ones are not; the load of processors is for others to judge. */
        state_put(store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'cpu', 'MeasuredUSec': 5}, {'Id': '0000:01:00.0', 'MeasuredUSec': 6}]}");
        check(store, &input, "cpu expired");
        state_put(store, 1, ALD_KIND_SYSTEM,
                "{'Devices': [{'Id': '0000:01:00.0', 'PowerState': 'active', 'TemperatureMilliCelsius': "
                "1}]}");
        check(store, &input, "cpu expired");
        state_put(store, 1, ALD_KIND_SYSTEM, "{'Devices': [{'Id': '0000:01:00.0', 'ComputeProcesses': 0}]}");
        check(store, &input, "cpu expired, 0000:01:00.0 expired");
        /* What was said long ago is not known. */
        ald_node_record(ald_store_local_node(store), ALD_KIND_SYSTEM)->updated_usec = NOW - HOUR;
        check(store, &input, "cpu expired");
        ald_node_record(ald_store_local_node(store), ALD_KIND_SYSTEM)->updated_usec = NOW - MINUTE;
        check(store, &input, "cpu expired, 0000:01:00.0 expired");
}

static void test_parts_of_devices(void)
{
        const AldPlannerInput input = { .now_realtime = NOW, .max = 8 };
        g_autoptr(AldStore) store = make(GPU ", {'Id': 'MIG-1', 'Class': 'gpu', 'Parent': '0000:01:00.0', "
                                             "'OpenClPlatform': 'CUDA'}, {'Id': 'MIG-2', 'Class': 'gpu', "
                                             "'Parent': '0000:01:00.0'}",
                NULL);

        check(store, &input, "MIG-1 never");
}

/* The obstacle of the GPU, in words. */
static void check_obstacle(const char *device, const char *rows, const char *expected)
{
        g_autofree char *system = g_strdup_printf("{'Devices': [%s]}", device);
        g_autoptr(AldStore) store = make(GPU, rows);
        const AldNode *node = ald_store_local_node(store);
        AldDeviceRecords records = { .node = node->id };

        state_put(store, 1, ALD_KIND_SYSTEM, system);
        records.backends = ald_node_as(node, BACKENDS, AldBackends);
        records.compute = ald_node_as(node, COMPUTE, AldCompute);
        records.system = ald_node_as(node, SYSTEM, AldSystem);
        g_assert_cmpstr(ald_device_obstacle_to_string(ald_device_obstacle(
                                &records, ald_rows_at(&records.backends->devices, 0), NOW)),
                ==, expected);
}

static void test_obstacles(void)
{
        const char *const known = "{'Id': '0000:01:00.0', 'MeasuredUSec': 1}";

        check_obstacle("{'Id': '0000:01:00.0', 'Usage': 90, 'ComputeProcesses': 2}", known,
                "processes compute on it");
        check_obstacle("{'Id': '0000:01:00.0', 'Usage': 90}", known, "it is in use");
        check_obstacle("{'Id': '0000:01:00.0', 'PowerState': 'asleep'}", known, "it is asleep");
        check_obstacle("{'Id': '0000:09:00.0', 'Usage': 0}", known, "nothing reports its load");
        check_obstacle("{'Id': '0000:09:00.0', 'Usage': 0}", NULL, "it is free");
        check_obstacle("{'Id': '0000:01:00.0', 'Usage': 0}", known, "it is free");
}

/* Days of one machine with two devices, asked every 15 s. */
typedef struct World {
        AldStore *store;
        uint64_t now, epoch;
        int64_t clock_offset;
        unsigned driver;
        bool broken;
        struct {
                uint64_t tried, measured;
                unsigned failures, tries;
        } devices[2];
        bool jumped; /* since the last attempt of either */
} World;

static const char *const ids[] = { "0000:01:00.0", "cpu" };

static void see(World *world)
{
        g_autofree char *text = g_strdup_printf(
                "{'Devices': [" CPU
                ", {'Id': '0000:01:00.0', 'OpenClPlatform': 'CUDA', 'DriverVersion': '%u'}]}",
                world->driver);

        state_put(world->store, 1, ALD_KIND_BACKENDS, text);
        state_put(world->store, 1, ALD_KIND_SYSTEM,
                "{'Devices': [{'Id': '0000:01:00.0', 'Usage': 0, 'ComputeProcesses': 0}]}");
}

static void restart(World *world)
{
        g_autofree char *text = ald_saved_format(world->store), *error = NULL;
        g_autoptr(AldSaved) saved = NULL;
        AldId id = ald_store_local_node(world->store)->id;

        g_assert_cmpint(ald_saved_parse(text, strlen(text), &id, &saved, &error), ==, 0);
        ald_store_free(world->store);
        world->store = state_make_of(1, ++world->epoch);
        ald_saved_restore(saved, world->store, world->now);
        see(world);
}

static uint64_t realtime(const World *world)
{
        return (uint64_t) ((int64_t) (NOW + world->now) + world->clock_offset);
}

static void record(World *world, const char *id, bool success)
{
        g_autofree char *driver = g_strdup_printf("%u", world->driver);
        AldNode *node = ald_store_local_node(world->store);
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;
        AldCompute told = ALD_COMPUTE_INIT;
        g_autoptr(AldRecord) record = NULL, merged = NULL;

        row.id = id;
        if (success) {
                row.measured_usec = realtime(world);
                row.peak_tflops = 1;
                row.driver_version = strcmp(id, "cpu") == 0 ? "3.1" : driver;
        } else {
                row.failed_usec = realtime(world);
                row.failure = "crashed";
        }
        told.devices.items = &row;
        told.devices.n = 1;
        g_assert_cmpint(ald_record_new(ALD_KIND_COMPUTE, &told, &record), ==, 0);
        g_assert_cmpint(
                ald_compute_result_merge(ald_node_record(node, ALD_KIND_COMPUTE), record, &merged), ==, 0);
        g_assert_cmpint(ald_store_put_local(world->store, ALD_KIND_COMPUTE, "", merged, 0, world->now), ==,
                ALD_PUT_TAKEN);
}

static void check_try(const World *world, unsigned which, AldDueReason reason)
{
        uint64_t since = world->now - world->devices[which].tried;
        unsigned failures = world->devices[which].failures;
        uint64_t back_off = MIN(MINUTE << MIN(failures, 7) >> 1, HOUR);

        if (world->devices[which].tries == 0 || world->jumped || reason == ALD_DUE_DRIVER)
                return;
        g_assert_cmpuint(since, >=, failures > 0 ? back_off - back_off / 4 : HOUR);
}

static void step(World *world)
{
        const AldPlannerInput input = { .now_realtime = realtime(world), .max = 1 };
        g_autoptr(GArray) due = ald_planner_devices(world->store, &input);
        const AldDueProbe *device;
        unsigned which;
        bool success;

        world->now += TICK;
        if (due->len == 0)
                return;
        device = &g_array_index(due, AldDueProbe, 0);
        which = strcmp(device->device, ids[0]) != 0;
        check_try(world, which, device->reason);
        success = which == 1 || !world->broken;
        world->devices[which].tried = world->now;
        world->devices[which].tries++;
        world->devices[which].failures = success ? 0 : world->devices[which].failures + 1;
        if (success)
                world->devices[which].measured = world->now;
        record(world, ids[which], success);
}

static void run(World *world, uint64_t duration)
{
        for (uint64_t end = world->now + duration; world->now < end;)
                step(world);
}

static void check_measured_within(const World *world, uint64_t span)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(ids); i++)
                g_assert_cmpuint(world->now - world->devices[i].measured, <=, span);
}

/* Tries since the last call. */
static unsigned tries(World *world, unsigned which)
{
        unsigned n = world->devices[which].tries;

        world->devices[which].tries = 0;
        return n;
}

static void test_days(void)
{
        World world = { .store = state_make_of(1, 1), .now = HOUR, .epoch = 1, .driver = 1 };

        see(&world);
        run(&world, MINUTE);
        check_measured_within(&world, MINUTE);
        g_assert_cmpuint(tries(&world, 0) + tries(&world, 1), ==, 2);
        /* Restarts fire nothing. */
        for (unsigned i = 0; i < 96; i++) {
                run(&world, 15 * MINUTE);
                check_measured_within(&world, HOUR + 2 * TICK);
                restart(&world);
        }
        g_assert_cmpuint(tries(&world, 0), ==, 23);
        g_assert_cmpuint(tries(&world, 1), ==, 23);
        /* A new driver is measured at once, and once. */
        world.driver = 2;
        see(&world);
        run(&world, MINUTE);
        g_assert_cmpuint(tries(&world, 0), ==, 1);
        /* One that breaks the device is tried again and again, less and less. */
        world.driver = 3;
        world.broken = true;
        see(&world);
        run(&world, 24 * HOUR);
        g_assert_cmpuint(tries(&world, 0), <=, 40);
        g_assert_cmpuint(world.now - world.devices[1].measured, <=, HOUR + 2 * TICK);
        world.broken = false;
        run(&world, HOUR + TICK);
        check_measured_within(&world, HOUR + 2 * TICK);
        /* The clock goes a year back: all is due, once. */
        run(&world, 2 * HOUR);
        tries(&world, 0);
        world.jumped = true;
        world.clock_offset = -(int64_t) (365 * 24 * HOUR);
        run(&world, MINUTE);
        g_assert_cmpuint(tries(&world, 0), ==, 1);
        world.jumped = false;
        run(&world, 24 * HOUR);
        check_measured_within(&world, HOUR + 2 * TICK);
        ald_store_free(world.store);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/planner-device/reasons", test_reasons);
        g_test_add_func("/planner-device/back-off", test_failures_back_off);
        g_test_add_func("/planner-device/which", test_which_devices);
        g_test_add_func("/planner-device/in-use", test_devices_in_use);
        g_test_add_func("/planner-device/computed-on", test_devices_computed_on);
        g_test_add_func("/planner-device/unknown-loads", test_unknown_loads);
        g_test_add_func("/planner-device/parts", test_parts_of_devices);
        g_test_add_func("/planner-device/obstacles", test_obstacles);
        g_test_add_func("/planner-device/days", test_days);
        return g_test_run();
}
