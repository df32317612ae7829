/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/telemetry/host/thread-call.h"

/* The source of the main loop through which the thread wakes it. */
typedef struct ThreadCall {
        GSource source;
        void (*call)(void *data);
        void (*done)(void *data);
        void *data;
} ThreadCall;

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
        const ThreadCall *self = (const ThreadCall *) source;

        (void) callback, (void) userdata;
        self->done(self->data);
        return G_SOURCE_REMOVE;
}

static void *run(void *userdata)
{
        ThreadCall *self = userdata;

        self->call(self->data);
        g_source_set_ready_time(&self->source, 0);
        g_source_unref(&self->source);
        return NULL;
}

int ald_thread_call(const char *name, void (*call)(void *data), void (*done)(void *data), void *data)
{
        static GSourceFuncs funcs = { .dispatch = dispatch };
        g_autoptr(GSource) source = g_source_new(&funcs, sizeof(ThreadCall));
        ThreadCall *self = (ThreadCall *) source;
        GThread *thread;

        self->call = call;
        self->done = done;
        self->data = data;
        g_source_set_static_name(source, name);
        g_source_attach(source, NULL);
        thread = g_thread_try_new(name, run, g_source_ref(source), NULL);
        if (!thread) {
                g_source_destroy(source);
                g_source_unref(source);
                return -EAGAIN;
        }
        g_thread_unref(thread);
        return 0;
}
