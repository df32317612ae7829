/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state-client/state-client.h"
#include "common/bus-cleanup.h"
#include "common/bus-source.h"
#include "common/source.h"

struct AldStateClient {
        AldModel *model;
        AldStateClientSetup setup;
        GMainContext *context;
        sd_bus *bus; /* NULL while paused, like the next two */
        GSource *source;
        AldFollow *follow;
        GSource *pause; /* set by ald_state_client_pause_soon() */
};

/* Reports why the connection has ended; sd-bus itself reports only that the other side hung up. */
static void on_closed(sd_bus *bus, int error, void *userdata)
{
        g_auto(sd_bus_error) reason = SD_BUS_ERROR_NULL;
        AldStateClient *client = userdata;

        sd_bus_close(bus);
        ald_bus_closed_error(error, &reason);
        ald_follow_set_disconnected(client->follow, &reason);
}

void ald_state_client_pause(AldStateClient *client)
{
        ald_source_clear(&client->pause);
        g_clear_pointer(&client->follow, ald_follow_free);
        ald_source_clear(&client->source);
        client->bus = sd_bus_close_unref(client->bus); /* flushing could block forever */
}

static gboolean on_pause(void *userdata)
{
        ald_state_client_pause(userdata);
        return G_SOURCE_REMOVE;
}

void ald_state_client_pause_soon(AldStateClient *client)
{
        if (client->pause || !client->bus)
                return;
        client->pause = g_idle_source_new();
        g_source_set_priority(client->pause, G_PRIORITY_HIGH);
        g_source_set_callback(client->pause, on_pause, client, NULL);
        g_source_attach(client->pause, client->context);
}

void ald_state_client_delay(AldStateClient *client, unsigned msec)
{
        if (client->follow && ald_follow_in_step(client->follow))
                ald_bus_source_delay(client->source, msec);
}

/* Begins to follow in the context of the client, even if the thread's default is another one by now. */
static int begin_following(AldStateClient *client)
{
        int r;

        g_main_context_push_thread_default(client->context);
        client->source = ald_bus_source_new(client->bus, on_closed, client);
        if (client->setup.over_ssh)
                ald_bus_source_allow_questions(client->source);
        r = ald_follow_new(
                client->bus, client->model, client->setup.handler, client->setup.userdata, &client->follow);
        g_main_context_pop_thread_default(client->context);
        return r;
}

int ald_state_client_resume(AldStateClient *client)
{
        int r;

        ald_source_clear(&client->pause);
        if (client->bus && sd_bus_is_open(client->bus) > 0)
                return 0;
        ald_state_client_pause(client); /* frees the remains of a lost connection */
        r = client->setup.open(&client->bus, client->setup.open_userdata);
        if (r < 0)
                return r;
        r = begin_following(client);
        if (r < 0) {
                ald_state_client_pause(client);
                return r;
        }
        if (client->setup.subscribe)
                ald_follow_subscribe(client->follow, true);
        return 0;
}

AldStateClient *ald_state_client_new_paused(AldModel *model, const AldStateClientSetup *setup)
{
        AldStateClient *client = g_new0(AldStateClient, 1);

        client->model = model;
        client->setup = *setup;
        client->context = g_main_context_ref_thread_default();
        return client;
}

int ald_state_client_new(AldModel *model, const AldStateClientSetup *setup, AldStateClient **ret)
{
        g_autoptr(AldStateClient) client = ald_state_client_new_paused(model, setup);
        int r;

        r = ald_state_client_resume(client);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&client);
        return 0;
}

void ald_state_client_free(AldStateClient *client)
{
        if (!client)
                return;
        ald_state_client_pause(client);
        g_main_context_unref(client->context);
        g_free(client);
}

AldFollow *ald_state_client_follow(AldStateClient *client)
{
        return client->follow;
}

sd_bus *ald_state_client_bus(AldStateClient *client)
{
        return client->bus;
}
