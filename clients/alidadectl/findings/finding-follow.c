/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/findings/event-list.h"
#include "clients/alidadectl/findings/finding-follow.h"
#include "clients/alidadectl/output.h"
#include "clients/alidadectl/signal-source.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "common/bus-source.h"
#include "common/source.h"
#include "state-client/value.h"

#define DRIVER "org.freedesktop.DBus"
#define OWNER_MATCH                                                                         \
        "type='signal',sender='" DRIVER "',path='/org/freedesktop/DBus',interface='" DRIVER \
        "',member='NameOwnerChanged',arg0='" ALD_HISTORY_NAME "'"
/* The program gives up if the reader leaves this much unread. */
#define UNREAD_MAX (16u * 1024 * 1024)

typedef struct AldFindingFollow {
        const AldCtl *ctl;
        AldStyleInfo info;
        GMainLoop *loop;
        sd_bus *bus;
        GSource *bus_source, *signals;
        AldOutput *output;
        char *owner; /* unique name of the service, or NULL */
        bool ended;
        int exit_code;
} AldFindingFollow;

static void end_follow(AldFindingFollow *follow, int exit_code)
{
        if (follow->ended)
                return;
        follow->ended = true;
        follow->exit_code = exit_code;
        g_main_loop_quit(follow->loop);
}

/* Writing */

static void write_text(AldFindingFollow *follow, const char *text)
{
        ald_output_write(follow->output, text, strlen(text));
        if (ald_output_pending(follow->output) <= UNREAD_MAX)
                return;
        ald_print_error("Nothing reads the output");
        end_follow(follow, ALD_EXIT_ERROR);
}

static void write_styled(AldFindingFollow *follow, const char *styled)
{
        g_autofree char *text = ald_text_render(styled, follow->info.colours, follow->info.utf8);

        write_text(follow, text);
}

/* Writes a change, with the fields of the event if there is one. */
static void write_json(AldFindingFollow *follow, const char *change, const AldFindingEvent *event)
{
        json_auto_t *json = json_pack("{s:s}", "Change", change);
        json_auto_t *fields = event ? ald_finding_event_to_json(event) : NULL;
        g_autofree char *text = NULL, *line = NULL;

        if (fields)
                json_object_update(json, fields);
        text = ald_json_text(json, follow->ctl->json);
        line = g_strconcat(text, "\n", NULL);
        write_text(follow, line);
}

static void write_event(
        AldFindingFollow *follow, const char *change, const char *lasting, const AldFindingEvent *event)
{
        const AldFindingListRow row = ald_event_row(event, (uint64_t) g_get_real_time());
        g_autoptr(GString) out = g_string_new(NULL);

        if (follow->ctl->json) {
                write_json(follow, change, event);
                return;
        }
        ald_event_text_append(out, &row, lasting, follow->info.columns);
        write_styled(follow, out->str);
}

/* Signals */

static int read_event(sd_bus_message *m, bool begins, AldHistoryEvent *times, json_t *finding)
{
        int r = sd_bus_message_has_signature(m, begins ? "tta{sv}" : "ttta{sv}") > 0 ? 0 : -EBADMSG;

        if (r >= 0)
                r = sd_bus_message_read(m, "tt", &times->event, &times->began_usec);
        if (r >= 0 && !begins)
                r = sd_bus_message_read(m, "t", &times->ended_usec);
        return r < 0 ? r : ald_value_read_dict(m, finding, NULL);
}

static void handle_event_signal(AldFindingFollow *follow, sd_bus_message *m, bool begins)
{
        g_autoptr(AldFindingEvent) event = NULL;
        json_auto_t *finding = json_object();
        AldHistoryEvent times = ALD_HISTORY_EVENT_INIT;

        if (!follow->owner || g_strcmp0(sd_bus_message_get_sender(m), follow->owner) != 0 ||
                read_event(m, begins, &times, finding) < 0)
                return;
        event = ald_finding_event_new(&times, finding);
        write_event(follow, begins ? "began" : "ended", "began", event);
}

static int on_began(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        handle_event_signal(userdata, m, true);
        return 0;
}

static int on_ended(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        handle_event_signal(userdata, m, false);
        return 0;
}

static void set_owner(AldFindingFollow *follow, const char *owner)
{
        if (g_strcmp0(owner, follow->owner) == 0)
                return;
        g_free(follow->owner);
        follow->owner = g_strdup(owner);
        if (follow->ctl->json)
                write_json(follow, owner ? "synced" : "lost", NULL);
        else
                ald_print_error(owner ? "The history service is back" : "The history service disappeared");
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const char *name, *old, *new;

        if (g_strcmp0(sd_bus_message_get_sender(m), DRIVER) == 0 &&
                sd_bus_message_read(m, "sss", &name, &old, &new) >= 0 && strcmp(name, ALD_HISTORY_NAME) == 0)
                set_owner(userdata, new[0] ? new : NULL);
        return 0;
}

static int match_history_signal(
        AldFindingFollow *follow, const char *member, sd_bus_message_handler_t handler)
{
        return sd_bus_match_signal(follow->bus, NULL, ALD_HISTORY_NAME, ALD_HISTORY_PATH,
                ALD_HISTORY_INTERFACE, member, handler, follow);
}

/* Beginning */

static int find_owner(AldFindingFollow *follow)
{
        g_autoptr(AldCreds) creds = NULL;
        const char *owner;
        int r = sd_bus_get_name_creds(follow->bus, ALD_HISTORY_NAME, SD_BUS_CREDS_UNIQUE_NAME, &creds);

        if (r >= 0)
                r = sd_bus_creds_get_unique_name(creds, &owner);
        if (r >= 0)
                follow->owner = g_strdup(owner);
        return r;
}

/* Signals that arrive while the list is read are handled once the loop runs. */
static int subscribe(AldFindingFollow *follow, sd_bus_error *error)
{
        int r = sd_bus_add_match(follow->bus, NULL, OWNER_MATCH, on_owner_changed, follow);

        if (r >= 0)
                r = match_history_signal(follow, "FindingBegan", on_began);
        if (r >= 0)
                r = match_history_signal(follow, "FindingEnded", on_ended);
        if (r >= 0)
                r = ald_bus_await(follow->bus, ALD_HISTORY_NAME, error);
        return r < 0 ? r : find_owner(follow);
}

static int list_events(AldFindingFollow *follow, uint64_t from_usec)
{
        g_autoptr(GString) header = g_string_new(NULL);
        g_autoptr(GPtrArray) events = NULL;
        int r = ald_event_list_read(follow->bus, from_usec, ALD_INTEGER_MAX, &events);

        if (r != ALD_EXIT_OK)
                return r;
        if (!follow->ctl->json) {
                ald_event_text_append_header(header);
                write_styled(follow, header->str);
        }
        for (guint i = 0; i < events->len; i++)
                write_event(follow, "listed", NULL, events->pdata[i]);
        if (follow->ctl->json)
                write_json(follow, "synced", NULL);
        return r;
}

static void on_closed(sd_bus *bus, int error, void *userdata)
{
        g_auto(sd_bus_error) reason = SD_BUS_ERROR_NULL;

        ald_bus_closed_error(error, &reason);
        end_follow(userdata, ald_bus_print_error(&reason, "Cannot follow the findings", ALD_HISTORY_UNIT));
}

static void on_output(AldOutput *output, int r, void *userdata)
{
        if (r >= 0)
                return;
        if (r != -EPIPE)
                ald_print_error("Cannot write the output: %s", strerror(-r));
        end_follow(userdata, r == -EPIPE ? ALD_EXIT_OK : ALD_EXIT_ERROR);
}

static void on_signal(int number, void *userdata)
{
        end_follow(userdata, ALD_EXIT_OK);
}

static int add_sources(AldFindingFollow *follow)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
        int r;

        r = ald_signal_source_new(signals, on_signal, follow, &follow->signals);
        if (r >= 0)
                r = ald_output_new(STDOUT_FILENO, on_output, follow, &follow->output);
        if (r < 0) {
                ald_print_error("Cannot follow the findings: %s", strerror(-r));
                return ALD_EXIT_ERROR;
        }
        follow->bus_source = ald_bus_source_new(follow->bus, on_closed, follow);
        return ALD_EXIT_OK;
}

static void finding_follow_clear(AldFindingFollow *follow)
{
        if (follow->output)
                ald_output_finish(follow->output);
        ald_output_free(follow->output);
        ald_source_clear(&follow->signals);
        ald_source_clear(&follow->bus_source);
        follow->bus = sd_bus_close_unref(follow->bus);
        g_main_loop_unref(follow->loop);
        g_free(follow->owner);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldFindingFollow, finding_follow_clear)

int ald_finding_follow(const AldCtl *ctl, uint64_t from_usec)
{
        g_auto(AldFindingFollow)
                follow = { .ctl = ctl, .info = ald_style_info(), .loop = g_main_loop_new(NULL, FALSE) };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        r = ald_bus_open(ctl, &follow.bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = subscribe(&follow, &error);
        if (r < 0) {
                ald_bus_ensure_error(&error, r);
                return ald_bus_print_error(&error, "Cannot follow the findings", ALD_HISTORY_UNIT);
        }
        r = add_sources(&follow);
        if (r == ALD_EXIT_OK)
                r = list_events(&follow, from_usec);
        if (r != ALD_EXIT_OK)
                return r;
        if (!follow.ended)
                g_main_loop_run(follow.loop);
        return follow.exit_code;
}
