/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/bus-cleanup.h"
#include "tests/bench/bus-tools.h"

#define NAME_USEC (UINT64_C(5) * 1000 * 1000)

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

static int on_owner(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
        return 0;
}

/* The signal is matched before the first question, so that none is missed. */
void wait_for_name(sd_bus *bus, const char *name)
{
        g_autofree char *match = g_strdup_printf("type='signal',sender='org.freedesktop.DBus',member='"
                                                 "NameOwnerChanged',arg0='%s'",
                name);
        const double deadline = now_usec() + (double) NAME_USEC;
        sd_bus_slot *slot;

        TRY(sd_bus_add_match(bus, &slot, match, on_owner, NULL));
        while (sd_bus_get_name_creds(bus, name, 0, NULL) < 0) {
                int r = sd_bus_process(bus, NULL);

                TRY(r);
                if (now_usec() > deadline)
                        die(name, -ETIMEDOUT);
                if (r == 0)
                        TRY(sd_bus_wait(bus, NAME_USEC));
        }
        sd_bus_slot_unref(slot);
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
