/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The least daemon that the bed can run, with a vice to be told by environment: it proves that the bed
 * notices. Its whole service is its name. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

static void indulge(const char *vice)
{
        volatile int large = INT_MAX;

        if (strcmp(vice, "leak") == 0) {
                void *volatile lost = malloc(4711);
                lost = NULL;
                (void) lost;
        } else if (strcmp(vice, "overflow") == 0)
                large++;
        else if (strcmp(vice, "overrun") == 0) {
                char *volatile block = malloc(8);
                block[large - INT_MAX + 8] = 'x';
                free(block);
        } else if (strcmp(vice, "critical") == 0)
                fputs("(process:1): GLib-CRITICAL **: 00:00:00.000: made up\n", stderr);
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
        const char *vice = getenv("SAMPLE_VICE") ?: "";

        (void) info;
        (void) userdata;
        if (strcmp(vice, "deaf") == 0)
                return 0;
        indulge(vice);
        return sd_event_exit(sd_event_source_get_event(source), strcmp(vice, "failure") == 0 ? 3 : 0);
}

static int serve(const char *name)
{
        sd_event *event = NULL;
        sd_bus *bus = NULL;
        sigset_t stop;
        int r;

        sigemptyset(&stop);
        sigaddset(&stop, SIGTERM);
        sigprocmask(SIG_BLOCK, &stop, NULL);

        r = sd_event_default(&event);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGTERM, on_stop, NULL);
        if (r >= 0)
                r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, getenv("ALIDADE_BUS_ADDRESS"));
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_set_exit_on_disconnect(bus, true);
        if (r >= 0)
                r = sd_bus_attach_event(bus, event, 0);
        if (r >= 0)
                r = sd_bus_request_name(bus, name, 0);
        if (r >= 0) {
                fprintf(stderr, "%s serves, state in %s\n", name, getenv("STATE_DIRECTORY"));
                sd_notify(false, "READY=1");
                r = sd_event_loop(event);
        } else
                fprintf(stderr, "%s: %s\n", name, strerror(-r));
        sd_bus_flush_close_unref(bus);
        sd_event_unref(event);
        return r;
}

int main(int argc, char *argv[])
{
        int r;

        (void) argc;
        r = serve(strstr(argv[0], "stated") ? "org.alidade.State1" : "org.alidade.Identity1");
        return r < 0 ? EXIT_FAILURE : r;
}
