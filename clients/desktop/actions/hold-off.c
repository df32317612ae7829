/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <unistd.h>

#include "clients/common/connection.h"
#include "clients/common/probes/probe-lock.h"
#include "clients/desktop/actions/hold-off.h"
#include "clients/desktop/actions/host-call.h"
#include "clients/desktop/live/bus-error-words.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/fd.h"

#define APPLICATION_KEY "ald-hold-offs"
#define RETRY_MSEC 1000u
#define RETRIES 30u /* attempts while the service restarts */

struct _AldHoldOff {
        GObject parent;
        char *host;
        AldHostBus *bus;
        AldHostCall *call;
        int fd;        /* the lock, or -1 */
        char *service; /* unique name of the service that gave the lock */
        bool wanted;
        unsigned n_retries; /* attempts since the lock was lost; 0 if it was not */
        guint lost_id, retry_id;
};

enum { PROP_HELD = 1, N_PROPERTIES };
static GParamSpec *properties[N_PROPERTIES];

enum { SAID, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(AldHoldOff, ald_hold_off, G_TYPE_OBJECT)

static void request_lock(AldHoldOff *self);

/* Measurements also count as held off after the lock was lost: a service that restarts measures nothing
 * before the lock is requested again. */
bool ald_hold_off_held(AldHoldOff *self)
{
        return self->fd >= 0 || self->n_retries > 0;
}

static void drop_lock(AldHoldOff *self)
{
        g_clear_handle_id(&self->lost_id, g_source_remove);
        g_clear_handle_id(&self->retry_id, g_source_remove);
        g_clear_pointer(&self->call, ald_host_call_free);
        g_clear_pointer(&self->service, g_free);
        if (self->fd >= 0)
                (void) close(self->fd);
        self->fd = -1;
        self->n_retries = 0;
}

static void notify_held(AldHoldOff *self)
{
        g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_HELD]);
}

static void give_up(AldHoldOff *self, const char *words)
{
        self->wanted = false;
        drop_lock(self);
        notify_held(self);
        g_signal_emit(self, signals[SAID], 0, words);
}

static gboolean on_retry(void *userdata)
{
        AldHoldOff *self = userdata;

        self->retry_id = 0;
        request_lock(self);
        return G_SOURCE_REMOVE;
}

static void handle_failure(AldHoldOff *self, const sd_bus_error *error)
{
        g_autofree char *why = NULL, *words = NULL;

        if (self->n_retries > 0 && self->n_retries < RETRIES && ald_bus_error_is_absence(error)) {
                self->n_retries++;
                self->retry_id = g_timeout_add(RETRY_MSEC, on_retry, self);
                return;
        }
        why = ald_bus_error_words(error, ALD_LINK_PROBE_UNIT);
        words = g_strdup_printf(self->n_retries > 0 ? _("Measurements are no longer held off: %s")
                                                    : _("Cannot hold off measurements: %s"),
                why);
        give_up(self, words);
}

/* If the service answers, it continues without our lock, so it was released on purpose. */
static void on_pinged(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        AldHoldOff *self = userdata;

        self->call = NULL;
        if (reply)
                give_up(self,
                        _("Measurements are no longer held off: the lock was released by someone else"));
        else
                request_lock(self);
}

/* Runs when the service has closed its end of the lock, or has ended. */
static gboolean on_lock_lost(gint fd, GIOCondition condition, void *userdata)
{
        AldHoldOff *self = userdata;
        g_autofree char *service = g_steal_pointer(&self->service);
        const AldHostMethod ping = { service, "/", "org.freedesktop.DBus.Peer", "Ping", .asks = false };

        self->lost_id = 0;
        drop_lock(self);
        self->n_retries = 1;
        self->call = ald_host_call_new(self->bus, &ping, on_pinged, self, "");
        return G_SOURCE_REMOVE;
}

static int keep_lock(AldHoldOff *self, sd_bus_message *reply)
{
        int fd = ald_probe_lock_take(reply);

        if (fd < 0)
                return fd;
        drop_lock(self);
        self->fd = fd;
        self->service = g_strdup(sd_bus_message_get_sender(reply));
        self->lost_id = g_unix_fd_add(fd, G_IO_ERR | G_IO_HUP, on_lock_lost, self);
        return 0;
}

static void on_lock_reply(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        g_auto(sd_bus_error) unreadable = SD_BUS_ERROR_NULL;
        AldHoldOff *self = userdata;
        int r;

        self->call = NULL;
        if (!reply) {
                handle_failure(self, error);
                return;
        }
        r = keep_lock(self, reply);
        if (r >= 0) {
                notify_held(self);
                return;
        }
        (void) sd_bus_error_set_errno(&unreadable, r);
        handle_failure(self, &unreadable);
}

static void request_lock(AldHoldOff *self)
{
        const AldProbeLockCall lock = { ALD_PROBE_LOCK_ALL, "Alidade", _("held off by hand") };

        self->call = ald_host_call_new_with_message(
                self->bus, ald_probe_lock_make, &lock, ALD_ANSWER_USEC, on_lock_reply, self);
}

static void set_wanted(AldHoldOff *self, bool wanted)
{
        if (wanted == self->wanted)
                return;
        if (wanted && self->host) {
                /* A file descriptor cannot be passed over ssh. */
                g_signal_emit(self, signals[SAID], 0,
                        _("Measurements can only be held off by a program on the machine itself, such as "
                          "“alidadectl inhibit”"));
                return;
        }
        self->wanted = wanted;
        if (wanted) {
                request_lock(self);
                return;
        }
        drop_lock(self);
        notify_held(self);
}

static void ald_hold_off_finalize(GObject *object)
{
        AldHoldOff *self = ALD_HOLD_OFF(object);

        drop_lock(self);
        ald_host_bus_free(self->bus);
        g_free(self->host);
        G_OBJECT_CLASS(ald_hold_off_parent_class)->finalize(object);
}

static void ald_hold_off_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
        if (id == PROP_HELD)
                g_value_set_boolean(value, ald_hold_off_held(ALD_HOLD_OFF(object)));
        else
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void ald_hold_off_class_init(AldHoldOffClass *class)
{
        GObjectClass *object_class = G_OBJECT_CLASS(class);

        object_class->finalize = ald_hold_off_finalize;
        object_class->get_property = ald_hold_off_get_property;
        properties[PROP_HELD] = g_param_spec_boolean("held", NULL, NULL, FALSE,
                G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
        g_object_class_install_properties(object_class, N_PROPERTIES, properties);
        signals[SAID] = g_signal_new("said", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void ald_hold_off_init(AldHoldOff *self)
{
        self->fd = -1;
}

AldHoldOff *ald_hold_off_get(GApplication *application, const char *host)
{
        GHashTable *all = g_object_get_data(G_OBJECT(application), APPLICATION_KEY);
        AldHoldOff *self;

        if (!all) {
                all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
                g_object_set_data_full(
                        G_OBJECT(application), APPLICATION_KEY, all, (GDestroyNotify) g_hash_table_unref);
        }
        self = g_hash_table_lookup(all, host ?: "");
        if (self)
                return self;
        self = g_object_new(ALD_TYPE_HOLD_OFF, NULL);
        self->host = g_strdup(host);
        self->bus = ald_host_bus_new(host);
        g_hash_table_insert(all, g_strdup(host ?: ""), self);
        return self;
}

static void on_change_state(GSimpleAction *action, GVariant *value, void *userdata)
{
        set_wanted(userdata, g_variant_get_boolean(value));
}

static void on_held_changed(AldHoldOff *self, GParamSpec *spec, void *action)
{
        g_simple_action_set_state(action, g_variant_new_boolean(ald_hold_off_held(self)));
}

GAction *ald_hold_off_action_new(AldHoldOff *self, const char *name)
{
        GVariant *state = g_variant_new_boolean(ald_hold_off_held(self));
        GSimpleAction *action = g_simple_action_new_stateful(name, NULL, state);

        g_signal_connect_object(action, "change-state", G_CALLBACK(on_change_state), self, 0);
        g_signal_connect_object(self, "notify::held", G_CALLBACK(on_held_changed), action, 0);
        return G_ACTION(action);
}
