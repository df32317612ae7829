/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>
#include <stdbool.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/actions/ssh-environment.h"
#include "clients/desktop/live/host-connection.h"
#include "common/bus-cleanup.h"
#include "common/bus-source.h"
#include "common/fd.h"
#include "common/source.h"

#define IDLE_SECONDS 150u        /* longer than ALD_ASKING_USEC, since a canceled job may still begin */
#define REMOTE_IDLE_SECONDS 600u /* ssh may ask for a password each time */

struct AldHostBus {
        char *host;
        sd_bus *bus; /* NULL while closed, like the next two members */
        GSource *source;
        sd_bus_slot *hello;
        bool established;
        int complaints;       /* standard error of ssh, or -1 */
        GList *uses, *losing; /* `losing`: will be informed of the loss next */
        guint idle_id, deadline_id;
};

struct AldHostUse {
        AldHostBus *owner; /* NULL once lost */
        sd_bus *bus;
        AldHostLost lost;
        void *userdata;
};

static sd_bus *detach_bus(AldHostBus *self)
{
        g_clear_handle_id(&self->idle_id, g_source_remove);
        g_clear_handle_id(&self->deadline_id, g_source_remove);
        self->hello = sd_bus_slot_unref(self->hello);
        ald_source_clear(&self->source);
        return g_steal_pointer(&self->bus);
}

static char *why_not_established(const AldHostBus *self, int error)
{
        const char *place = ald_connection_place(self->host);
        g_autofree char *complaint = ald_host_connection_last_error_line(self->complaints);

        if (complaint)
                return g_strdup_printf(_("ssh cannot connect to %s: %s"), place, complaint);
        if (error == -ETIMEDOUT)
                return g_strdup_printf(_("%s does not answer"), place);
        if (!self->host)
                return g_strdup_printf(_("cannot connect to %s: %s"), place, g_strerror(-error));
        if (!ald_ssh_can_ask())
                return g_strdup_printf(
                        _("ssh cannot connect to %s, and no ssh-askpass is installed to ask for a password"),
                        place);
        return g_strdup_printf(
                _("ssh cannot connect to %s, or systemd-stdio-bridge is missing there"), place);
}

static void describe_loss(const AldHostBus *self, int error, sd_bus_error *ret_error)
{
        const char *place = ald_connection_place(self->host);
        g_autofree char *why = self->established ? g_strdup_printf(_("the connection to %s has ended"), place)
                                                 : why_not_established(self, error);

        (void) sd_bus_error_set(ret_error, SD_BUS_ERROR_DISCONNECTED, why);
}

/* Informs all uses of the lost connection. Their callbacks may already open a new one. */
static void lose_connection(AldHostBus *self, int error)
{
        g_auto(sd_bus_error) reason = SD_BUS_ERROR_NULL;
        sd_bus *bus;

        describe_loss(self, error, &reason);
        bus = detach_bus(self);
        self->losing = g_list_concat(self->losing, g_steal_pointer(&self->uses));
        while (self->losing) {
                AldHostUse *use = self->losing->data;

                self->losing = g_list_delete_link(self->losing, self->losing);
                use->owner = NULL;
                use->lost(&reason, use->userdata);
        }
        sd_bus_close_unref(bus);
}

static void on_closed(sd_bus *bus, int error, void *userdata)
{
        lose_connection(userdata, error);
}

static gboolean on_deadline(void *userdata)
{
        AldHostBus *self = userdata;

        self->deadline_id = 0;
        lose_connection(self, -ETIMEDOUT);
        return G_SOURCE_REMOVE;
}

static int on_hello(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        AldHostBus *self = userdata;

        if (!sd_bus_message_is_method_error(m, NULL))
                self->established = true;
        g_clear_handle_id(&self->deadline_id, g_source_remove);
        return 0;
}

static int open_bus(AldHostBus *self)
{
        int r;

        ald_fd_close(&self->complaints);
        r = ald_host_connection_open(self->host, &self->complaints, &self->bus);
        if (r < 0)
                return r;
        self->established = false;
        self->source = ald_bus_source_new(self->bus, on_closed, self);
        if (self->host)
                ald_bus_source_allow_questions(self->source);
        r = sd_bus_set_method_call_timeout(self->bus, ALD_ANSWER_USEC);
        if (r >= 0)
                r = sd_bus_call_method_async(self->bus, &self->hello, "org.freedesktop.DBus",
                        "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId", on_hello, self, "");
        /* sd-bus itself limits the time of a connection over ssh. */
        if (r >= 0 && !self->host)
                self->deadline_id = g_timeout_add((guint) (ALD_ANSWER_USEC / 1000), on_deadline, self);
        if (r < 0)
                sd_bus_close_unref(detach_bus(self));
        return r;
}

AldHostUse *ald_host_bus_use(AldHostBus *bus, AldHostLost lost, void *userdata, sd_bus_error *error)
{
        AldHostUse *use;
        int r = bus->bus ? 0 : open_bus(bus);

        if (r < 0) {
                bus->established = false;
                describe_loss(bus, r, error);
                return NULL;
        }
        g_clear_handle_id(&bus->idle_id, g_source_remove);
        use = g_new(AldHostUse, 1);
        *use = (AldHostUse){ .owner = bus, .bus = bus->bus, .lost = lost, .userdata = userdata };
        bus->uses = g_list_append(bus->uses, use);
        return use;
}

sd_bus *ald_host_use_bus(AldHostUse *use)
{
        return use->bus;
}

static gboolean on_idle(void *userdata)
{
        AldHostBus *self = userdata;

        self->idle_id = 0;
        sd_bus_close_unref(detach_bus(self));
        return G_SOURCE_REMOVE;
}

void ald_host_use_end(AldHostUse *use)
{
        AldHostBus *owner = use ? use->owner : NULL;

        if (!owner) {
                g_free(use);
                return;
        }
        owner->uses = g_list_remove(owner->uses, use);
        owner->losing = g_list_remove(owner->losing, use);
        g_free(use);
        if (!owner->uses && owner->bus && !owner->idle_id)
                owner->idle_id = g_timeout_add_seconds(
                        owner->host ? REMOTE_IDLE_SECONDS : IDLE_SECONDS, on_idle, owner);
}

AldHostBus *ald_host_bus_new(const char *host)
{
        AldHostBus *bus = g_new0(AldHostBus, 1);

        bus->host = g_strdup(host);
        bus->complaints = -1;
        return bus;
}

void ald_host_bus_free(AldHostBus *bus)
{
        if (!bus)
                return;
        lose_connection(bus, -ECONNRESET);
        ald_fd_close(&bus->complaints);
        g_free(bus->host);
        g_free(bus);
}
