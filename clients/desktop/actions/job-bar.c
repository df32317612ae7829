/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "clients/common/format.h"
#include "clients/desktop/actions/job-bar.h"

#define ROWS_KEY "ald-job-rows"
#define HEIGHT_MAX 200 /* pixels; cuts the next row, so that the list visibly scrolls */

struct AldJobRow {
        GtkWidget *bar, *box, *step, *percent, *progress, *cancel;
        AldJobRowCanceled canceled;
        void *userdata;
};

GtkWidget *ald_job_bar_new(void)
{
        GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *scrolled = gtk_scrolled_window_new();
        GtkWidget *rows = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);

        gtk_widget_set_margin_top(rows, 9);
        gtk_widget_set_margin_bottom(rows, 9);
        gtk_widget_set_margin_start(rows, 12);
        gtk_widget_set_margin_end(rows, 12);
        gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
        gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scrolled), TRUE);
        gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scrolled), HEIGHT_MAX);
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), rows);
        gtk_box_append(GTK_BOX(bar), gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));
        gtk_box_append(GTK_BOX(bar), scrolled);
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Measurements in progress"), -1);
        g_object_set_data(G_OBJECT(bar), ROWS_KEY, rows);
        gtk_widget_set_visible(bar, FALSE);
        return bar;
}

static void on_cancel_clicked(AldJobRow *row)
{
        gtk_widget_set_sensitive(row->cancel, FALSE);
        row->canceled(row->userdata);
}

static GtkWidget *new_line(const char *text, const char *class)
{
        GtkWidget *label = gtk_label_new(text);

        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        if (class)
                gtk_widget_add_css_class(label, class);
        return label;
}

static GtkWidget *make_step(AldJobRow *row)
{
        GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

        row->step = new_line(_("starting"), "caption");
        row->percent = new_line(NULL, "caption");
        gtk_widget_set_hexpand(row->step, TRUE);
        gtk_widget_add_css_class(row->step, "dim-label");
        gtk_widget_add_css_class(row->percent, "dim-label");
        gtk_widget_add_css_class(row->percent, "numeric");
        gtk_box_append(GTK_BOX(line), row->step);
        gtk_box_append(GTK_BOX(line), row->percent);
        return line;
}

static GtkWidget *make_lines(AldJobRow *row, const char *subject)
{
        GtkWidget *lines = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);

        row->progress = gtk_progress_bar_new();
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(row->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, subject, -1);
        gtk_box_append(GTK_BOX(lines), new_line(subject, NULL));
        gtk_box_append(GTK_BOX(lines), make_step(row));
        gtk_box_append(GTK_BOX(lines), row->progress);
        gtk_widget_set_hexpand(lines, TRUE);
        gtk_widget_set_valign(lines, GTK_ALIGN_CENTER);
        return lines;
}

static GtkWidget *make_cancel(AldJobRow *row, const char *subject)
{
        g_autofree char *label = g_strdup_printf(_("Cancel the measurement of %s"), subject);

        row->cancel = gtk_button_new_with_label(_("Cancel"));
        gtk_widget_set_valign(row->cancel, GTK_ALIGN_CENTER);
        gtk_accessible_update_property(GTK_ACCESSIBLE(row->cancel), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
        g_signal_connect_swapped(row->cancel, "clicked", G_CALLBACK(on_cancel_clicked), row);
        return row->cancel;
}

AldJobRow *ald_job_row_new(GtkWidget *bar, const char *subject, AldJobRowCanceled canceled, void *userdata)
{
        AldJobRow *row = g_new0(AldJobRow, 1);

        row->bar = g_object_ref(bar);
        row->canceled = canceled;
        row->userdata = userdata;
        row->box = g_object_ref_sink(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12));
        gtk_box_append(GTK_BOX(row->box), make_lines(row, subject));
        gtk_box_append(GTK_BOX(row->box), make_cancel(row, subject));
        gtk_box_append(g_object_get_data(G_OBJECT(bar), ROWS_KEY), row->box);
        gtk_widget_set_visible(bar, TRUE);
        return row;
}

void ald_job_row_show(AldJobRow *row, const char *step, double progress)
{
        GtkProgressBar *bar = GTK_PROGRESS_BAR(row->progress);
        double part = CLAMP(progress, 0, 1);
        g_autofree char *percent = isnan(progress) ? NULL : ald_format_percent(floor(part * 100));

        gtk_label_set_text(GTK_LABEL(row->percent), percent ?: "");
        gtk_label_set_text(GTK_LABEL(row->step), step);
        gtk_widget_set_tooltip_text(row->step, step);
        if (isnan(progress))
                gtk_progress_bar_pulse(bar);
        else
                gtk_progress_bar_set_fraction(bar, part);
}

void ald_job_row_free(AldJobRow *row)
{
        GtkWidget *rows;

        if (!row)
                return;
        g_signal_handlers_disconnect_by_data(row->cancel, row);
        rows = gtk_widget_get_parent(row->box);
        if (rows) {
                gtk_box_remove(GTK_BOX(rows), row->box);
                gtk_widget_set_visible(row->bar, gtk_widget_get_first_child(rows) != NULL);
        }
        g_object_unref(row->box);
        g_object_unref(row->bar);
        g_free(row);
}
