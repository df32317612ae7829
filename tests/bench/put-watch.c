/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

#include "common/bus-cleanup.h"
#include "tests/bench/put-watch.h"

struct PutWatch {
        sd_bus *bus;
        GMutex lock;
        uint64_t begin, end; /* CLOCK_REALTIME, µs */
        GArray *lags;        /* of what is in the state service */
        GPtrArray *calls;    /* Call, that are under way */
};

typedef struct Call {
        uint64_t cookie;
        char caller[32];
        GArray *updated; /* of its records */
} Call;

#define TRY(expression)                                                                             \
        do {                                                                                        \
                int try_r_ = (expression);                                                          \
                if (try_r_ < 0) {                                                                   \
                        fprintf(stderr, "bench-cluster: %s: %s\n", #expression, strerror(-try_r_)); \
                        exit(EXIT_FAILURE);                                                         \
                }                                                                                   \
        } while (false)

static uint64_t realtime(void)
{
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        return (uint64_t) t.tv_sec * UINT64_C(1000000) + (uint64_t) t.tv_nsec / 1000;
}

static void take_call(PutWatch *watch, sd_bus_message *m)
{
        Call *call = g_new0(Call, 1);
        const char *node, *kind, *key;
        uint64_t epoch, seq, updated;
        int deleted, r;

        call->updated = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_ptr_array_add(watch->calls, call);
        TRY(sd_bus_message_get_cookie(m, &call->cookie));
        g_strlcpy(call->caller, sd_bus_message_get_sender(m), sizeof call->caller);
        TRY(sd_bus_message_enter_container(m, 'a', "(ssstttba{sv})"));
        while ((r = sd_bus_message_enter_container(m, 'r', "ssstttba{sv}")) > 0) {
                TRY(sd_bus_message_read(m, "ssstttb", &node, &kind, &key, &epoch, &seq, &updated, &deleted));
                TRY(sd_bus_message_skip(m, "a{sv}"));
                TRY(sd_bus_message_exit_container(m));
                g_array_append_val(call->updated, updated);
        }
        TRY(r);
}

static void call_free(gpointer data)
{
        Call *call = data;

        g_array_unref(call->updated);
        g_free(call);
}

static guint find_call(const PutWatch *watch, uint64_t cookie, const char *caller)
{
        for (guint i = 0; i < watch->calls->len; i++) {
                const Call *call = watch->calls->pdata[i];

                if (call->cookie == cookie && g_str_equal(call->caller, caller))
                        return i;
        }
        return UINT_MAX;
}

static void take_reply(PutWatch *watch, sd_bus_message *m)
{
        const char *destination = sd_bus_message_get_destination(m);
        uint64_t cookie, now = realtime();
        const Call *call;
        guint place;

        if (!destination || sd_bus_message_get_reply_cookie(m, &cookie) < 0)
                return;
        place = find_call(watch, cookie, destination);
        if (place == UINT_MAX)
                return;
        call = watch->calls->pdata[place];
        g_mutex_lock(&watch->lock);
        for (unsigned i = 0; i < call->updated->len; i++) {
                uint64_t updated = g_array_index(call->updated, uint64_t, i);
                double lag = ((double) now - (double) updated) / 1e3;

                if (updated >= watch->begin && updated < watch->end)
                        g_array_append_val(watch->lags, lag);
        }
        g_mutex_unlock(&watch->lock);
        g_ptr_array_remove_index(watch->calls, place);
}

static void *run(void *userdata)
{
        PutWatch *watch = userdata;

        for (;;) {
                g_autoptr(AldMessage) m = NULL;
                int r = sd_bus_process(watch->bus, &m);

                TRY(r);
                if (m && sd_bus_message_is_method_call(m, "org.alidade.State1", "PutRecords"))
                        take_call(watch, m);
                else if (m)
                        take_reply(watch, m);
                if (r == 0)
                        TRY(sd_bus_wait(watch->bus, UINT64_MAX));
        }
        return NULL;
}

PutWatch *put_watch_start(const char *bus_address)
{
        PutWatch *watch = g_new0(PutWatch, 1);

        g_mutex_init(&watch->lock);
        watch->lags = g_array_new(FALSE, FALSE, sizeof(double));
        watch->calls = g_ptr_array_new_with_free_func(call_free);
        TRY(sd_bus_new(&watch->bus));
        TRY(sd_bus_set_address(watch->bus, bus_address));
        TRY(sd_bus_set_bus_client(watch->bus, true));
        TRY(sd_bus_set_monitor(watch->bus, true));
        TRY(sd_bus_start(watch->bus));
        TRY(sd_bus_call_method(watch->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.Monitoring", "BecomeMonitor", NULL, NULL, "asu", 2,
                "type='method_call',interface='org.alidade.State1',member='PutRecords'",
                "type='method_return',sender='org.alidade.State1'", 0));
        g_thread_unref(g_thread_new("put-watch", run, watch));
        return watch;
}

void put_watch_begin(PutWatch *watch)
{
        g_mutex_lock(&watch->lock);
        watch->begin = realtime();
        watch->end = UINT64_MAX;
        g_array_set_size(watch->lags, 0);
        g_mutex_unlock(&watch->lock);
}

void put_watch_end(PutWatch *watch)
{
        g_mutex_lock(&watch->lock);
        watch->end = realtime();
        g_mutex_unlock(&watch->lock);
}

static int compare(const void *a, const void *b)
{
        const double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

GArray *put_watch_lags(PutWatch *watch)
{
        GArray *lags;

        g_mutex_lock(&watch->lock);
        lags = g_array_copy(watch->lags);
        g_mutex_unlock(&watch->lock);
        g_array_sort(lags, compare);
        return lags;
}
