/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/message.h"
#include "services/common/witness-client.h"
#include "services/witness/drm-process.h"
#include "services/witness/process-scan.h"
#include "tests/unit/fake-root.h"

#define EVERY_USEC (5 * G_USEC_PER_SEC)
#define FDINFO                                                                                            \
        "pos:\t0\ndrm-driver:\txe\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t%u\ndrm-resident-vram0:\t%u " \
        "MiB\n"

/* The linker puts it in the place of GLib's clock. */
gint64 __wrap_g_get_monotonic_time(void);
static gint64 clock_usec = EVERY_USEC, usec_per_look;

gint64 __wrap_g_get_monotonic_time(void)
{
        return clock_usec += usec_per_look;
}

typedef struct Machine {
        FakeRoot *root;
        AldProcessScan *scan;
        AldRecord *record;
        const AldProcessesAnswer *answer;
} Machine;

static void set_up(Machine *machine, gconstpointer unused)
{
        machine->root = fake_root_new();
        machine->scan = ald_process_scan_new(machine->root->fd);
        usec_per_look = 0;
        fake_root_link(machine->root, "sys/class/drm/renderD128/device/driver", "../bus/pci/drivers/xe");
        fake_root_mkdir(machine->root, "sys/bus/pci/devices/0000:03:00.0/drm/renderD128");
        fake_root_link(machine->root, "proc/self/ns/pid", "pid:[4026531836]");
}

static void tear_down(Machine *machine, gconstpointer unused)
{
        ald_process_scan_free(machine->scan);
        fake_root_free(machine->root);
        g_clear_pointer(&machine->record, ald_record_unref);
}

/* A process with one descriptor that is no device. */
static void add_process(Machine *machine, unsigned pid)
{
        g_autofree char *comm = g_strdup_printf("proc/%u/comm", pid);
        g_autofree char *status = g_strdup_printf("proc/%u/status", pid);
        g_autofree char *group = g_strdup_printf("proc/%u/cgroup", pid);
        g_autofree char *info = g_strdup_printf("proc/%u/fdinfo/0", pid);

        fake_root_write_all(machine->root, comm, "train\n", status, "Name:\ttrain\nUid:\t0\t0\t0\t0\n", group,
                "0::/system.slice/train.service\n", info, "pos:\t0\n", NULL);
}

static void start_process(Machine *machine, unsigned pid, unsigned ticks)
{
        g_autofree char *path = g_strdup_printf("proc/%u/stat", pid);
        g_autofree char *text = g_strdup_printf(
                "%u (a) b (c) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0\n", pid, ticks);

        fake_root_write(machine->root, path, text);
}

static void remove_process(Machine *machine, unsigned pid)
{
        g_autofree char *path = g_strdup_printf("proc/%u", pid);

        fake_root_remove(machine->root, path);
}

static void open_device(
        Machine *machine, unsigned pid, unsigned fd, unsigned client, unsigned mib, const char *more)
{
        g_autofree char *path = g_strdup_printf("proc/%u/fdinfo/%u", pid, fd);
        g_autofree char *text = g_strdup_printf(FDINFO "%s", client, mib, more);

        fake_root_write(machine->root, path, text);
}

static void add_holder(Machine *machine, unsigned pid, unsigned mib)
{
        add_process(machine, pid);
        open_device(machine, pid, 7, pid, mib, "");
}

/* Asks 5 s after the last time, and names these processes. */
static void ask(Machine *machine, const char *const *pids)
{
        const AldProcessesRequest asked = { .pids = pids };
        g_autoptr(AldRecord) request = NULL;
        g_autofree char *text = NULL;

        clock_usec += EVERY_USEC;
        g_assert_cmpint(ald_record_new(ALD_KIND_PROCESSES_REQUEST, &asked, &request), ==, 0);
        text = ald_process_scan_answer(machine->scan, request, ALD_WITNESS_ANSWER_MAX);
        g_assert_nonnull(text);
        g_clear_pointer(&machine->record, ald_record_unref);
        g_assert_cmpint(ald_message_parse(ALD_KIND_PROCESSES_ANSWER, text, strlen(text),
                                ALD_WITNESS_ANSWER_MAX, &machine->record, NULL),
                ==, 0);
        machine->answer = ald_record_as(machine->record, PROCESSES_ANSWER, AldProcessesAnswer);
}

static const AldDrmClient *client(const Machine *machine, size_t i)
{
        g_assert_cmpuint(i, <, machine->answer->clients.n);
        return ald_rows_at(&machine->answer->clients, i);
}

static void assert_counts(const Machine *machine, size_t n_processes, size_t n_clients, bool complete)
{
        g_assert_cmpuint(machine->answer->processes.n, ==, n_processes);
        g_assert_cmpuint(machine->answer->clients.n, ==, n_clients);
        g_assert_cmpint(machine->answer->complete, ==, complete);
}

static void test_nothing_to_see(Machine *machine, gconstpointer unused)
{
        ask(machine, NULL);
        assert_counts(machine, 0, 0, false);
}

static void test_finds_holders(Machine *machine, gconstpointer unused)
{
        const AldWitnessedProcess *process;

        add_process(machine, 1);
        add_holder(machine, 300, 512);
        ask(machine, NULL);
        assert_counts(machine, 1, 1, true);
        process = ald_rows_at(&machine->answer->processes, 0);
        g_assert_cmpstr(process->id, ==, "300");
        g_assert_cmpstr(process->program, ==, "train");
        g_assert_cmpstr(process->user, ==, "root");
        g_assert_cmpstr(process->control_group, ==, "/system.slice/train.service");
        g_assert_cmpstr(client(machine, 0)->id, ==, "300,0000:03:00.0");
        g_assert_cmpstr(client(machine, 0)->process, ==, "300");
        g_assert_cmpuint(client(machine, 0)->memory_bytes, ==, UINT64_C(512) << 20);
        g_assert_true(isnan(client(machine, 0)->usage));
        g_assert_cmpuint(machine->answer->unlisted, ==, 0);
}

/* Duplicates of a descriptor are one client, also those of a forked process, until the other one has ended.
 */
static void test_counts_clients_once(Machine *machine, gconstpointer unused)
{
        const char *work = "drm-engine-ccs:\t1000000000 ns\n";

        add_process(machine, 300);
        open_device(machine, 300, 7, 300, 100, work);
        open_device(machine, 300, 8, 300, 100, work);
        open_device(machine, 300, 9, 301, 20, "");
        add_process(machine, 400);
        open_device(machine, 400, 8, 300, 100, work);
        ask(machine, NULL);
        assert_counts(machine, 2, 2, true);
        g_assert_cmpuint(client(machine, 0)->memory_bytes, ==, UINT64_C(120) << 20);
        g_assert_cmpint(client(machine, 0)->computed, ==, 1);
        g_assert_cmpuint(client(machine, 1)->memory_bytes, ==, 0);
        g_assert_cmpint(client(machine, 1)->computed, ==, 0);
        open_device(machine, 400, 9, 400, 1, "");
        ask(machine, NULL);
        g_assert_cmpuint(client(machine, 0)->memory_bytes, ==, UINT64_C(120) << 20);
        g_assert_cmpuint(client(machine, 1)->memory_bytes, ==, UINT64_C(1) << 20);
        g_assert_cmpfloat(client(machine, 1)->usage, ==, 0);
        remove_process(machine, 300);
        ask(machine, NULL);
        assert_counts(machine, 1, 1, true);
        g_assert_cmpuint(client(machine, 0)->memory_bytes, ==, UINT64_C(101) << 20);
        g_assert_true(isnan(client(machine, 0)->usage));
}

/* The owner closes it and stays. */
static void test_shared_client_is_closed(Machine *machine, gconstpointer unused)
{
        add_holder(machine, 300, 100);
        open_device(machine, 300, 8, 301, 5, "");
        add_process(machine, 400);
        open_device(machine, 400, 7, 300, 100, "");
        ask(machine, NULL);
        g_assert_cmpuint(client(machine, 1)->memory_bytes, ==, 0);
        fake_root_write(machine->root, "proc/300/fdinfo/7", "pos:\t0\n");
        for (unsigned i = 0; i < 2; i++)
                ask(machine, NULL);
        g_assert_cmpuint(
                client(machine, 0)->memory_bytes + client(machine, 1)->memory_bytes, ==, UINT64_C(105) << 20);
}

static void test_usage_between_answers(Machine *machine, gconstpointer unused)
{
        add_process(machine, 300);
        open_device(machine, 300, 7, 1, 0, "drm-engine-ccs:\t1000000000 ns\n");
        ask(machine, NULL);
        open_device(machine, 300, 7, 1, 0, "drm-engine-ccs:\t3000000000 ns\n");
        ask(machine, NULL);
        g_assert_cmpfloat(client(machine, 0)->usage, ==, 40);
        g_assert_cmpint(client(machine, 0)->computed, ==, 1);
        ask(machine, NULL);
        g_assert_cmpfloat(client(machine, 0)->usage, ==, 0);
}

static void test_processes_end(Machine *machine, gconstpointer unused)
{
        add_holder(machine, 300, 1);
        add_holder(machine, 301, 1);
        ask(machine, NULL);
        assert_counts(machine, 2, 2, true);
        remove_process(machine, 300);
        /* It ends between its descriptors and its name. */
        fake_root_remove(machine->root, "proc/301/comm");
        ask(machine, NULL);
        assert_counts(machine, 0, 0, true);
}

/* The usage of an earlier process of the same number does not count for this one. */
static void test_number_is_used_again(Machine *machine, gconstpointer unused)
{
        add_process(machine, 300);
        start_process(machine, 300, 1000);
        open_device(machine, 300, 7, 1, 0, "drm-engine-ccs:\t1000000000 ns\n");
        ask(machine, NULL);
        start_process(machine, 300, 2000);
        open_device(machine, 300, 7, 2, 0, "drm-engine-ccs:\t3000000000 ns\n");
        ask(machine, NULL);
        assert_counts(machine, 1, 1, true);
        g_assert_true(isnan(client(machine, 0)->usage));
        ask(machine, NULL);
        g_assert_cmpfloat(client(machine, 0)->usage, ==, 0);
}

static bool is_listed(const Machine *machine, const char *pid)
{
        return ald_rows_find(&machine->answer->processes, pid) != NULL;
}

/* Holders that take long delay no others; those among them that were not read for long are not listed, and
 * one that has ended is gone at once. */
static void test_slow_holders(Machine *machine, gconstpointer unused)
{
        unsigned n_unlisted = 0;

        add_holder(machine, 5000, 1);
        start_process(machine, 5000, 1);
        add_holder(machine, 50, 1);
        for (unsigned fd = 100; fd < 1100; fd++) {
                g_autofree char *path = g_strdup_printf("proc/50/fdinfo/%u", fd);

                fake_root_link(machine->root, path, "7");
        }
        for (unsigned pid = 51; pid < 130; pid++) {
                g_autofree char *path = g_strdup_printf("proc/%u/fdinfo", pid);

                add_process(machine, pid);
                fake_root_remove(machine->root, path);
                fake_root_link(machine->root, path, "../50/fdinfo");
        }
        usec_per_look = ALD_PROCESS_SCAN_USEC / 128;
        for (unsigned i = 0; i < 40 && (i == 0 || !is_listed(machine, "5000")); i++)
                ask(machine, NULL);
        for (unsigned i = 0; i < 40; i++) {
                ask(machine, NULL);
                g_assert_true(is_listed(machine, "5000"));
                g_assert_false(machine->answer->complete);
                g_assert_cmpuint(machine->answer->clients.n + machine->answer->unlisted, ==, 81);
                n_unlisted += machine->answer->unlisted > 0;
        }
        g_assert_cmpuint(n_unlisted, >, 30);
        remove_process(machine, 5000);
        ask(machine, NULL);
        g_assert_false(is_listed(machine, "5000"));
}

static void test_named_processes(Machine *machine, gconstpointer unused)
{
        static const char *const pids[] = { "300", "17", "17", "99", "0", "-1", "4194305", "1/../2", "",
                NULL };

        add_process(machine, 17);
        add_holder(machine, 300, 1);
        ask(machine, pids);
        assert_counts(machine, 2, 1, true);
        g_assert_cmpuint(machine->answer->unlisted, ==, 0);
}

/* New holders are found within six answers, wherever they are; all others are not read anew. */
static void test_looks_at_all_in_six_answers(Machine *machine, gconstpointer unused)
{
        for (unsigned pid = 1; pid <= 60; pid++)
                add_process(machine, pid);
        ask(machine, NULL);
        for (unsigned pid = 1; pid <= 60; pid++)
                add_holder(machine, pid, 1);
        for (unsigned i = 0; i < ALD_PROCESS_SCAN_PARTS; i++) {
                size_t before = i * 60 / ALD_PROCESS_SCAN_PARTS;

                ask(machine, NULL);
                g_assert_cmpuint(machine->answer->clients.n, >, before);
                g_assert_cmpuint(
                        machine->answer->clients.n, <=, before + 60 / ALD_PROCESS_SCAN_PARTS + i + 1);
        }
        assert_counts(machine, 60, 60, true);
}

/* Reading takes so long that each answer ends before all are read. */
static void test_slow_reading_goes_on(Machine *machine, gconstpointer unused)
{
        unsigned n = 0;

        for (unsigned pid = 1; pid <= 40; pid++)
                add_process(machine, pid);
        add_holder(machine, 41, 1);
        usec_per_look = ALD_PROCESS_SCAN_USEC / 10;
        for (ask(machine, NULL); !machine->answer->complete; ask(machine, NULL))
                n++;
        g_assert_cmpuint(n, >=, 3);
        g_assert_cmpuint(machine->answer->clients.n, ==, 1);
}

static void test_five_thousand_processes(Machine *machine, gconstpointer unused)
{
        add_holder(machine, 1, 1);
        for (unsigned pid = 2; pid <= 5000; pid++) {
                g_autofree char *path = g_strdup_printf("proc/%u", pid);

                fake_root_link(machine->root, path, "1");
        }
        for (unsigned i = 0; i <= ALD_PROCESS_SCAN_PARTS; i++)
                ask(machine, NULL);
        g_assert_cmpuint(machine->answer->clients.n, >=, 256);
        g_assert_cmpuint(machine->answer->unlisted + machine->answer->clients.n, ==, 5000);
}

/* Many processes do not push out those that hold more, nor do processes that the request names. */
static void test_those_that_hold_most_are_kept(Machine *machine, gconstpointer unused)
{
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) named = NULL;

        for (unsigned pid = 1000; pid < 2200; pid++)
                add_holder(machine, pid, 1);
        add_holder(machine, 5000, 100);
        for (unsigned i = 0; i < 2 * ALD_PROCESS_SCAN_PARTS; i++)
                ask(machine, NULL);
        g_assert_true(is_listed(machine, "5000"));
        g_assert_nonnull(ald_rows_find(&machine->answer->clients, "5000,0000:03:00.0"));
        g_assert_cmpuint(machine->answer->clients.n + machine->answer->unlisted, >=, 1201);
        for (unsigned pid = 10000; pid < 11024; pid++) {
                g_autofree char *name = g_strdup_printf("%u", pid);

                add_process(machine, pid);
                g_strv_builder_add(builder, name);
        }
        named = g_strv_builder_end(builder);
        ask(machine, (const char *const *) named);
        g_assert_true(is_listed(machine, "5000"));
        g_assert_true(is_listed(machine, "10000"));
        g_assert_cmpuint(machine->answer->clients.n, >=, 256);
        g_assert_cmpuint(machine->answer->processes.n, ==, 2 * machine->answer->clients.n);
}

static void test_too_many_descriptors(Machine *machine, gconstpointer unused)
{
        add_holder(machine, 300, 1);
        for (unsigned fd = 100; fd <= 100 + ALD_DRM_DESCRIPTORS_MAX; fd++) {
                g_autofree char *path = g_strdup_printf("proc/300/fdinfo/%u", fd);

                fake_root_link(machine->root, path, "7");
        }
        ask(machine, NULL);
        assert_counts(machine, 1, 1, false);
}

static void test_slow_descriptors(Machine *machine, gconstpointer unused)
{
        add_process(machine, 300);
        for (unsigned fd = 3; fd < 503; fd++)
                open_device(machine, 300, fd, fd, 1, "");
        usec_per_look = ALD_DRM_READING_USEC / 2;
        ask(machine, NULL);
        g_assert_cmpuint(machine->answer->clients.n, ==, 1);
        g_assert_cmpuint(client(machine, 0)->memory_bytes, <, UINT64_C(300) << 20);
        g_assert_false(machine->answer->complete);
}

/* Whatever a text says, the machine has only these devices. */
static void test_devices_that_do_not_exist(Machine *machine, gconstpointer unused)
{
        add_process(machine, 300);
        fake_root_write_all(machine->root, "proc/300/fdinfo/3", "drm-driver: xe\n", "proc/300/fdinfo/4",
                "drm-driver: xe\ndrm-pdev: 0000:04:00.0\n", "proc/300/fdinfo/5", "drm-driver: ..\n",
                "proc/300/fdinfo/6", "drm-driver: nvidia\n", NULL);
        ask(machine, NULL);
        assert_counts(machine, 1, 1, true);
        g_assert_cmpstr(client(machine, 0)->device, ==, "xe");
        fake_root_mkdir(machine->root, "sys/bus/pci/devices/0000:04:00.0/accel/accel0");
        ask(machine, NULL);
        assert_counts(machine, 1, 2, true);
}

/* A long text of a descriptor ends at a line. */
static void test_long_descriptor(Machine *machine, gconstpointer unused)
{
        GString *more = g_string_new(NULL);

        add_process(machine, 300);
        while (more->len < 20000)
                g_string_append(more, "drm-resident-vram1:\t1048576 KiB\n");
        open_device(machine, 300, 7, 1, 1, more->str);
        ask(machine, NULL);
        g_assert_cmpuint(client(machine, 0)->memory_bytes % (UINT64_C(1) << 30), ==, UINT64_C(1) << 20);
        g_string_free(more, TRUE);
}

static void test_containers_do_not_see_all(Machine *machine, gconstpointer unused)
{
        fake_root_link(machine->root, "proc/self/ns/pid", "pid:[4026532001]");
        add_holder(machine, 300, 1);
        ask(machine, NULL);
        assert_counts(machine, 1, 1, false);
}

static void test_unreadable_process(Machine *machine, gconstpointer unused)
{
        g_autofree char *path = g_build_filename(machine->root->dir, "proc/300/fdinfo", NULL);

        if (geteuid() == 0) {
                g_test_skip("root reads everything");
                return;
        }
        add_holder(machine, 300, 1);
        g_assert_cmpint(chmod(path, 0), ==, 0);
        ask(machine, NULL);
        assert_counts(machine, 0, 0, false);
        g_assert_cmpint(chmod(path, 0755), ==, 0);
        for (unsigned i = 0; i < 2 * ALD_PROCESS_SCAN_PARTS; i++)
                ask(machine, NULL);
        assert_counts(machine, 1, 1, true);
}

/* Without such a device nothing is read but what is asked for. */
static void test_no_device(Machine *machine, gconstpointer unused)
{
        static const char *const pids[] = { "300", NULL };

        fake_root_link(machine->root, "sys/class/drm/renderD128/device/driver", "../bus/pci/drivers/nvidia");
        add_holder(machine, 300, 1);
        add_holder(machine, 301, 1);
        ask(machine, pids);
        assert_counts(machine, 1, 0, true);
        fake_root_link(machine->root, "sys/class/accel/accel0/device/driver", "../bus/pci/drivers/intel_vpu");
        ask(machine, pids);
        g_assert_cmpuint(machine->answer->clients.n, >, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/process-scan/" name, Machine, NULL, set_up, function, tear_down)
        ADD("nothing-to-see", test_nothing_to_see);
        ADD("finds-holders", test_finds_holders);
        ADD("counts-clients-once", test_counts_clients_once);
        ADD("shared-client-is-closed", test_shared_client_is_closed);
        ADD("usage-between-answers", test_usage_between_answers);
        ADD("processes-end", test_processes_end);
        ADD("number-is-used-again", test_number_is_used_again);
        ADD("slow-holders", test_slow_holders);
        ADD("named-processes", test_named_processes);
        ADD("looks-at-all-in-six-answers", test_looks_at_all_in_six_answers);
        ADD("slow-reading-goes-on", test_slow_reading_goes_on);
        ADD("five-thousand-processes", test_five_thousand_processes);
        ADD("those-that-hold-most-are-kept", test_those_that_hold_most_are_kept);
        ADD("too-many-descriptors", test_too_many_descriptors);
        ADD("slow-descriptors", test_slow_descriptors);
        ADD("devices-that-do-not-exist", test_devices_that_do_not_exist);
        ADD("long-descriptor", test_long_descriptor);
        ADD("containers-do-not-see-all", test_containers_do_not_see_all);
        ADD("unreadable-process", test_unreadable_process);
        ADD("no-device", test_no_device);
#undef ADD
        return g_test_run();
}
