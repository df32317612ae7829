/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <stdbool.h>

#include "clients/common/connection.h"
#include "clients/common/finding-history.h"
#include "clients/common/node-summary.h"
#include "clients/desktop/actions/actions.h"
#include "clients/desktop/actions/host-call.h"
#include "clients/desktop/actions/host-prompt.h"
#include "clients/desktop/actions/measurements.h"
#include "clients/desktop/actions/name-prompt.h"
#include "clients/desktop/actions/prompt.h"
#include "clients/desktop/actions/silence-prompt.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/live/bus-error-words.h"
#include "common/bus-names.h"

/* A node with its name, since its record may be gone when a message names it. */
typedef struct NamedNode {
        char *id, *name;
} NamedNode;

/* A node, or two nodes for the links between them. */
typedef struct NamedPair {
        char *a, *b, *name;
} NamedPair;

struct AldActions {
        GtkApplicationWindow *window;
        AldLiveCluster *cluster;
        AldHostBus *bus;
        AldMeasurements *measurements;
        AldHoldOff *hold_off;
        gulong said_id;
        GtkWidget *prompt; /* NULL while there is none */
        AldHostCall *naming, *forgetting, *silencing;
        NamedNode to_forget, forgotten; /* the nodes of the prompt and of the call */
        NamedPair to_silence, silenced; /* the nodes of the prompt and of the call */
};

static void show_message(const char *text, void *userdata)
{
        AldActions *self = userdata;

        (void) gtk_widget_activate_action(GTK_WIDGET(self->window), "win.say", "s", text);
}

static AldModel *model_of(AldActions *self)
{
        return ald_live_cluster_model(self->cluster);
}

/* Shows a prompt, and closes the previous one: there is one at a time. */
static void present_prompt(AldActions *self, GtkWidget *prompt)
{
        if (self->prompt)
                ald_prompt_close(self->prompt);
        g_set_weak_pointer(&self->prompt, prompt);
        ald_prompt_present(prompt, GTK_WINDOW(self->window));
}

/* Measurements. */

static void on_probe_link(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        AldActions *self = userdata;
        const char *id, *how;

        g_variant_get(parameter, "(&s&s)", &id, &how);
        ald_measurements_start(self->measurements,
                g_str_equal(how, "rtt")    ? &ald_probe_words_rtt
                : g_str_equal(how, "rdma") ? &ald_probe_words_rdma
                                           : &ald_probe_words_socket,
                id);
}

static void on_probe_device(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        AldActions *self = userdata;

        ald_measurements_start(
                self->measurements, &ald_probe_words_compute, g_variant_get_string(parameter, NULL));
}

/* The name of the machine. */

static void on_named(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        AldActions *self = userdata;
        g_autofree char *why = NULL, *words = NULL;

        self->naming = NULL;
        if (reply)
                return; /* the new name appears everywhere */
        why = ald_bus_error_words(error, ALD_IDENTITY_UNIT);
        words = g_strdup_printf(_("Cannot rename this machine: %s"), why);
        show_message(words, self);
}

static void on_name_chosen(const char *name, void *userdata)
{
        static const AldHostMethod set_name = { ALD_IDENTITY_NAME, ALD_IDENTITY_PATH, ALD_IDENTITY_INTERFACE,
                "SetFriendlyName", .asks = true };
        AldActions *self = userdata;

        ald_host_call_free(self->naming);
        self->naming = ald_host_call_new(self->bus, &set_name, on_named, self, "s", name);
}

static void on_set_name(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        AldActions *self = userdata;
        const char *name = ald_entity_name(ald_model_get(model_of(self), ald_model_node_id(model_of(self))));

        present_prompt(self, ald_name_prompt_new(name, on_name_chosen, self));
}

/* Forgetting nodes. */

static void set_node(NamedNode *node, const char *id, const char *name)
{
        g_free(node->id);
        g_free(node->name);
        *node = (NamedNode){ g_strdup(id), g_strdup(name) };
}

static void on_forgotten(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        AldActions *self = userdata;
        const NamedNode *node = &self->forgotten;
        g_autofree char *why = error ? ald_bus_error_words(error, ALD_CLUSTER_UNIT) : NULL;
        g_autofree char *words = reply ? g_strdup_printf(
                                                 _("%s is hidden until it is heard again"), node->name)
                                       : g_strdup_printf(_("Cannot forget %s: %s"), node->name, why);

        self->forgetting = NULL;
        if (reply)
                (void) gtk_widget_activate_action(GTK_WIDGET(self->window), "win.leave-node", "s", node->id);
        show_message(words, self);
}

/* Returns why a node cannot be forgotten; NULL if it can. The cluster service refuses the same, but only
 * after it has asked for a password. */
static char *why_not_forget(AldActions *self, const char *id, const char *name)
{
        const AldEntity *node = ald_model_get(model_of(self), id);
        const AldPresence *presence = ald_entity_as(node, PRESENCE, AldPresence);

        if (!node)
                return g_strdup_printf(_("%s is not known any more"), name);
        if (g_strcmp0(id, ald_model_node_id(model_of(self))) == 0)
                return g_strdup_printf(_("%s is the machine itself and cannot forget itself"), name);
        if (presence && g_strcmp0(presence->state, "online") == 0)
                return g_strdup_printf(_("%s is online; only a node that is offline can be forgotten"), name);
        return NULL;
}

static void on_forget_accepted(void *userdata)
{
        static const AldHostMethod forget = { ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE,
                "Forget", .asks = true };
        AldActions *self = userdata;
        /* The node may have come or gone while the prompt was open. */
        g_autofree char *why_not = why_not_forget(self, self->to_forget.id, self->to_forget.name);

        if (why_not) {
                show_message(why_not, self);
                return;
        }
        /* During the call there may be a prompt for another node. */
        set_node(&self->forgotten, self->to_forget.id, self->to_forget.name);
        ald_host_call_free(self->forgetting);
        self->forgetting = ald_host_call_new(self->bus, &forget, on_forgotten, self, "s", self->forgotten.id);
}

static void on_forget(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        AldActions *self = userdata;
        const char *id = g_variant_get_string(parameter, NULL);
        g_autofree char *name = ald_node_name(model_of(self), id);
        g_autofree char *why_not = why_not_forget(self, id, name), *heading = NULL;
        GtkWidget *prompt;

        if (why_not) {
                show_message(why_not, self);
                return;
        }
        set_node(&self->to_forget, id, name);
        heading = g_strdup_printf(_("Forget %s?"), name);
        prompt = ald_prompt_new(heading,
                _("The node and all its records are hidden on every machine of the cluster until it is heard "
                  "again. What this machine has measured of the links to it is deleted."),
                NULL);
        ald_prompt_set_answer(prompt, _("_Forget"), ALD_PROMPT_DESTRUCTIVE, on_forget_accepted, self);
        present_prompt(self, prompt);
}

/* Silence. */

static void set_pair(NamedPair *pair, const char *a, const char *b, const char *name)
{
        NamedPair before = *pair;

        *pair = (NamedPair){ g_strdup(a), g_strdup(b), g_strdup(name) };
        g_free(before.a);
        g_free(before.b);
        g_free(before.name);
}

/* Reads two ids from a parameter; the second is empty for a single node. */
static void read_pair(AldActions *self, GVariant *parameter, NamedPair *pair)
{
        const char *a, *b;
        g_autofree char *name_a = NULL, *name_b = NULL, *names = NULL;

        g_variant_get(parameter, "(&s&s)", &a, &b);
        name_a = ald_node_name(model_of(self), a);
        name_b = *b ? ald_node_name(model_of(self), b) : NULL;
        names = name_b ? ald_pair_words(name_a, name_b) : NULL;
        set_pair(pair, a, b, names ?: name_a);
}

static void on_silenced(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        AldActions *self = userdata;
        g_autofree char *why = NULL, *words = NULL;

        self->silencing = NULL;
        if (reply)
                return; /* the list of findings shows it */
        why = ald_bus_error_words(error, ALD_HISTORY_UNIT);
        words = g_strdup_printf(_("Cannot silence findings about %s: %s"), self->silenced.name, why);
        show_message(words, self);
}

static void on_unsilenced(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        AldActions *self = userdata;
        g_autofree char *why = NULL, *words = NULL;

        self->silencing = NULL;
        if (reply)
                return;
        why = ald_bus_error_words(error, ALD_HISTORY_UNIT);
        words = g_strdup_printf(_("Cannot stop silencing findings about %s: %s"), self->silenced.name, why);
        show_message(words, self);
}

/* Calls Silence() or Unsilence() for the nodes in `silenced`. */
static void call_silence(AldActions *self, AldSilenceCall call, AldHostReplied replied)
{
        call.node = self->silenced.a;
        call.peer = self->silenced.b;
        call.asks = true;
        ald_host_call_free(self->silencing);
        self->silencing = ald_host_call_new_with_message(
                self->bus, ald_silence_call_make, &call, ALD_ASKING_USEC, replied, self);
}

static void on_silence_chosen(guint64 usec, const char *reason, void *userdata)
{
        AldActions *self = userdata;
        guint64 until = usec == UINT64_MAX ? usec : (guint64) g_get_real_time() + usec;
        AldSilenceCall call = { .until_usec = until, .reason = reason };

        set_pair(&self->silenced, self->to_silence.a, self->to_silence.b, self->to_silence.name);
        call_silence(self, call, on_silenced);
}

static void on_silence(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        AldActions *self = userdata;

        read_pair(self, parameter, &self->to_silence);
        present_prompt(self, ald_silence_prompt_new(self->to_silence.name, on_silence_chosen, self));
}

static void on_unsilence(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        AldActions *self = userdata;

        read_pair(self, parameter, &self->silenced);
        call_silence(self, (AldSilenceCall){ .ends = true }, on_unsilenced);
}

/* Other machines. */

static void on_host_chosen(const char *host, void *userdata)
{
        AldActions *self = userdata;

        (void) gtk_widget_activate_action(GTK_WIDGET(self->window), "app.connect-to", "s", host);
}

static void on_connect(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        present_prompt(userdata, ald_host_prompt_new(on_host_chosen, userdata));
}

/* Shows in full a message that was too long for a toast. */

static void on_tell(GSimpleAction *action, GVariant *parameter, void *userdata)
{
        present_prompt(userdata, ald_notice_new(g_variant_get_string(parameter, NULL)));
}

/* Setup. */

static const GActionEntry entries[] = {
        { .name = "probe-link", .activate = on_probe_link, .parameter_type = "(ss)" },
        { .name = "probe-device", .activate = on_probe_device, .parameter_type = "s" },
        { .name = "set-name", .activate = on_set_name },
        { .name = "set-name-there" }, /* always disabled: only a machine itself can change its name */
        { .name = "forget", .activate = on_forget, .parameter_type = "s" },
        { .name = "silence", .activate = on_silence, .parameter_type = "(ss)" },
        { .name = "unsilence", .activate = on_unsilence, .parameter_type = "(ss)" },
        { .name = "connect", .activate = on_connect },
        { .name = "tell", .activate = on_tell, .parameter_type = "s" },
};

static void on_said(AldHoldOff *hold_off, const char *text, void *userdata)
{
        show_message(text, userdata);
}

AldActions *ald_actions_new(GtkApplicationWindow *window, AldLiveCluster *cluster)
{
        GApplication *application = G_APPLICATION(gtk_window_get_application(GTK_WINDOW(window)));
        AldActions *self = g_new0(AldActions, 1);
        g_autoptr(GAction) hold_off = NULL;

        self->window = window;
        self->cluster = g_object_ref(cluster);
        self->bus = ald_host_bus_new(ald_live_cluster_host(cluster));
        self->measurements = ald_measurements_new(self->bus, cluster, show_message, self);
        self->hold_off = g_object_ref(ald_hold_off_get(application, ald_live_cluster_host(cluster)));
        self->said_id = g_signal_connect(self->hold_off, "said", G_CALLBACK(on_said), self);
        hold_off = ald_hold_off_action_new(self->hold_off, "hold-off");
        g_action_map_add_action_entries(G_ACTION_MAP(window), entries, G_N_ELEMENTS(entries), self);
        g_action_map_add_action(G_ACTION_MAP(window), hold_off);
        g_simple_action_set_enabled(
                G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(window), "set-name-there")), FALSE);
        return self;
}

void ald_actions_free(AldActions *self)
{
        if (!self)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(entries); i++)
                g_action_map_remove_action(G_ACTION_MAP(self->window), entries[i].name);
        g_action_map_remove_action(G_ACTION_MAP(self->window), "hold-off");
        if (self->prompt)
                ald_prompt_close(self->prompt);
        g_clear_weak_pointer(&self->prompt);
        g_signal_handler_disconnect(self->hold_off, self->said_id);
        g_object_unref(self->hold_off);
        ald_host_call_free(self->naming);
        ald_host_call_free(self->forgetting);
        ald_host_call_free(self->silencing);
        ald_measurements_free(self->measurements);
        ald_host_bus_free(self->bus);
        g_object_unref(self->cluster);
        set_node(&self->to_forget, NULL, NULL);
        set_node(&self->forgotten, NULL, NULL);
        set_pair(&self->to_silence, NULL, NULL, NULL);
        set_pair(&self->silenced, NULL, NULL, NULL);
        g_free(self);
}

GtkWidget *ald_actions_job_bar(AldActions *self)
{
        return ald_measurements_bar(self->measurements);
}

AldHoldOff *ald_actions_hold_off(AldActions *self)
{
        return self->hold_off;
}

AldHostBus *ald_actions_bus(AldActions *self)
{
        return self->bus;
}
