/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clients/alidadectl/output.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/screen.h"
#include "clients/alidadectl/session.h"
#include "clients/alidadectl/terminal.h"
#include "clients/alidadectl/view.h"
#include "clients/alidadectl/watch.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define FRAME_USEC (USEC_PER_SEC / 4) /* at least between two pictures */
#define REFRESH_TICKS 10u             /* seconds between two looks at the findings */
#define KEYS_MAX 64

typedef struct Watch {
        AldSession session;
        AldView view; /* how far it is scrolled */
        AldTerminal *terminal;
        AldOutput *output;
        AldScreen *screen;
        sd_event_source *frame; /* armed while a picture is due */
        sd_event_source *tick;  /* every second, as ages grow */
        sd_event_source *keys;
        sd_event_source *signals[7];
        char pending[KEYS_MAX]; /* of a key that has not arrived in full */
        size_t n_pending;
        char *problem;
        uint64_t drawn_at; /* CLOCK_MONOTONIC */
        unsigned ticks;
        bool behind; /* the terminal did not take the last picture yet */
} Watch;

static void draw(Watch *watch)
{
        g_autoptr(GPtrArray) lines = NULL;
        g_autoptr(GString) out = NULL;

        watch->behind = ald_output_pending(watch->output) > 0;
        if (watch->behind)
                return;
        (void) sd_event_now(watch->session.event, CLOCK_MONOTONIC, &watch->drawn_at);
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

static int on_frame(sd_event_source *source, uint64_t usec, void *userdata)
{
        Watch *watch = userdata;

        draw(watch);
        return 0;
}

/* Draws soon, but not sooner than a frame after the last time. */
static void draw_soon(Watch *watch)
{
        int enabled = SD_EVENT_OFF;

        if (!watch->frame || sd_event_source_get_enabled(watch->frame, &enabled) < 0 ||
                enabled != SD_EVENT_OFF)
                return;
        (void) sd_event_source_set_time(watch->frame, watch->drawn_at + FRAME_USEC);
        (void) sd_event_source_set_enabled(watch->frame, SD_EVENT_ONESHOT);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
        Watch *watch = userdata;

        (void) sd_event_source_set_time_relative(source, USEC_PER_SEC);
        if (++watch->ticks % REFRESH_TICKS == 0 && watch->session.sync)
                ald_sync_refresh(watch->session.sync);
        draw_soon(watch);
        return 0;
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

static void on_synced(AldSync *sync, void *userdata)
{
        set_problem(userdata, NULL);
        draw(userdata);
}

static void on_lost(AldSync *sync, const sd_bus_error *error, void *userdata)
{
        Watch *watch = userdata;
        const char *why = error ? error->message : NULL;

        set_problem(watch, g_strdup_printf("Waiting for the state service%s%s", why ? ": " : ": it went away",
                                   why ? why : ""));
        if (error && sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED))
                (void) sd_event_exit(watch->session.event, ALD_EXIT_UNREACHABLE);
}

static void on_refused(AldSync *sync, const sd_bus_error *error, void *userdata)
{
        if (ald_sync_in_step(sync))
                set_problem(userdata,
                        error ? g_strdup_printf("Not all changes are shown: %s", error->message) : NULL);
}

/* Our terminal went, or it takes pictures again. */
static void on_output(AldOutput *output, int r, void *userdata)
{
        Watch *watch = userdata;

        if (r < 0)
                (void) sd_event_exit(watch->session.event, ALD_EXIT_OK);
        else if (watch->behind)
                draw_soon(watch);
}

/* Forgets what the terminal shows, and asks anew how large it is. */
static void forget_screen(Watch *watch)
{
        unsigned columns, rows;

        ald_terminal_size(&columns, &rows);
        ald_screen_resize(watch->screen, columns, rows);
}

/* The first picture comes once all is read, or says after a moment what it waits for. */
static void enter_screen(Watch *watch)
{
        watch->terminal = ald_terminal_new();
        forget_screen(watch);
        ald_output_write(watch->output, ALD_TERMINAL_ENTER, strlen(ALD_TERMINAL_ENTER));
        (void) sd_event_now(watch->session.event, CLOCK_MONOTONIC, &watch->drawn_at);
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

static void scroll(Watch *watch, AldKey key)
{
        unsigned *first = &watch->view.first, page = MAX(watch->view.page, 1);

        switch (key) {
        case ALD_KEY_UP:
                *first -= MIN(*first, 1);
                break;
        case ALD_KEY_DOWN:
                *first += 1;
                break;
        case ALD_KEY_PAGE_UP:
                *first -= MIN(*first, page);
                break;
        case ALD_KEY_PAGE_DOWN:
                *first += page;
                break;
        case ALD_KEY_HOME:
                *first = 0;
                break;
        case ALD_KEY_END:
                *first = ALD_MODEL_ENTITIES_MAX;
                break;
        default:
                break;
        }
}

static void handle_key(Watch *watch, AldKey key)
{
        if (key == ALD_KEY_QUIT)
                (void) sd_event_exit(watch->session.event, ALD_EXIT_OK);
        else if (key == ALD_KEY_REDRAW)
                forget_screen(watch);
        else
                scroll(watch, key);
}

static int on_keys(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        Watch *watch = userdata;
        ssize_t n = read(fd, watch->pending + watch->n_pending, KEYS_MAX - watch->n_pending);
        size_t at = 0;

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return 0;
        if (n <= 0)
                return sd_event_exit(watch->session.event, ALD_EXIT_OK);
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
        draw(watch);
        return 0;
}

static int on_resize(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
        Watch *watch = userdata;

        forget_screen(watch);
        draw(watch);
        return 0;
}

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
        Watch *watch = userdata;

        return sd_event_exit(watch->session.event, ALD_EXIT_OK);
}

/* Ctrl-Z: gives the terminal back, and leaves the bus while nobody looks. */
static int on_suspend(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
        Watch *watch = userdata;
        int r;

        leave_screen(watch);
        ald_session_pause(&watch->session);
        (void) kill(getpid(), SIGSTOP);
        r = ald_session_resume(&watch->session);
        if (r != ALD_EXIT_OK)
                return sd_event_exit(watch->session.event, r);
        return 0; /* SIGCONT is on its way to on_continue() */
}

/* Who stopped us another way may have changed the terminal meanwhile. */
static int on_continue(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
        Watch *watch = userdata;

        leave_screen(watch);
        enter_screen(watch);
        return 0;
}

static int add_signals(Watch *watch)
{
        static const struct {
                int signal;
                sd_event_signal_handler_t handler;
        } handlers[] = {
                { SIGINT, on_end },
                { SIGTERM, on_end },
                { SIGHUP, on_end },
                { SIGQUIT, on_end },
                { SIGWINCH, on_resize },
                { SIGTSTP, on_suspend },
                { SIGCONT, on_continue },
        };
        sigset_t set;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < G_N_ELEMENTS(handlers); i++)
                (void) sigaddset(&set, handlers[i].signal);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        for (size_t i = 0; i < G_N_ELEMENTS(handlers); i++) {
                int r = sd_event_add_signal(watch->session.event, &watch->signals[i], handlers[i].signal,
                        handlers[i].handler, watch);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_sources(Watch *watch)
{
        sd_event *event = watch->session.event;
        int r;

        r = add_signals(watch);
        if (r >= 0)
                r = ald_output_new(event, STDOUT_FILENO, on_output, watch, &watch->output);
        if (r >= 0)
                r = sd_event_add_time(event, &watch->frame, CLOCK_MONOTONIC, 0, 1, on_frame, watch);
        if (r >= 0)
                r = sd_event_source_set_enabled(watch->frame, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(
                        event, &watch->tick, CLOCK_MONOTONIC, USEC_PER_SEC, 0, on_tick, watch);
        if (r >= 0)
                r = sd_event_source_set_enabled(watch->tick, SD_EVENT_ON);
        if (r >= 0 && isatty(STDIN_FILENO))
                r = sd_event_add_io(event, &watch->keys, STDIN_FILENO, EPOLLIN, on_keys, watch);
        return r;
}

static void watch_clear(Watch *watch)
{
        leave_screen(watch);
        ald_output_free(watch->output);
        ald_screen_free(watch->screen);
        sd_event_source_disable_unref(watch->frame);
        sd_event_source_disable_unref(watch->tick);
        sd_event_source_disable_unref(watch->keys);
        for (size_t i = 0; i < G_N_ELEMENTS(watch->signals); i++)
                sd_event_source_disable_unref(watch->signals[i]);
        g_free(watch->problem);
        ald_session_close(&watch->session);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Watch, watch_clear)

int ald_watch_run(const AldCtl *ctl)
{
        static const AldSyncHandler handler = { .synced = on_synced, .lost = on_lost, .refused = on_refused };
        g_auto(Watch) watch = { .session = ALD_SESSION_INIT };
        AldStyleInfo info = ald_style_info();
        int r;

        if (!ald_terminal_is_capable()) {
                ald_complain(
                        "watch needs a terminal; --once prints one picture, monitor a line for each update");
                return ALD_EXIT_USAGE;
        }
        (void) signal(SIGPIPE, SIG_IGN);
        watch.problem = g_strdup("Waiting for the state service");
        r = ald_session_open(&watch.session, ctl, true, &handler, &watch);
        if (r != ALD_EXIT_OK)
                return r;
        r = add_sources(&watch);
        if (r >= 0) {
                watch.screen = ald_screen_new(info.colours, info.utf8);
                ald_model_watch(watch.session.model, on_changed, &watch);
                enter_screen(&watch);
                r = sd_event_loop(watch.session.event);
        }
        leave_screen(&watch);
        if (r < 0)
                ald_complain("Cannot watch: %s", strerror(-r));
        else if (r == ALD_EXIT_UNREACHABLE)
                ald_complain("%s", watch.problem);
        return r < 0 ? ALD_EXIT_ERROR : r;
}
