/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/output.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/session.h"
#include "clients/alidadectl/text.h"

#define REFRESH_USEC (UINT64_C(10) * 1000 * 1000)

/* With more than this unread, the bus is left until it has been read; what changed meanwhile is told then. */
#define UNREAD_MAX (1024u * 1024)

typedef struct Monitor {
        AldSession session;
        const AldCtl *ctl;
        AldStyleInfo info;
        AldOutput *output;
        sd_event_source *tick, *pause;
        bool was_synced;
} Monitor;

static const char *const event_names[] = {
        [ALD_CHANGE_ADDED] = "added",
        [ALD_CHANGE_CHANGED] = "changed",
        [ALD_CHANGE_REMOVED] = "removed",
};

static int on_pause(sd_event_source *source, void *userdata)
{
        Monitor *monitor = userdata;

        if (ald_output_pending(monitor->output) > UNREAD_MAX)
                ald_session_pause(&monitor->session);
        return 0;
}

/* Takes the line. */
static void write_line(Monitor *monitor, char *line)
{
        g_autofree char *text = line;
        g_autofree char *whole = g_strconcat(text, "\n", NULL);

        ald_output_write(monitor->output, whole, strlen(whole));
        if (ald_output_pending(monitor->output) > UNREAD_MAX)
                (void) sd_event_source_set_enabled(monitor->pause, SD_EVENT_ONESHOT);
}

static void write_json(Monitor *monitor, json_t *event)
{
        write_line(monitor, ald_json_text(event, monitor->ctl->json));
        json_decref(event);
}

static json_t *event_new(const char *name)
{
        json_t *event = json_object();

        json_object_set_new(event, "Event", json_string(name));
        return event;
}

static void write_change_as_json(Monitor *monitor, const AldChange *change)
{
        json_t *event = event_new(change->entity ? event_names[change->type] : "totals");

        if (change->entity) {
                json_object_set_new(
                        event, change->entity->is_link ? "Link" : "NodeId", json_string(change->entity->id));
                json_object_set_new(event, "Kind", json_string(change->kind));
        }
        if (change->fields)
                json_object_set(event, "Fields", change->fields);
        if (json_array_size(change->absent) > 0)
                json_object_set(event, "Absent", change->absent);
        write_json(monitor, event);
}

static char *format_clock(void)
{
        double now = ald_now();
        time_t seconds = (time_t) (now / 1e6);
        char text[16] = "";
        struct tm tm;

        if (localtime_r(&seconds, &tm))
                (void) strftime(text, sizeof(text), "%H:%M:%S", &tm);
        return g_strdup_printf("%s.%03u", text, (unsigned) ((uint64_t) now / 1000 % 1000));
}

/* These change with every update and say nothing of the machine. */
static bool is_envelope(const char *name)
{
        return strcmp(name, "Revision") == 0 || strcmp(name, "UpdatedUSec") == 0;
}

static void append_value(GString *out, const char *name, json_t *value, double now)
{
        g_autofree char *text = NULL;
        size_t i;
        json_t *row;

        if (!json_is_array(value) || !json_is_object(json_array_get(value, 0))) {
                text = ald_format_field(name, value, now);
                g_string_append_printf(out, "%s %s", name, text);
                return;
        }
        g_string_append(out, name);
        json_array_foreach(value, i, row) {
                const char *field;
                json_t *inner;

                g_string_append(out, " [");
                json_object_foreach(row, field, inner) {
                        g_autofree char *item = ald_format_field(field, inner, now);

                        if (strcmp(field, "Id") == 0)
                                g_string_append(out, item);
                        else
                                g_string_append_printf(out, " %s %s", field, item);
                }
                g_string_append_c(out, ']');
        }
}

/* What changed, or "" where only the envelope did. */
static char *format_fields(const AldChange *change)
{
        GString *out = g_string_new(NULL);
        double now = ald_now();
        const char *name;
        json_t *value;
        size_t i;

        json_object_foreach(change->fields, name, value) {
                if (is_envelope(name))
                        continue;
                g_string_append(out, out->len > 0 ? "; " : "");
                append_value(out, name, value, now);
        }
        json_array_foreach(change->absent, i, value) {
                if (!is_envelope(json_string_value(value)))
                        g_string_append_printf(out, "%s%s " ALD_ABSENT_TEXT, out->len > 0 ? "; " : "",
                                json_string_value(value));
        }
        return g_string_free(out, FALSE);
}

static void write_text(Monitor *monitor, const char *styled)
{
        g_autofree char *clock = format_clock();
        g_autofree char *line = g_strdup_printf(ALD_STYLE_DIM "%s" ALD_STYLE_NORMAL " %s", clock, styled);

        write_line(monitor, ald_text_render(line, monitor->info.colours, monitor->info.utf8));
}

/* What is there from the start is no update. */
static void write_change_as_text(Monitor *monitor, const AldChange *change)
{
        static const char *const verbs[] = { "added: ", "", "removed" };
        g_autofree char *fields = format_fields(change);
        g_autofree char *line = NULL;

        if (!monitor->was_synced || (change->type != ALD_CHANGE_REMOVED && !fields[0]))
                return;
        if (change->entity)
                line = g_strdup_printf(ALD_STYLE_BOLD "%s" ALD_STYLE_NORMAL " %s %s%s", change->entity->label,
                        change->kind, verbs[change->type], fields);
        else
                line = g_strconcat("Totals ", fields, NULL);
        write_text(monitor, line);
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        Monitor *monitor = userdata;

        if (monitor->ctl->json)
                write_change_as_json(monitor, change);
        else
                write_change_as_text(monitor, change);
}

static void on_synced(AldSync *sync, void *userdata)
{
        Monitor *monitor = userdata;

        monitor->was_synced = true;
        if (monitor->ctl->json)
                write_json(monitor, event_new("synced"));
}

static void on_lost(AldSync *sync, const sd_bus_error *error, void *userdata)
{
        Monitor *monitor = userdata;

        if (!monitor->was_synced || (error && sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED)))
                (void) sd_event_exit(monitor->session.event, ald_session_complain(error));
        else if (monitor->ctl->json)
                write_json(monitor, event_new("lost"));
        else
                write_text(monitor, "The state service went away");
}

static void on_refused(AldSync *sync, const sd_bus_error *error, void *userdata)
{
        if (error)
                ald_complain("Not all changes are shown: %s", error->message);
        else
                ald_complain("All changes are shown again");
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
        Monitor *monitor = userdata;

        if (monitor->session.sync)
                ald_sync_refresh(monitor->session.sync);
        return sd_event_source_set_time_relative(source, REFRESH_USEC);
}

/* All is read: back to the bus, if it was left. Or nobody reads any more, which is a good end. */
static void on_output(AldOutput *output, int r, void *userdata)
{
        Monitor *monitor = userdata;

        if (r < 0 && r != -EPIPE)
                ald_complain("Cannot write the output: %s", strerror(-r));
        if (r < 0)
                (void) sd_event_exit(monitor->session.event, r == -EPIPE ? ALD_EXIT_OK : ALD_EXIT_ERROR);
        else if (!monitor->session.sync) {
                r = ald_session_resume(&monitor->session);
                if (r != ALD_EXIT_OK)
                        (void) sd_event_exit(monitor->session.event, r);
        }
}

static int add_sources(Monitor *monitor)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
        sd_event *event = monitor->session.event;
        sigset_t set;
        int r;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                (void) sigaddset(&set, signals[i]);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        r = ald_output_new(event, STDOUT_FILENO, on_output, monitor, &monitor->output);
        for (size_t i = 0; i < G_N_ELEMENTS(signals) && r >= 0; i++)
                r = sd_event_add_signal(event, NULL, signals[i], NULL, NULL); /* ends the loop with 0 */
        if (r >= 0)
                r = ald_session_announce_waiting(&monitor->session);
        if (r >= 0)
                r = sd_event_add_time_relative(
                        event, &monitor->tick, CLOCK_MONOTONIC, REFRESH_USEC, 0, on_tick, monitor);
        if (r >= 0)
                r = sd_event_source_set_enabled(monitor->tick, SD_EVENT_ON);
        if (r >= 0)
                r = sd_event_add_defer(event, &monitor->pause, on_pause, monitor);
        if (r >= 0)
                r = sd_event_source_set_enabled(monitor->pause, SD_EVENT_OFF);
        return r;
}

static void monitor_clear(Monitor *monitor)
{
        if (monitor->output)
                ald_output_finish(monitor->output);
        ald_output_free(monitor->output);
        sd_event_source_disable_unref(monitor->tick);
        sd_event_source_disable_unref(monitor->pause);
        ald_session_close(&monitor->session);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Monitor, monitor_clear)

int ald_verb_monitor(const AldCtl *ctl)
{
        static const AldSyncHandler handler = { .synced = on_synced, .lost = on_lost, .refused = on_refused };
        g_auto(Monitor) monitor = { .session = ALD_SESSION_INIT, .ctl = ctl, .info = ald_style_info() };
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        r = ald_session_open(&monitor.session, ctl, true, &handler, &monitor);
        if (r != ALD_EXIT_OK)
                return r;
        r = add_sources(&monitor);
        if (r >= 0) {
                ald_model_watch(monitor.session.model, on_changed, &monitor);
                r = sd_event_loop(monitor.session.event);
        }
        if (r < 0)
                ald_complain("Cannot monitor: %s", strerror(-r));
        return r < 0 ? ALD_EXIT_ERROR : r;
}
