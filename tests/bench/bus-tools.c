/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "services/common/bus-cleanup.h"
#include "tests/bench/bus-tools.h"

void die(const char *what, int r)
{
        fprintf(stderr, "bench-bus: %s: %s\n", what, strerror(-r));
        exit(EXIT_FAILURE);
}

sd_bus *connect_bus(const char *name)
{
        sd_bus *bus;

        TRY(sd_bus_new(&bus));
        TRY(sd_bus_set_address(bus, getenv("ALIDADE_BUS_ADDRESS")));
        TRY(sd_bus_set_bus_client(bus, true));
        TRY(sd_bus_start(bus));
        if (name)
                TRY(sd_bus_request_name(bus, name, 0));
        return bus;
}

void wait_for_name(sd_bus *bus, const char *name)
{
        for (unsigned i = 0; i < 500; i++) {
                if (sd_bus_get_name_creds(bus, name, 0, NULL) >= 0)
                        return;
                usleep(10000);
        }
        die(name, -ETIMEDOUT);
}

double now_usec(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

pid_t pid_of(sd_bus *bus, const char *name)
{
        g_autoptr(AldMessage) reply = NULL;
        uint32_t pid;

        TRY(sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "GetConnectionUnixProcessID", NULL, &reply, "s", name));
        TRY(sd_bus_message_read(reply, "u", &pid));
        return (pid_t) pid;
}

double cpu_usec(pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/schedstat", (int) pid);
        g_autofree char *text = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                die(path, -errno);
        return (double) g_ascii_strtoull(text, NULL, 10) / 1e3;
}

static int compare(const void *a, const void *b)
{
        double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

double quantile(double *figures, unsigned n, double q)
{
        qsort(figures, n, sizeof figures[0], compare);
        return figures[MIN((unsigned) (q * n), n - 1)];
}
