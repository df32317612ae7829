/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>

#include "services/telemetry/network/network-nm.h"
#include "tests/unit/log-count.h"

/* What becomes of it without a bus, on a bus without NetworkManager, and in between. */

#define TIMEOUT_SECONDS 10

typedef struct Bus {
        GSubprocess *daemon;
        char *address;
} Bus;

static void die_with_parent(gpointer userdata)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static Bus *bus_new(void)
{
        g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
                G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
        g_autoptr(GDataInputStream) output = NULL;
        g_autoptr(GError) error = NULL;
        Bus *bus = g_new(Bus, 1);

        g_subprocess_launcher_set_child_setup(launcher, die_with_parent, NULL, NULL);
        bus->daemon = g_subprocess_launcher_spawn(
                launcher, &error, "dbus-daemon", "--session", "--nofork", "--print-address", NULL);
        g_assert_no_error(error);
        output = g_data_input_stream_new(g_subprocess_get_stdout_pipe(bus->daemon));
        bus->address = g_data_input_stream_read_line(output, NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_nonnull(bus->address);
        return bus;
}

static void bus_stop(Bus *bus)
{
        g_subprocess_force_exit(bus->daemon);
        g_assert_true(g_subprocess_wait(bus->daemon, NULL, NULL));
}

static void bus_free(Bus *bus)
{
        bus_stop(bus);
        g_object_unref(bus->daemon);
        g_free(bus->address);
        g_free(bus);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bus, bus_free)

static void use_address(const char *address)
{
        g_setenv("DBUS_SYSTEM_BUS_ADDRESS", address, TRUE);
}

static gboolean on_timeout(gpointer userdata)
{
        g_error("waited in vain");
        return G_SOURCE_REMOVE;
}

static void count(void *userdata)
{
        ++*(unsigned *) userdata;
}

static void wait_until(bool (*reached)(const void *data), const void *data)
{
        guint timer = g_timeout_add_seconds(TIMEOUT_SECONDS, on_timeout, NULL);

        while (!reached(data))
                g_main_context_iteration(NULL, TRUE);
        g_source_remove(timer);
}

static bool is_logged(const void *text)
{
        return log_count(text) > 0;
}

static bool is_counted(const void *n)
{
        return *(const unsigned *) n > 0;
}

static void assert_nothing(AldNetworkNm *nm)
{
        const AldManaged *managed = ald_network_nm_read(nm);

        g_assert_cmpuint(managed->n_devices, ==, 0);
        g_assert_cmpuint(managed->n_neighbours, ==, 0);
}

static gboolean hang_up(
        GSocketService *service, GSocketConnection *connection, GObject *source, gpointer userdata)
{
        ++*(unsigned *) userdata;
        return TRUE;
}

static bool is_thrice(const void *n)
{
        return *(const unsigned *) n >= 3;
}

/* Where no bus is to be had it is tried again and again, and told of once. */
static void test_no_bus(void)
{
        g_autoptr(GSocketService) service = g_socket_service_new();
        g_autoptr(GSocketAddress) any = NULL, used = NULL;
        g_autoptr(AldNetworkNm) nm = NULL;
        g_autoptr(GError) error = NULL;
        g_autofree char *address = NULL, *name = g_strdup_printf("alidade-test-%d", getpid());
        unsigned changes = 0, tries = 0;

        log_count_reset();
        any = g_unix_socket_address_new_with_type(name, -1, G_UNIX_SOCKET_ADDRESS_ABSTRACT);
        g_socket_listener_add_address(G_SOCKET_LISTENER(service), any, G_SOCKET_TYPE_STREAM,
                G_SOCKET_PROTOCOL_DEFAULT, NULL, &used, &error);
        g_assert_no_error(error);
        g_signal_connect(service, "incoming", G_CALLBACK(hang_up), &tries);
        address = g_strdup_printf("unix:abstract=%s", name);
        use_address(address);

        nm = ald_network_nm_new(count, &changes);
        wait_until(is_thrice, &tries);
        assert_nothing(nm);
        g_assert_cmpuint(log_count("without NetworkManager"), ==, 1);
        g_assert_cmpuint(changes, ==, 0);
}

/* It is there only at the second try. */
static void test_bus_comes_and_goes(void)
{
        g_autoptr(AldNetworkNm) nm = NULL;
        g_autoptr(Bus) bus = bus_new();
        unsigned changes = 0;

        log_count_reset();
        use_address("unix:path=/nonexistent/bus");
        nm = ald_network_nm_new(count, &changes);
        wait_until(is_logged, "cannot reach the system bus");

        use_address(bus->address);
        wait_until(is_counted, &changes);
        assert_nothing(nm);

        log_count_reset();
        bus_stop(bus);
        wait_until(is_logged, "the system bus is gone");
        assert_nothing(nm);
}

/* Freed at each moment on the way to the bus; a sanitizer sees who comes too late. */
static void test_gone_at_any_moment(void)
{
        g_autoptr(Bus) bus = bus_new();

        use_address(bus->address);
        for (unsigned turns = 0; turns < 12; turns++) {
                unsigned changes = 0;
                AldNetworkNm *nm = ald_network_nm_new(count, &changes);

                for (unsigned i = 0; i < turns && changes == 0; i++)
                        g_main_context_iteration(NULL, TRUE);
                ald_network_nm_free(nm);
                while (g_main_context_iteration(NULL, FALSE))
                        ;
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/network-nm/no-bus", test_no_bus);
        g_test_add_func("/network-nm/bus-comes-and-goes", test_bus_comes_and_goes);
        g_test_add_func("/network-nm/gone-at-any-moment", test_gone_at_any_moment);
        return g_test_run();
}
