/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib-unix.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/output.h"
#include "clients/alidadectl/signal-source.h"
#include "clients/alidadectl/verbs.h"
#include "clients/alidadectl/watch/screen.h"
#include "clients/alidadectl/watch/terminal.h"
#include "clients/alidadectl/watch/view.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "common/source.h"
#include "state-client/model-json.h"

#define TICK_MSEC 1000u
#define FRAME_USEC (G_USEC_PER_SEC / 4) /* minimum time between two frames */
#define REFRESH_TICKS 10u               /* ticks between two reads of the findings */
#define KEYS_MAX 64

typedef struct Watch {
        AldStateSession session;
        AldView view; /* how far it is scrolled */
        AldTerminal *terminal;
        AldOutput *output;
        AldScreen *screen;
        GSource *frame; /* NULL unless a frame is due */
        GSource *keys;
        GSource *signals;
        char pending[KEYS_MAX]; /* bytes of a key that has not arrived in full */
        size_t n_pending;
        char *problem;
        gint64 drawn_at; /* CLOCK_MONOTONIC in µs */
        unsigned ticks;
        bool behind; /* the terminal has not taken the last frame yet */
} Watch;

static void draw_frame(Watch *watch)
{
        g_autoptr(GPtrArray) lines = NULL;
        g_autoptr(GString) out = NULL;

        watch->behind = ald_output_pending(watch->output) > 0;
        if (watch->behind)
                return;
        watch->drawn_at = g_get_monotonic_time();
        watch->view.model = watch->session.model;
        watch->view.problem = watch->problem;
        watch->view.now_usec = ald_now();
        watch->view.columns = ald_screen_columns(watch->screen);
        watch->view.rows = ald_screen_rows(watch->screen);
        lines = ald_view_lines(&watch->view);
        for (guint i = 0; i < watch->view.rows; i++)
                ald_screen_set_row(watch->screen, i, i < lines->len ? lines->pdata[i] : "");
        out = g_string_new(NULL);
        if (ald_screen_flush(watch->screen, out))
                ald_output_write(watch->output, out->str, out->len);
}

static gboolean on_frame(void *userdata)
{
        Watch *watch = userdata;

        ald_source_clear(&watch->frame);
        draw_frame(watch);
        return G_SOURCE_REMOVE;
}

/* Draws soon, but at least a frame time after the last time. */
static void draw_soon(Watch *watch)
{
        if (watch->frame || !watch->screen)
                return;
        watch->frame = g_timeout_source_new(0);
        g_source_set_ready_time(watch->frame, watch->drawn_at + FRAME_USEC);
        g_source_set_callback(watch->frame, on_frame, watch, NULL);
        g_source_attach(watch->frame, NULL);
}

/* Draws every second, since ages grow. */
static gboolean on_tick(void *userdata)
{
        Watch *watch = userdata;

        if (++watch->ticks % REFRESH_TICKS == 0)
                ald_session_refresh(&watch->session);
        draw_soon(watch);
        return G_SOURCE_CONTINUE;
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        draw_soon(userdata);
}

static void set_problem(Watch *watch, char *problem)
{
        g_free(watch->problem);
        watch->problem = problem;
        draw_soon(watch);
}

static void on_synced(AldFollow *follow, void *userdata)
{
        set_problem(userdata, NULL);
        draw_frame(userdata);
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        Watch *watch = userdata;
        const char *why = error ? error->message : NULL;

        set_problem(watch, g_strdup_printf("Waiting for the state service%s%s",
                                   why ? ": " : ": it disappeared", why ? why : ""));
        if (ald_follow_has_ended(error))
                ald_session_exit(&watch->session, ALD_EXIT_UNREACHABLE);
}

static void on_refused(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        if (ald_follow_in_step(follow))
                set_problem(userdata,
                        error ? g_strdup_printf("Not all changes are shown: %s", error->message) : NULL);
}

/* Ends if the terminal is gone; draws again if it takes output again. */
static void on_output(AldOutput *output, int r, void *userdata)
{
        Watch *watch = userdata;

        if (r < 0)
                ald_session_exit(&watch->session, ALD_EXIT_OK);
        else if (watch->behind)
                draw_soon(watch);
}

/* Makes the next frame draw everything again, at the present size of the terminal. */
static void reset_screen(Watch *watch)
{
        unsigned columns, rows;

        ald_terminal_size(&columns, &rows);
        ald_screen_resize(watch->screen, columns, rows);
}

/* The first frame is drawn when everything has been read; after a moment, it shows what the program waits
 * for. */
static void enter_screen(Watch *watch)
{
        watch->terminal = ald_terminal_new();
        reset_screen(watch);
        ald_output_write(watch->output, ALD_TERMINAL_ENTER, strlen(ALD_TERMINAL_ENTER));
        watch->drawn_at = g_get_monotonic_time();
        draw_soon(watch);
}

static void leave_screen(Watch *watch)
{
        if (!watch->terminal)
                return;
        ald_output_write(watch->output, ALD_TERMINAL_LEAVE, strlen(ALD_TERMINAL_LEAVE));
        ald_output_finish(watch->output);
        g_clear_pointer(&watch->terminal, ald_terminal_free);
}

static void handle_key(Watch *watch, AldKey key)
{
        unsigned *first = &watch->view.first, page = MAX(watch->view.page, 1);

        switch (key) {
        case ALD_KEY_QUIT:
                ald_session_exit(&watch->session, ALD_EXIT_OK);
                break;
        case ALD_KEY_REDRAW:
                reset_screen(watch);
                break;
        case ALD_KEY_DEVICES:
                watch->view.devices = !watch->view.devices;
                *first = 0;
                break;
        case ALD_KEY_UP:
                *first -= MIN(*first, 1);
                break;
        case ALD_KEY_DOWN:
                *first += *first < UINT_MAX;
                break;
        case ALD_KEY_PAGE_UP:
                *first -= MIN(*first, page);
                break;
        case ALD_KEY_PAGE_DOWN:
                *first += MIN(page, UINT_MAX - *first);
                break;
        case ALD_KEY_HOME:
                *first = 0;
                break;
        case ALD_KEY_END:
                *first = UINT_MAX;
                break;
        default:
                break;
        }
}

static gboolean on_keys(int fd, GIOCondition condition, void *userdata)
{
        Watch *watch = userdata;
        ssize_t n = read(fd, watch->pending + watch->n_pending, KEYS_MAX - watch->n_pending);
        size_t at = 0;

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return G_SOURCE_CONTINUE;
        if (n <= 0) {
                ald_session_exit(&watch->session, ALD_EXIT_OK);
                return G_SOURCE_REMOVE;
        }
        watch->n_pending += (size_t) n;
        while (at < watch->n_pending) {
                AldKey key;
                size_t used = ald_terminal_parse_key(watch->pending + at, watch->n_pending - at, &key);

                if (used == 0)
                        break;
                handle_key(watch, key);
                at += used;
        }
        watch->n_pending -= at;
        memmove(watch->pending, watch->pending + at, watch->n_pending);
        draw_frame(watch);
        return G_SOURCE_CONTINUE;
}

/* Handles Ctrl-Z: restores the terminal, and closes the connection while stopped. */
static void suspend(Watch *watch)
{
        int r;

        leave_screen(watch);
        ald_session_pause(&watch->session);
        (void) kill(getpid(), SIGSTOP);
        r = ald_session_resume(&watch->session);
        if (r != ALD_EXIT_OK)
                ald_session_exit(&watch->session, r);
        /* SIGCONT will enter the screen again. */
}

static void on_signal(int number, void *userdata)
{
        Watch *watch = userdata;

        switch (number) {
        case SIGWINCH:
                reset_screen(watch);
                draw_frame(watch);
                break;
        case SIGTSTP:
                suspend(watch);
                break;
        case SIGCONT: /* the terminal may have been changed after SIGSTOP */
                leave_screen(watch);
                enter_screen(watch);
                break;
        default:
                ald_session_exit(&watch->session, ALD_EXIT_OK);
        }
}

static int add_sources(Watch *watch)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT, 0 };
        int r;

        r = ald_signal_source_new(signals, on_signal, watch, &watch->signals);
        if (r >= 0)
                r = ald_output_new(STDOUT_FILENO, on_output, watch, &watch->output);
        if (r < 0)
                return r;
        ald_session_add_timer(&watch->session, TICK_MSEC, on_tick, watch);
        if (isatty(STDIN_FILENO)) {
                watch->keys = g_unix_fd_source_new(STDIN_FILENO, G_IO_IN);
                g_source_set_callback(watch->keys, G_SOURCE_FUNC(on_keys), watch, NULL);
                g_source_attach(watch->keys, NULL);
        }
        return 0;
}

static void watch_clear(Watch *watch)
{
        leave_screen(watch);
        ald_output_free(watch->output);
        ald_screen_free(watch->screen);
        ald_source_clear(&watch->frame);
        ald_source_clear(&watch->keys);
        ald_source_clear(&watch->signals);
        g_free(watch->problem);
        ald_session_close(&watch->session);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Watch, watch_clear)

/* Shows the cluster on the terminal until the user or a signal ends it, and then restores the terminal. */
static int run_watch(const AldCtl *ctl)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .refused = on_refused
        };
        g_auto(Watch) watch = { .session = ALD_STATE_SESSION_INIT };
        AldStyleInfo info = ald_style_info();
        int r;

        if (!ald_terminal_is_capable()) {
                ald_print_error(
                        "watch needs a terminal; use --once to print one snapshot, or monitor to print "
                        "a line for each update");
                return ALD_EXIT_USAGE;
        }
        (void) signal(SIGPIPE, SIG_IGN);
        watch.view.ctl = ctl;
        watch.session.with_topology = true;
        watch.problem = g_strdup("Waiting for the state service");
        r = ald_session_open(&watch.session, ctl, true, &handler, &watch);
        if (r != ALD_EXIT_OK)
                return r;
        r = add_sources(&watch);
        if (r >= 0) {
                watch.screen = ald_screen_new(info.colours, info.utf8);
                ald_model_watch(watch.session.model, on_changed, &watch);
                enter_screen(&watch);
                r = ald_session_run(&watch.session);
        }
        leave_screen(&watch);
        if (r < 0)
                ald_print_error("Cannot watch: %s", strerror(-r));
        else if (r == ALD_EXIT_UNREACHABLE)
                ald_print_error("%s", watch.problem);
        return r < 0 ? ALD_EXIT_ERROR : r;
}

static int print_lines(const AldCtl *ctl, AldModel *model)
{
        AldStyleInfo info = ald_style_info();
        AldView view = { .model = model,
                .ctl = ctl,
                .now_usec = ald_now(),
                .columns = info.columns > 0 ? info.columns : 80 };
        g_autoptr(GPtrArray) lines = ald_view_lines(&view);
        g_autoptr(GString) out = g_string_new(NULL);
        AldCtl unpaged = *ctl;

        unpaged.pager = false;
        for (guint i = 0; i < lines->len; i++)
                g_string_append_printf(out, "%s\n", (const char *) lines->pdata[i]);
        return ald_print(&unpaged, &info, out->str);
}

static int print_once(const AldCtl *ctl)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        json_t *object;
        int r;

        session.with_topology = true;
        r = ald_session_load(&session, ctl, true);
        if (r != ALD_EXIT_OK)
                return r;
        if (!ctl->json)
                return print_lines(ctl, session.model);
        object = ald_model_to_json(session.model);
        r = ald_print_json(ctl, object);
        json_decref(object);
        return r;
}

/* Reports errors in the columns before the screen is entered. */
static int check_columns(const AldCtl *ctl)
{
        g_auto(AldColumnChoice) choice = {};

        if (ctl->json && (ctl->columns || ctl->sort)) {
                ald_print_error("watch --json shows all records; nodes --json takes --columns and --sort");
                return ALD_EXIT_USAGE;
        }
        return ald_node_table_choose(ctl, ALD_NODE_TABLE_LIVE, &choice);
}

int ald_verb_watch(const AldCtl *ctl)
{
        int r = check_columns(ctl);

        if (r >= 0)
                return r;
        if (ctl->once)
                return print_once(ctl);
        if (ctl->json) {
                ald_print_error("watch --json needs --once; monitor --json follows the changes");
                return ALD_EXIT_USAGE;
        }
        return run_watch(ctl);
}
