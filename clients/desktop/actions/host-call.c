/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/host-call.h"
#include "common/bus-cleanup.h"
#include "common/source.h"

struct AldHostCall {
        AldHostUse *use;
        sd_bus_slot *slot;
        GSource *failing;   /* reports that the call could not be sent */
        sd_bus_error error; /* what `failing` reports */
        AldHostReplied replied;
        void *userdata;
};

void ald_host_call_free(AldHostCall *call)
{
        if (!call)
                return;
        sd_bus_slot_unref(call->slot);
        ald_source_clear(&call->failing);
        ald_host_use_end(call->use);
        sd_bus_error_free(&call->error);
        g_free(call);
}

static void finish_call(AldHostCall *call, sd_bus_message *reply, const sd_bus_error *error)
{
        AldHostReplied replied = call->replied;
        void *userdata = call->userdata;

        ald_host_call_free(call);
        replied(reply, error, userdata);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const sd_bus_error *error = sd_bus_message_get_error(m);

        finish_call(userdata, error ? NULL : m, error);
        return 0;
}

static void on_lost(const sd_bus_error *error, void *userdata)
{
        finish_call(userdata, NULL, error);
}

static gboolean on_failing(void *userdata)
{
        AldHostCall *call = userdata;
        g_auto(sd_bus_error) error = call->error;

        call->error = SD_BUS_ERROR_NULL;
        finish_call(call, NULL, &error);
        return G_SOURCE_REMOVE;
}

/* Reports the error from the main loop, from which callers expect all answers. */
static void fail_soon(AldHostCall *call)
{
        call->failing = g_idle_source_new();
        g_source_set_callback(call->failing, on_failing, call, NULL);
        g_source_attach(call->failing, g_main_context_get_thread_default());
}

/* Returns the connection, or NULL if there is none; the call then fails from the main loop. */
static sd_bus *begin_call(AldHostCall *call, AldHostBus *bus, AldHostReplied replied, void *userdata)
{
        call->replied = replied;
        call->userdata = userdata;
        call->use = ald_host_bus_use(bus, on_lost, call, &call->error);
        if (!call->use)
                fail_soon(call);
        return call->use ? ald_host_use_bus(call->use) : NULL;
}

static void send_call(AldHostCall *call, sd_bus *bus, sd_bus_message *m, int r, uint64_t usec)
{
        if (r >= 0)
                r = sd_bus_call_async(bus, &call->slot, m, on_reply, call, usec);
        if (r >= 0)
                return;
        (void) sd_bus_error_set_errno(&call->error, r);
        fail_soon(call);
}

static int make_message(
        sd_bus *bus, const AldHostMethod *method, const char *types, va_list arguments, sd_bus_message **ret)
{
        int r = sd_bus_message_new_method_call(
                bus, ret, method->name, method->path, method->interface, method->member);

        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(*ret, method->asks);
        if (r >= 0)
                r = sd_bus_message_appendv(*ret, types, arguments);
        return r;
}

AldHostCall *ald_host_call_new(AldHostBus *bus, const AldHostMethod *method, AldHostReplied replied,
        void *userdata, const char *types, ...)
{
        AldHostCall *call = g_new0(AldHostCall, 1);
        sd_bus *connection = begin_call(call, bus, replied, userdata);
        g_autoptr(AldMessage) m = NULL;
        va_list arguments;
        int r;

        if (!connection)
                return call;
        va_start(arguments, types);
        r = make_message(connection, method, types, arguments, &m);
        va_end(arguments);
        send_call(call, connection, m, r, method->asks ? ALD_ASKING_USEC : 0);
        return call;
}

AldHostCall *ald_host_call_new_with_message(AldHostBus *bus, AldHostMake make_call, const void *data,
        uint64_t usec, AldHostReplied replied, void *userdata)
{
        AldHostCall *call = g_new0(AldHostCall, 1);
        sd_bus *connection = begin_call(call, bus, replied, userdata);
        g_autoptr(AldMessage) m = NULL;
        int r;

        if (!connection)
                return call;
        r = make_call(connection, data, &m);
        send_call(call, connection, m, r, usec);
        return call;
}
