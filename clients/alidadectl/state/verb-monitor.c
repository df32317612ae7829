/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clients/alidadectl/output.h"
#include "clients/alidadectl/signal-source.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "common/source.h"
#include "state-client/model-json.h"

#define REFRESH_MSEC 10000

/* The most bytes of unread output. Beyond that, the connection is closed until the output has been read; then
 * the changes since then are printed. */
#define UNREAD_MAX (1024u * 1024)

typedef struct Monitor {
        AldStateSession session;
        const AldCtl *ctl;
        AldStyleInfo info;
        AldOutput *output;
        GSource *signals;
        bool was_synced;
} Monitor;

static const char *const event_names[] = {
        [ALD_CHANGE_ADDED] = "added",
        [ALD_CHANGE_CHANGED] = "changed",
        [ALD_CHANGE_REMOVED] = "removed",
};

/* Takes ownership of the line. */
static void write_line(Monitor *monitor, char *line)
{
        g_autofree char *text = line;
        g_autofree char *whole = g_strconcat(text, "\n", NULL);

        ald_output_write(monitor->output, whole, strlen(whole));
        if (ald_output_pending(monitor->output) > UNREAD_MAX)
                ald_state_client_pause_soon(monitor->session.client);
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
        json_t *fields = ald_change_fields_to_json(change), *absent = ald_change_absent_to_json(change);

        if (change->entity) {
                json_object_set_new(
                        event, change->entity->is_link ? "Link" : "NodeId", json_string(change->entity->id));
                json_object_set_new(event, "Kind", json_string(change->kind));
        }
        if (fields)
                json_object_set(event, "Fields", fields);
        if (json_array_size(absent) > 0)
                json_object_set(event, "Absent", absent);
        json_decref(fields);
        json_decref(absent);
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

/* These fields change with every update and describe nothing of the machine. */
static bool is_envelope(const char *name)
{
        return strcmp(name, "Revision") == 0 || strcmp(name, "UpdatedUSec") == 0;
}

/* Appends one field of a row; takes ownership of the text. */
static void append_item(GString *out, const char *name, char *text)
{
        if (strcmp(name, "Id") == 0)
                g_string_append(out, text);
        else
                g_string_append_printf(out, " %s %s", name, text);
        g_free(text);
}

static void append_rows(GString *out, const AldRows *rows, double now)
{
        for (size_t i = 0; i < rows->n; i++) {
                g_string_append(out, " [");
                for (size_t k = 0; k < rows->type->n_fields; k++) {
                        const AldField *field = &rows->type->fields[k];
                        const void *value = ald_field_of(field, ald_rows_at(rows, i));

                        if (!ald_field_is_absent(field, value))
                                append_item(out, field->name, ald_format_field(field, value, now));
                }
                g_string_append_c(out, ']');
        }
}

static void append_field(GString *out, const AldField *field, const void *value, double now)
{
        g_autofree char *text = NULL;

        g_string_append_printf(out, "%s%s", out->len > 0 ? "; " : "", field->name);
        if (field->type == ALD_TYPE_ROWS && ((const AldRows *) value)->n > 0) {
                append_rows(out, value, now);
                return;
        }
        text = ald_format_field(field, value, now);
        g_string_append_printf(out, " %s", text);
}

/* Appends all fields of an added record; the changed fields of another. */
static void append_record(GString *out, const AldChange *change, double now)
{
        const AldStruct *type = ald_record_type(change->record);

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_record_field(change->record, field);

                if (change->before ? (change->fields & (UINT64_C(1) << i)) != 0
                                   : !ald_field_is_absent(field, value))
                        append_field(out, field, value, now);
        }
}

static void append_raw_rows(GString *out, json_t *rows, double now)
{
        json_t *row, *value;
        const char *name;
        size_t i;

        json_array_foreach(rows, i, row) {
                g_string_append(out, " [");
                json_object_foreach(row, name, value)
                        append_item(out, name, ald_format_raw(name, value, now));
                g_string_append_c(out, ']');
        }
}

static void append_raw(GString *out, const char *name, json_t *value, double now)
{
        g_autofree char *text = NULL;

        g_string_append_printf(out, "%s%s", out->len > 0 ? "; " : "", name);
        if (json_is_object(json_array_get(value, 0))) {
                append_raw_rows(out, value, now);
                return;
        }
        text = ald_format_raw(name, value, now);
        g_string_append_printf(out, " %s", text);
}

/* Returns the changes, or "" if only the envelope changed. */
static char *format_fields(const AldChange *change)
{
        GString *out = g_string_new(NULL);
        double now = ald_now();
        const char *name;
        json_t *value;
        size_t i;

        if (change->record)
                append_record(out, change, now);
        json_object_foreach(change->raw, name, value) {
                if (!is_envelope(name))
                        append_raw(out, name, value, now);
        }
        json_array_foreach(change->raw_absent, i, value) {
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

/* Records that exist at the start are not updates. */
static void write_change_as_text(Monitor *monitor, const AldChange *change)
{
        static const char *const verbs[] = { "added: ", "", "removed" };
        g_autofree char *fields = format_fields(change);
        g_autofree char *line = NULL, *label = NULL;

        if (!monitor->was_synced || (change->type != ALD_CHANGE_REMOVED && !fields[0]))
                return;
        if (change->entity) {
                label = ald_entity_label(change->entity);
                line = g_strdup_printf(ALD_STYLE_BOLD "%s" ALD_STYLE_NORMAL " %s %s%s", label, change->kind,
                        verbs[change->type], fields);
        } else
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

static void on_synced(AldFollow *follow, void *userdata)
{
        Monitor *monitor = userdata;

        monitor->was_synced = true;
        if (monitor->ctl->json)
                write_json(monitor, event_new("synced"));
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        Monitor *monitor = userdata;

        if (!monitor->was_synced || ald_follow_has_ended(error))
                ald_session_fail(&monitor->session, error);
        else if (monitor->ctl->json)
                write_json(monitor, event_new("lost"));
        else
                write_text(monitor, "The state service disappeared");
}

static void on_refused(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        if (error)
                ald_print_error("Not all changes are shown: %s", error->message);
        else
                ald_print_error("All changes are shown again");
}

static gboolean on_tick(void *userdata)
{
        Monitor *monitor = userdata;

        ald_session_refresh(&monitor->session);
        return G_SOURCE_CONTINUE;
}

/* Resumes, if paused, once the output has been read. If the reader is gone, this is a regular end. */
static void on_output(AldOutput *output, int r, void *userdata)
{
        Monitor *monitor = userdata;

        if (r < 0 && r != -EPIPE)
                ald_print_error("Cannot write the output: %s", strerror(-r));
        if (r < 0) {
                ald_session_exit(&monitor->session, r == -EPIPE ? ALD_EXIT_OK : ALD_EXIT_ERROR);
                return;
        }
        r = ald_session_resume(&monitor->session);
        if (r != ALD_EXIT_OK)
                ald_session_exit(&monitor->session, r);
}

static void on_signal(int number, void *userdata)
{
        Monitor *monitor = userdata;

        ald_session_exit(&monitor->session, ALD_EXIT_OK);
}

static int add_sources(Monitor *monitor)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
        int r;

        r = ald_signal_source_new(signals, on_signal, monitor, &monitor->signals);
        if (r >= 0)
                r = ald_output_new(STDOUT_FILENO, on_output, monitor, &monitor->output);
        ald_session_announce_waiting(&monitor->session);
        ald_session_add_timer(&monitor->session, REFRESH_MSEC, on_tick, monitor);
        return r;
}

static void monitor_clear(Monitor *monitor)
{
        if (monitor->output)
                ald_output_finish(monitor->output);
        ald_output_free(monitor->output);
        ald_source_clear(&monitor->signals);
        ald_session_close(&monitor->session);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Monitor, monitor_clear)

int ald_verb_monitor(const AldCtl *ctl)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .refused = on_refused
        };
        g_auto(Monitor) monitor = { .session = ALD_STATE_SESSION_INIT, .ctl = ctl, .info = ald_style_info() };
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        r = ald_session_open(&monitor.session, ctl, true, &handler, &monitor);
        if (r != ALD_EXIT_OK)
                return r;
        r = add_sources(&monitor);
        if (r < 0) {
                ald_print_error("Cannot monitor: %s", strerror(-r));
                return ALD_EXIT_ERROR;
        }
        ald_model_watch(monitor.session.model, on_changed, &monitor);
        return ald_session_run(&monitor.session);
}
