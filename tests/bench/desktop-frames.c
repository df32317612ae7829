/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The desktop program itself, watched from inside: what its frames and the rounds of its main loop take, and
 * whether anything on the canvas moves. Commands on standard input, one a line, each answered by a line of
 * JSON: "page NAME", "measure" (since the last one), "hide", "minimize". "first NAME" shows a page, and
 * prints "page-frame" after its first frame. ALIDADE_BENCH_NODES: with so many nodes, "nodes-frame" is
 * printed after the first frame that shows them, after "snapshot".
 */
#include <gdk/x11/gdkx.h>
#include <glib-unix.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/desktop/application.h"
#include "clients/desktop/window.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/desktop-moment.h"

typedef struct Watch {
        AldDesktopWindow *window;
        guint n_nodes; /* to wait for; 0: not */
        bool nodes_shown, page_shown, synced;
        Moment begun; /* when the loop woke up last; only its processor time once the snapshot is there */
        double frame_begun;
        GArray *frames, *rounds; /* of double, µs of processor time */
        GArray *places;          /* of graphene_rect_t: the cards and labels, at the first frame */
        double moved;
        guint other; /* frames with another number of cards and labels */
} Watch;

/* GLib passes nothing to the function that waits. */
static Watch watch;

/* The main loop: a round is everything between two waits. */

static gint on_poll(GPollFD *fds, guint n, gint timeout)
{
        double took = moment_cpu() - watch.begun.cpu;
        gint r;

        g_array_append_val(watch.rounds, took);
        r = poll((struct pollfd *) fds, n, timeout);
        if (watch.synced)
                watch.begun.cpu = moment_cpu();
        else
                watch.begun = moment_now();
        return r;
}

/* What is on the canvas. */

static void add_place(GtkWidget *widget)
{
        graphene_rect_t place;

        if (gtk_widget_compute_bounds(widget, GTK_WIDGET(watch.window), &place))
                g_array_append_val(watch.places, place);
}

static bool is_placed(GtkWidget *widget)
{
        return strcmp(G_OBJECT_TYPE_NAME(widget), "AldNodeCard") == 0 ||
               gtk_widget_has_css_class(widget, "edge-label");
}

static void add_places(GtkWidget *widget)
{
        if (!gtk_widget_get_mapped(widget))
                return;
        if (is_placed(widget)) {
                add_place(widget);
                return;
        }
        for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
                child = gtk_widget_get_next_sibling(child))
                add_places(child);
}

static double distance(const graphene_rect_t *a, const graphene_rect_t *b)
{
        double x = fmax(fabs((double) a->origin.x - b->origin.x),
                fabs((double) (a->origin.x + a->size.width) - (b->origin.x + b->size.width)));
        double y = fmax(fabs((double) a->origin.y - b->origin.y),
                fabs((double) (a->origin.y + a->size.height) - (b->origin.y + b->size.height)));

        return fmax(x, y);
}

static void compare_places(void)
{
        g_autoptr(GArray) first = watch.places;

        watch.places = g_array_new(FALSE, FALSE, sizeof(graphene_rect_t));
        add_places(GTK_WIDGET(watch.window));
        if (!first || first->len == 0)
                return;
        for (guint i = 0; i < first->len && first->len == watch.places->len; i++)
                watch.moved = fmax(watch.moved, distance(&g_array_index(first, graphene_rect_t, i),
                                                        &g_array_index(watch.places, graphene_rect_t, i)));
        watch.other += first->len != watch.places->len;
        g_array_unref(watch.places);
        watch.places = g_steal_pointer(&first);
}

/* Frames. */

static void on_before_paint(GdkFrameClock *clock)
{
        watch.frame_begun = moment_cpu();
}

static void on_after_paint(GdkFrameClock *clock)
{
        double now = moment_cpu(), took = now - watch.frame_begun;

        g_array_append_val(watch.frames, took);
        if (watch.nodes_shown || watch.page_shown) {
                Moment moment = moment_now();

                moment_print(watch.nodes_shown ? "nodes-frame" : "page-frame", &moment);
                watch.nodes_shown = watch.page_shown = false;
                watch.n_nodes = 0;
        }
        if (watch.places) {
                compare_places();
                /* Not part of the round. */
                watch.begun.cpu += moment_cpu() - now;
        }
}

static void on_updated(AldLiveCluster *cluster, guint parts)
{
        if (watch.n_nodes > 0 && g_list_model_get_n_items(ald_live_cluster_nodes(cluster)) == watch.n_nodes)
                watch.nodes_shown = true;
}

/* In the round that has read the last reply. */
static void on_problem(AldLiveCluster *cluster)
{
        if (ald_live_cluster_problem(cluster) || watch.synced)
                return;
        watch.synced = true;
        moment_print("snapshot", &watch.begun);
}

static void on_realize(GtkWidget *window)
{
        GdkFrameClock *clock = gtk_widget_get_frame_clock(window);

        g_signal_connect(clock, "before-paint", G_CALLBACK(on_before_paint), NULL);
        g_signal_connect(clock, "after-paint", G_CALLBACK(on_after_paint), NULL);
}

static void on_window(GtkApplication *application, GtkWindow *window)
{
        if (!ALD_IS_DESKTOP_WINDOW(window))
                return;
        watch.window = ALD_DESKTOP_WINDOW(window);
        moment_print_first_frame(GTK_WIDGET(window));
        g_signal_connect_after(window, "realize", G_CALLBACK(on_realize), NULL);
}

/* Its cluster is known only once the window is complete. */
static void on_activate(GApplication *application)
{
        AldLiveCluster *cluster = ald_desktop_window_cluster(watch.window);

        g_signal_connect(cluster, "updated", G_CALLBACK(on_updated), NULL);
        g_signal_connect(cluster, "notify::problem", G_CALLBACK(on_problem), NULL);
}

/* Commands. */

static void print_figures(const char *name, GArray *figures)
{
        double *data = (double *) (void *) figures->data;
        unsigned n = figures->len;

        printf("\"%s\": %u, ", name, n);
        if (n > 0)
                printf("\"%s_p50\": %.0f, \"%s_p99\": %.0f, \"%s_p999\": %.0f, \"%s_max\": %.0f, ", name,
                        quantile(data, n, 0.5), name, quantile(data, n, 0.99), name, quantile(data, n, 0.999),
                        name, quantile(data, n, 1));
        g_array_set_size(figures, 0);
}

static void measure(void)
{
        printf("{\"event\": \"measure\", ");
        print_figures("frames", watch.frames);
        print_figures("rounds", watch.rounds);
        printf("\"moved_px\": %.2f, \"other_labels\": %u, \"placed\": %u}\n", watch.moved, watch.other,
                watch.places ? watch.places->len : 0);
        g_clear_pointer(&watch.places, g_array_unref);
        watch.places = g_array_new(FALSE, FALSE, sizeof(graphene_rect_t));
        watch.moved = 0;
        watch.other = 0;
}

/* As a window manager does. */
static void minimize(void)
{
        GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(watch.window));

        G_GNUC_BEGIN_IGNORE_DEPRECATIONS
        XUnmapWindow(gdk_x11_display_get_xdisplay(gdk_surface_get_display(surface)),
                gdk_x11_surface_get_xid(surface));
        G_GNUC_END_IGNORE_DEPRECATIONS
}

static void show_first(const char *page)
{
        Moment moment = moment_now();

        moment_print("page", &moment);
        ald_desktop_window_show_page(watch.window, page);
        watch.page_shown = true;
}

static gboolean on_command(gint fd, GIOCondition condition, void *userdata)
{
        char line[64];
        ssize_t n = read(fd, line, sizeof line - 1);

        if (n <= 1) {
                g_application_quit(userdata);
                return G_SOURCE_REMOVE;
        }
        line[n - 1] = '\0';
        if (strcmp(line, "measure") == 0)
                measure();
        else if (g_str_has_prefix(line, "first "))
                show_first(line + 6);
        else {
                if (g_str_has_prefix(line, "page "))
                        ald_desktop_window_show_page(watch.window, line + 5);
                else if (strcmp(line, "hide") == 0)
                        gtk_widget_set_visible(GTK_WIDGET(watch.window), FALSE);
                else if (strcmp(line, "minimize") == 0)
                        minimize();
                printf("{\"event\": \"done\"}\n");
        }
        fflush(stdout);
        return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
        g_autoptr(AldDesktopApplication) application = NULL;
        const char *nodes = getenv("ALIDADE_BENCH_NODES");

        watch.n_nodes = nodes ? (guint) atoi(nodes) : 0;
        watch.frames = g_array_new(FALSE, FALSE, sizeof(double));
        watch.rounds = g_array_new(FALSE, FALSE, sizeof(double));
        g_main_context_set_poll_func(NULL, on_poll);
        application = ald_desktop_application_new();
        g_signal_connect(application, "window-added", G_CALLBACK(on_window), NULL);
        g_signal_connect_after(application, "activate", G_CALLBACK(on_activate), NULL);
        g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP, on_command, application);
        return g_application_run(G_APPLICATION(application), argc, argv);
}
