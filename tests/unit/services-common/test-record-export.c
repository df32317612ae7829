/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "record/kind.h"
#include "services/common/record-export.h"
#include "services/common/service-private.h"
#include "tests/unit/log-count.h"

#define PATH "/org/alidade/Test1"
#define MIB (UINT64_C(1024) * 1024)

/* The linker puts this in the place of GLib's clock, so that 30 s need not pass. */
gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);
static gint64 clock_offset;

gint64 __wrap_g_get_monotonic_time(void)
{
        return __real_g_get_monotonic_time() + clock_offset;
}

/* An exporting service and a client, joined without a bus between them. */
typedef struct Pair {
        AldService service;
        sd_bus *client;
        AldRecordExport *export;
        unsigned n_signals;
        char *changed; /* what the last PropertiesChanged named, and what it told of these */
        uint64_t available, revision, updated_usec;
} Pair;

static void read_value(Pair *pair, sd_bus_message *message, const char *name)
{
        static const struct {
                const char *name;
                size_t offset;
        } known[] = {
                { "AvailableBytes", offsetof(Pair, available) },
                { "Revision", offsetof(Pair, revision) },
                { "UpdatedUSec", offsetof(Pair, updated_usec) },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (strcmp(known[i].name, name) == 0) {
                        uint64_t *value = (uint64_t *) ((char *) pair + known[i].offset);

                        g_assert_cmpint(sd_bus_message_read(message, "v", "t", value), >, 0);
                        return;
                }
        g_assert_cmpint(sd_bus_message_skip(message, "v"), >, 0);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        g_autoptr(GString) names = g_string_new(NULL);
        Pair *pair = userdata;
        const char *interface, *name;

        if (!sd_bus_message_is_signal(message, "org.freedesktop.DBus.Properties", "PropertiesChanged"))
                return 0;
        pair->n_signals++;
        g_assert_cmpint(sd_bus_message_read(message, "s", &interface), >, 0);
        g_assert_cmpstr(interface, ==, "org.alidade.Node1.Memory");
        g_assert_cmpint(sd_bus_message_enter_container(message, 'a', "{sv}"), >, 0);
        while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
                g_assert_cmpint(sd_bus_message_read(message, "s", &name), >, 0);
                g_string_append_printf(names, "%s ", name);
                read_value(pair, message, name);
                g_assert_cmpint(sd_bus_message_exit_container(message), >, 0);
        }
        g_free(pair->changed);
        pair->changed = g_string_free(g_steal_pointer(&names), FALSE);
        return 1;
}

static void pump(Pair *pair)
{
        while (sd_bus_process(pair->service.bus, NULL) > 0 || sd_bus_process(pair->client, NULL) > 0)
                ;
}

static Pair *pair_new(void)
{
        Pair *pair = g_new0(Pair, 1);
        sd_id128_t id;
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        g_assert_cmpint(sd_id128_randomize(&id), ==, 0);
        g_assert_cmpint(sd_bus_new(&pair->service.bus), ==, 0);
        g_assert_cmpint(sd_bus_set_fd(pair->service.bus, fds[0], fds[0]), ==, 0);
        g_assert_cmpint(sd_bus_set_server(pair->service.bus, true, id), ==, 0);
        g_assert_cmpint(sd_bus_start(pair->service.bus), ==, 0);
        g_assert_cmpint(sd_bus_new(&pair->client), ==, 0);
        g_assert_cmpint(sd_bus_set_fd(pair->client, fds[1], fds[1]), ==, 0);
        g_assert_cmpint(sd_bus_start(pair->client), ==, 0);
        g_assert_cmpint(sd_bus_add_filter(pair->client, NULL, on_message, pair), >=, 0);
        g_assert_cmpint(ald_record_export_new(&pair->service, PATH, ALD_KIND_MEMORY, &pair->export), ==, 0);
        while (sd_bus_is_ready(pair->client) <= 0 || sd_bus_is_ready(pair->service.bus) <= 0)
                pump(pair);
        return pair;
}

static void pair_free(Pair *pair)
{
        ald_record_export_free(pair->export);
        sd_bus_unref(pair->service.bus);
        sd_bus_unref(pair->client);
        g_free(pair->changed);
        g_free(pair);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pair, pair_free)

static void update(Pair *pair, uint64_t available)
{
        AldMemory memory = ALD_MEMORY_INIT;

        memory.total_bytes = 1000 * MIB;
        memory.available_bytes = available;
        g_assert_cmpint(ald_record_export_update(pair->export, &memory), ==, 0);
        pump(pair);
}

#define ENVELOPE "Revision UpdatedUSec "

static void assert_told(Pair *pair, unsigned n, const char *names)
{
        g_assert_cmpuint(pair->n_signals, ==, n);
        g_assert_cmpstr(pair->changed, ==, names);
}

/* What a signal of the whole record names. */
static char *all_names(void)
{
        const AldStruct *type = ald_kinds[ALD_KIND_MEMORY].type;
        GString *names = g_string_new(NULL);

        for (size_t i = 0; i < type->n_fields; i++)
                g_string_append_printf(names, "%s ", type->fields[i].name);
        return g_string_free(g_string_append(names, ENVELOPE), FALSE);
}

static void test_first_tells_everything(void)
{
        g_autoptr(Pair) pair = pair_new();
        g_autofree char *all = all_names();
        uint64_t before = ald_realtime_usec();

        pump(pair);
        g_assert_cmpuint(pair->n_signals, ==, 0);
        update(pair, 500 * MIB);
        assert_told(pair, 1, all);
        g_assert_cmpuint(pair->available, ==, 500 * MIB);
        g_assert_cmpuint(pair->revision, ==, 1);
        g_assert_cmpuint(pair->updated_usec, >=, before);
}

static void test_threshold(void)
{
        g_autoptr(Pair) pair = pair_new();

        update(pair, 1000);
        update(pair, 1000);
        update(pair, 1004); /* less than 0.5 % */
        update(pair, 998);
        g_assert_cmpuint(pair->n_signals, ==, 1);
        update(pair, 1005);
        assert_told(pair, 2, "AvailableBytes " ENVELOPE);
        g_assert_cmpuint(pair->available, ==, 1005);
        g_assert_cmpuint(pair->revision, ==, 2);
        /* Small steps add up: they count from what was sent. */
        update(pair, 1008);
        g_assert_cmpuint(pair->n_signals, ==, 2);
        update(pair, 1011);
        assert_told(pair, 3, "AvailableBytes " ENVELOPE);
        /* To be absent is no small change. */
        update(pair, ALD_ABSENT_UINT64);
        assert_told(pair, 4, "AvailableBytes " ENVELOPE);
}

/* Lets the main loop run until something was sent. */
static void wait_for_signal(Pair *pair, unsigned n)
{
        while (pair->n_signals < n) {
                g_main_context_iteration(NULL, TRUE);
                pump(pair);
        }
}

/* All but 20 ms of the 30 s. */
static void let_time_pass(void)
{
        clock_offset += (gint64) ALD_RESEND_USEC - 20 * 1000;
}

static void test_resend_brings_what_waited(void)
{
        g_autoptr(Pair) pair = pair_new();

        update(pair, 1000);
        update(pair, 1001);
        update(pair, 1002);
        g_assert_cmpuint(pair->n_signals, ==, 1);
        let_time_pass();
        wait_for_signal(pair, 2);
        assert_told(pair, 2, "AvailableBytes " ENVELOPE);
        g_assert_cmpuint(pair->available, ==, 1002);
        g_assert_cmpuint(pair->revision, ==, 2);
}

/* Without any change it says that it still holds: a later time, the same revision. Again and again. */
static void test_resend_without_change(void)
{
        g_autoptr(Pair) pair = pair_new();

        update(pair, 1000);
        for (unsigned n = 2; n < 5; n++) {
                uint64_t before = pair->updated_usec;

                let_time_pass();
                wait_for_signal(pair, n);
                assert_told(pair, n, ENVELOPE);
                g_assert_cmpuint(pair->revision, ==, 1);
                g_assert_cmpuint(pair->updated_usec, >, before);
        }
}

/* What was sent just now need not be sent again so soon. */
static void test_change_puts_resend_off(void)
{
        g_autoptr(Pair) pair = pair_new();
        gint64 until;

        update(pair, 1000);
        let_time_pass();
        update(pair, 2000);
        until = g_get_monotonic_time() + 60 * 1000;
        while (g_get_monotonic_time() < until)
                if (!g_main_context_iteration(NULL, FALSE))
                        g_thread_yield();
        pump(pair);
        g_assert_cmpuint(pair->n_signals, ==, 2);
}

static void test_too_large(void)
{
        g_autoptr(Pair) pair = pair_new();
        g_autofree AldInterface *rows = g_new(AldInterface, 10000);
        g_autoptr(AldRecordExport) export = NULL;
        AldNetwork network = ALD_NETWORK_INIT;
        char names[10000][8];

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_snprintf(names[i], sizeof names[i], "if%zu", i);
                rows[i] = (AldInterface) ALD_INTERFACE_INIT;
                rows[i].id = names[i];
        }
        network.interfaces.items = rows;
        network.interfaces.n = G_N_ELEMENTS(names);
        g_assert_cmpint(ald_record_export_new(&pair->service, PATH, ALD_KIND_NETWORK, &export), ==, 0);
        log_count_reset();
        g_assert_cmpint(ald_record_export_update(export, &network), ==, -E2BIG);
        g_assert_cmpuint(log_count("too large"), ==, 1);
        pump(pair);
        g_assert_cmpuint(pair->n_signals, ==, 0);
}

typedef struct Objects {
        unsigned n_added, n_removed, n_changed;
        char *path;
} Objects;

static int on_object(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        static const char manager[] = "org.freedesktop.DBus.ObjectManager";
        Objects *objects = userdata;
        const char *path;

        objects->n_changed += sd_bus_message_is_signal(
                                      message, "org.freedesktop.DBus.Properties", "PropertiesChanged") > 0;
        if (sd_bus_message_is_signal(message, manager, NULL) <= 0)
                return 0;
        if (sd_bus_message_is_signal(message, manager, "InterfacesAdded") > 0)
                objects->n_added++;
        else
                objects->n_removed++;
        g_assert_cmpint(sd_bus_message_read(message, "o", &path), >, 0);
        g_free(objects->path);
        objects->path = g_strdup(path);
        return 1;
}

static void put(Pair *pair, const char *name, uint64_t available)
{
        AldMemory memory = ALD_MEMORY_INIT;

        memory.total_bytes = 1000 * MIB;
        memory.available_bytes = available;
        g_assert_cmpint(ald_record_export_put(pair->export, name, &memory), ==, 0);
        pump(pair);
}

static void test_objects_below(void)
{
        g_autoptr(Pair) pair = pair_new();
        Objects objects = { 0 };

        g_assert_cmpint(sd_bus_add_object_manager(pair->service.bus, NULL, PATH), >=, 0);
        g_assert_cmpint(sd_bus_add_filter(pair->client, NULL, on_object, &objects), >=, 0);
        put(pair, "a,1", 500 * MIB);
        g_assert_cmpuint(objects.n_added, ==, 1);
        g_assert_cmpstr(objects.path, ==, PATH "/a_2c1");
        put(pair, "b", 500 * MIB);
        put(pair, "b", 900 * MIB);
        g_assert_cmpuint(objects.n_added, ==, 2);
        g_assert_cmpuint(pair->revision, ==, 2);
        /* Each is sent again in its own time. */
        objects.n_changed = 0;
        clock_offset += (gint64) ALD_RESEND_USEC;
        while (objects.n_changed < 2) {
                g_main_context_iteration(NULL, FALSE);
                pump(pair);
        }
        ald_record_export_drop(pair->export, "a,1");
        ald_record_export_drop(pair->export, "no such");
        pump(pair);
        g_assert_cmpuint(objects.n_removed, ==, 1);
        g_assert_cmpstr(objects.path, ==, PATH "/a_2c1");
        g_free(objects.path);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/record-export/first-tells-everything", test_first_tells_everything);
        g_test_add_func("/record-export/threshold", test_threshold);
        g_test_add_func("/record-export/resend-brings-what-waited", test_resend_brings_what_waited);
        g_test_add_func("/record-export/resend-without-change", test_resend_without_change);
        g_test_add_func("/record-export/change-puts-resend-off", test_change_puts_resend_off);
        g_test_add_func("/record-export/objects-below", test_objects_below);
        g_test_add_func("/record-export/too-large", test_too_large);
        return g_test_run();
}
