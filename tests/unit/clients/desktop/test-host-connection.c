/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <unistd.h>

#include "clients/common/connection.h"
#include "clients/desktop/live/host-connection.h"

/* As sd_bus_open_system_remote() of systemd 252 starts it. */
static void test_command(void)
{
        static const struct {
                const char *host, *command;
        } cases[] = {
                { "far", "ssh -xT -- far systemd-stdio-bridge" },
                { "user@far", "ssh -xT -- user@far systemd-stdio-bridge" },
                { "user@far:2222", "ssh -xT -p 2222 -- user@far systemd-stdio-bridge" },
                { "far/web", "ssh -xT -- far systemd-stdio-bridge --machine=web" },
                { "far:web", "ssh -xT -- far systemd-stdio-bridge --machine=web" },
                { "dom\\user@far/web", "ssh -xT -- dom\\user@far systemd-stdio-bridge --machine=web" },
                { "far:22/web", "ssh -xT -p 22 -- far systemd-stdio-bridge --machine=web" },
                { "2001:db8::1", "ssh -xT -- 2001:db8::1 systemd-stdio-bridge" },
                { "[2001:db8::1]", "ssh -xT -- 2001:db8::1 systemd-stdio-bridge" },
                { "user@[fe80::1%eth0]:22", "ssh -xT -p 22 -- user@fe80::1%eth0 systemd-stdio-bridge" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GStrv) command = ald_host_connection_command(cases[i].host);
                g_autofree char *words = g_strjoinv(" ", command);

                g_assert_true(ald_connection_is_host(cases[i].host));
                g_assert_cmpstr(words, ==, cases[i].command);
        }
}

static void test_no_host(void)
{
        int complaints;
        sd_bus *bus = NULL;

        static const char *const bad[] = { "-oProxyCommand=x", "a:b@h", "x/;reboot;@h", "far:", "far/",
                "far/a b", "far:22/", "far:x;y", "<b>@host", "user@", "[::1]:70000" };

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_cmpint(ald_host_connection_open(bad[i], &complaints, &bus), ==, -EINVAL);
        g_assert_cmpint(complaints, ==, -1);
        g_assert_null(bus);
        g_assert_null(ald_host_connection_last_error_line(complaints));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/host-connection/command", test_command);
        g_test_add_func("/host-connection/no-host", test_no_host);
        return g_test_run();
}
