/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/common/service-private.h"

/* The bus is asked after so much was sent. */
#define ASK_BYTES (1024u * 1024)

/* dbus-daemon stops reading at 127 MiB, and forgets not even a connection that has ended then. */
#define BACKLOG_MAX (64u * 1024 * 1024)

static int read_backlog(sd_bus_message *reply, uint32_t *ret)
{
        const char *name;
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                r = sd_bus_message_read(reply, "s", &name);
                if (r >= 0 && g_str_equal(name, "IncomingBytes"))
                        return sd_bus_message_read(reply, "v", "u", ret);
                if (r >= 0)
                        r = sd_bus_message_skip(reply, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
        }
        return r < 0 ? r : -ENODATA;
}

/* A bus that keeps no such account, or not for us, is not asked again. */
static int on_stats(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldService *service = userdata;
        const sd_bus_error *failure = sd_bus_message_get_error(reply);
        uint32_t backlog;

        service->backlog_query = sd_bus_slot_unref(service->backlog_query);
        if (failure || read_backlog(reply, &backlog) < 0) {
                g_debug("The bus does not tell what it holds of ours: %s", failure ? failure->message : "");
                service->backlog_unknown = true;
        } else if (backlog > BACKLOG_MAX) {
                g_autofree char *reason = g_strdup_printf(
                        "The bus holds %u MiB of ours; a client has stopped reading", backlog >> 20);
                ald_service_quit(service, -EPIPE, reason);
        }
        return 0;
}

static int ask(AldService *service)
{
        const char *own;
        int r;

        r = sd_bus_get_unique_name(service->bus, &own);
        if (r < 0)
                return r;
        return sd_bus_call_method_async(service->bus, &service->backlog_query, "org.freedesktop.DBus",
                "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", on_stats,
                service, "s", own);
}

void ald_service_sent(AldService *service, size_t bytes)
{
        service->sent += bytes;
        if (service->sent < ASK_BYTES || service->backlog_query || service->backlog_unknown)
                return;
        service->sent = 0;
        if (ask(service) < 0)
                service->backlog_unknown = true;
}
