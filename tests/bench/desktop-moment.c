/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <time.h>

#include "tests/bench/desktop-moment.h"

static double clock_usec(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static double queued_usec(void)
{
        g_autofree char *text = NULL;
        const char *second;

        if (!g_file_get_contents("/proc/thread-self/schedstat", &text, NULL, NULL))
                return 0;
        second = strchr(text, ' ');
        return second ? (double) g_ascii_strtoull(second, NULL, 10) / 1e3 : 0;
}

double moment_cpu(void)
{
        return clock_usec(CLOCK_THREAD_CPUTIME_ID);
}

Moment moment_now(void)
{
        return (Moment){ clock_usec(CLOCK_MONOTONIC), moment_cpu(), queued_usec() };
}

void moment_print(const char *event, const Moment *moment)
{
        printf("{\"event\": \"%s\", \"wall\": %.0f, \"cpu\": %.0f, \"queued\": %.0f}\n", event, moment->wall,
                moment->cpu, moment->queued);
        fflush(stdout);
}

static void on_after_paint(GdkFrameClock *clock, void *userdata)
{
        Moment now = moment_now();

        moment_print("first-frame", &now);
        g_signal_handlers_disconnect_by_func(clock, on_after_paint, userdata);
}

static void on_realize(GtkWidget *window)
{
        g_signal_connect(gtk_widget_get_frame_clock(window), "after-paint", G_CALLBACK(on_after_paint), NULL);
}

void moment_print_first_frame(GtkWidget *window)
{
        g_signal_connect_after(window, "realize", G_CALLBACK(on_realize), NULL);
}
