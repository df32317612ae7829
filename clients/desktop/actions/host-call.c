/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/host-call.h"
#include "common/bus-cleanup.h"

#define ASKING_USEC (UINT64_C(120) * 1000 * 1000)

struct AldHostCall {
        AldHostUse *use;
        sd_bus_slot *slot;
        GSource *failing;   /* the call could not be made */
        sd_bus_error error; /* of that */
        AldHostReplied replied;
        void *userdata;
};

void ald_host_call_free(AldHostCall *call)
{
        if (!call)
                return;
        sd_bus_slot_unref(call->slot);
        if (call->failing)
                g_source_destroy(call->failing);
        g_clear_pointer(&call->failing, g_source_unref);
        ald_host_use_end(call->use);
        sd_bus_error_free(&call->error);
        g_free(call);
}

static void finish(AldHostCall *call, sd_bus_message *reply, const sd_bus_error *error)
{
        AldHostReplied replied = call->replied;
        void *userdata = call->userdata;

        ald_host_call_free(call);
        replied(reply, error, userdata);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const sd_bus_error *error = sd_bus_message_get_error(m);

        finish(userdata, error ? NULL : m, error);
        return 0;
}

static void on_lost(const sd_bus_error *error, void *userdata)
{
        finish(userdata, NULL, error);
}

static gboolean on_failing(void *userdata)
{
        AldHostCall *call = userdata;
        g_auto(sd_bus_error) error = call->error;

        call->error = SD_BUS_ERROR_NULL;
        finish(call, NULL, &error);
        return G_SOURCE_REMOVE;
}

static int send(AldHostCall *call, const AldHostMethod *method, const char *types, va_list arguments)
{
        sd_bus *bus = ald_host_use_bus(call->use);
        g_autoptr(AldMessage) m = NULL;
        int r = sd_bus_message_new_method_call(
                bus, &m, method->name, method->path, method->interface, method->member);

        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(m, method->asks);
        if (r >= 0)
                r = sd_bus_message_appendv(m, types, arguments);
        if (r >= 0)
                r = sd_bus_call_async(
                        bus, &call->slot, m, on_reply, call, method->asks ? ASKING_USEC : ALD_ANSWER_USEC);
        return r;
}

AldHostCall *ald_host_call_new(AldHostBus *bus, const AldHostMethod *method, AldHostReplied replied,
        void *userdata, const char *types, ...)
{
        AldHostCall *call = g_new0(AldHostCall, 1);
        va_list arguments;
        int r = 0;

        call->replied = replied;
        call->userdata = userdata;
        call->use = ald_host_bus_use(bus, on_lost, call, &call->error);
        if (call->use) {
                va_start(arguments, types);
                r = send(call, method, types, arguments);
                va_end(arguments);
        }
        if (call->use && r >= 0)
                return call;
        if (call->use)
                (void) sd_bus_error_set_errno(&call->error, r);
        /* Callers expect an answer from the main loop only. */
        call->failing = g_idle_source_new();
        g_source_set_callback(call->failing, on_failing, call, NULL);
        g_source_attach(call->failing, g_main_context_get_thread_default());
        return call;
}

void ald_host_call_hand_over(AldHostCall *call, AldHostReplied replied, void *userdata)
{
        call->replied = replied;
        call->userdata = userdata;
}
