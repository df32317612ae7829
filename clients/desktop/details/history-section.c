/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "clients/common/series-call.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/history-series.h"
#include "clients/desktop/details/rows/history-row.h"
#include "clients/desktop/details/sections.h"
#include "clients/desktop/live/bus-error-words.h"
#include "common/bus-names.h"

#define REFRESH_USEC (60 * G_USEC_PER_SEC)
#define HOUR_USEC (G_GUINT64_CONSTANT(3600) * G_USEC_PER_SEC)
#define CHOSEN_KEY "ald-history-period" /* set on the application, to keep the choice */
#define INDEX_KEY "ald-period-index"    /* set on a button */

#define ALD_TYPE_HISTORY_SECTION (ald_history_section_get_type())
G_DECLARE_FINAL_TYPE(AldHistorySection, ald_history_section, ALD, HISTORY_SECTION, AldDetailsSection)

/* Shows figures of the last hour or day. They are read when the section is shown, and then each minute. */
struct _AldHistorySection {
        AldDetailsSection parent;
        size_t period;
        GPtrArray *shown;   /* AldHistorySeries as last read; NULL: none yet */
        GPtrArray *reading; /* AldHistorySeries that are being read, without points; NULL: none */
        AldSeriesReading query;
        AldHistoryCall *call;
        AldLiveHistory *history;
        char *failure;  /* why no figures are shown, in words */
        gint64 read_at; /* CLOCK_MONOTONIC in µs; 0: read at the next update */
        bool is_about_pair, refused,
                outdated; /* refused: some series are not kept; outdated: the rows do not show `shown` yet */
};

G_DEFINE_FINAL_TYPE(AldHistorySection, ald_history_section, ALD_TYPE_DETAILS_SECTION)

static const struct {
        const char *title;
        guint64 usec;
        guint n_points;
        const char *nothing;
} periods[] = {
        { N_("Hour"), HOUR_USEC, 60, N_("Nothing was recorded in the last hour.") },
        { N_("Day"), 24 * HOUR_USEC, 96, N_("Nothing was recorded in the last day.") },
};

static void end_reading(AldHistorySection *self)
{
        g_clear_pointer(&self->query.series, g_ptr_array_unref);
        g_clear_pointer(&self->reading, g_ptr_array_unref);
}

static void stop_reading(AldHistorySection *self)
{
        g_clear_pointer(&self->call, ald_history_call_free);
        if (self->reading)
                self->read_at = 0;
        end_reading(self);
}

static void request_refresh(AldHistorySection *self)
{
        self->outdated = true;
        gtk_widget_activate_action(GTK_WIDGET(self), "details.refresh", NULL);
}

static void show_failure(AldHistorySection *self, const sd_bus_error *error)
{
        bool lost = sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED);
        g_autofree char *why = lost ? NULL : ald_bus_error_words(error, ALD_HISTORY_UNIT);

        end_reading(self);
        if (lost) {
                self->read_at = 0;
                return;
        }
        g_clear_pointer(&self->shown, g_ptr_array_unref);
        g_free(self->failure);
        self->failure = g_strdup_printf(_("The history cannot be read: %s"), why);
        request_refresh(self);
}

static void store_point(AldHistorySeries *series, const AldHistoryPoint *point, guint64 from, guint64 step)
{
        guint64 i = (point->time_usec - from) / step;
        double scale = series->recorded->scale;

        if (point->time_usec >= from && i < series->points->len)
                g_array_index(series->points, AldSparkPoint, i) = (AldSparkPoint){ point->min * scale,
                        point->mean * scale, point->max * scale };
}

/* Stores the points that were read. Others, and those without values, remain unknown. */
static void store_points(AldHistorySection *self, AldHistorySeries *series)
{
        const AldSparkPoint unknown = ALD_SPARK_POINT_INIT;
        g_autoptr(GArray) read = g_steal_pointer(&series->recorded->points);

        series->points = g_array_sized_new(FALSE, FALSE, sizeof(AldSparkPoint), self->query.points);
        for (guint i = 0; i < self->query.points; i++)
                g_array_append_val(series->points, unknown);
        for (guint i = 0; i < read->len; i++)
                store_point(series, &g_array_index(read, AldHistoryPoint, i), self->query.from_usec,
                        periods[self->period].usec / self->query.points);
}

static void keep_result(AldHistorySection *self)
{
        g_clear_pointer(&self->shown, g_ptr_array_unref);
        g_clear_pointer(&self->failure, g_free);
        self->refused = false;
        for (guint i = 0; i < self->reading->len; i++) {
                AldHistorySeries *series = self->reading->pdata[i];

                if (series->recorded->points)
                        store_points(self, series);
                else
                        self->refused = true;
        }
        self->shown = g_steal_pointer(&self->reading);
        end_reading(self);
        self->outdated = true;
}

static void on_points(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

static void read_next(AldHistorySection *self)
{
        if (ald_series_reading_is_complete(&self->query)) {
                keep_result(self);
                request_refresh(self);
                return;
        }
        self->call = ald_history_call_new(
                self->history, ald_series_reading_make, &self->query, on_points, self);
        if (!self->call)
                stop_reading(self);
}

static void on_points(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        static const sd_bus_error unreadable = SD_BUS_ERROR_MAKE_CONST(
                SD_BUS_ERROR_INCONSISTENT_MESSAGE, "the reply cannot be read");
        AldHistorySection *self = userdata;

        self->call = NULL;
        if (ald_series_reading_take(&self->query, reply, error) < 0)
                show_failure(self, error ?: &unreadable);
        else
                read_next(self);
}

static void read_if_due(AldHistorySection *self, const AldDetailsSubject *subject)
{
        gint64 now = g_get_monotonic_time();
        guint64 to = (guint64) g_get_real_time();

        if (self->reading || !ald_live_cluster_is_wanted(subject->cluster) ||
                (self->read_at != 0 && now - self->read_at < REFRESH_USEC))
                return;
        self->read_at = now;
        self->history = ald_live_cluster_history(subject->cluster);
        self->is_about_pair = subject->b != NULL;
        self->reading = ald_history_series_of(subject);
        self->query = (AldSeriesReading){ .series = g_ptr_array_new(),
                .from_usec = to - periods[self->period].usec,
                .to_usec = to,
                .points = periods[self->period].n_points };
        for (guint i = 0; i < self->reading->len; i++)
                g_ptr_array_add(self->query.series, ((AldHistorySeries *) self->reading->pdata[i])->recorded);
        if (self->reading->len > 0)
                read_next(self);
        else
                keep_result(self);
}

static void add_series_row(AldKeyedRows *rows, const AldHistorySeries *series)
{
        const AldShownSeries *recorded = series->recorded;
        g_autofree char *key = g_strdup_printf("%s %s %s", recorded->node, recorded->key, recorded->field);
        const AldHistoryCurve curve = { .title = series->title,
                .detail = series->detail,
                .points = (const AldSparkPoint *) (const void *) series->points->data,
                .n = series->points->len,
                .is_share = ald_shown_series_is_share(recorded),
                .unit = recorded->number->unit };

        ald_history_row_show(ALD_HISTORY_ROW(ald_keyed_rows_next(rows, key, ald_history_row_new)), &curve);
}

/* Returns the reason why there are no rows, or NULL. */
static const char *describe_absence(const AldHistorySection *self)
{
        if (self->failure)
                return self->failure;
        if (!self->shown || self->shown->len == 0)
                return NULL;
        if (!self->refused)
                return _(periods[self->period].nothing);
        return self->is_about_pair ? _("No history of these links is kept.")
                                   : _("No history of this node is kept.");
}

static void show_rows(AldHistorySection *self)
{
        AldKeyedRows *rows = ald_details_section_rows(ALD_DETAILS_SECTION(self));

        ald_keyed_rows_begin(rows);
        for (guint i = 0; self->shown && i < self->shown->len; i++)
                if (ald_history_series_is_known(self->shown->pdata[i]))
                        add_series_row(rows, self->shown->pdata[i]);
        ald_keyed_rows_end(rows);
        ald_details_section_set_note(
                ALD_DETAILS_SECTION(self), ald_keyed_rows_count(rows) > 0 ? NULL : describe_absence(self));
}

static void update_history(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldHistorySection *self = ALD_HISTORY_SECTION(section);

        read_if_due(self, subject);
        if (self->outdated)
                show_rows(self);
        self->outdated = false;
}

/* The period is the one that was last chosen in any window. */

static void on_period_toggled(GtkToggleButton *button, AldHistorySection *self)
{
        GApplication *application = g_application_get_default();
        gpointer chosen = g_object_get_data(G_OBJECT(button), INDEX_KEY);

        if (!gtk_toggle_button_get_active(button) || self->period == GPOINTER_TO_SIZE(chosen))
                return;
        if (application)
                g_object_set_data(G_OBJECT(application), CHOSEN_KEY, chosen);
        stop_reading(self);
        self->period = GPOINTER_TO_SIZE(chosen);
        self->read_at = 0;
        gtk_widget_activate_action(GTK_WIDGET(self), "details.refresh", NULL);
}

static GtkWidget *make_period_buttons(AldHistorySection *self)
{
        GtkWidget *box = g_object_new(GTK_TYPE_BOX, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL),
                  *first = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(periods); i++) {
                GtkWidget *button = gtk_toggle_button_new_with_label(_(periods[i].title));

                g_object_set_data(G_OBJECT(button), INDEX_KEY, GSIZE_TO_POINTER(i));
                gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(button), GTK_TOGGLE_BUTTON(first));
                gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), i == self->period);
                g_signal_connect(button, "toggled", G_CALLBACK(on_period_toggled), self);
                gtk_box_append(GTK_BOX(box), button);
                first = first ?: button;
        }
        gtk_widget_add_css_class(box, "linked");
        gtk_accessible_update_property(GTK_ACCESSIBLE(box), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Period"), -1);
        return box;
}

static void ald_history_section_unmap(GtkWidget *widget)
{
        stop_reading(ALD_HISTORY_SECTION(widget));
        GTK_WIDGET_CLASS(ald_history_section_parent_class)->unmap(widget);
}

static void ald_history_section_dispose(GObject *object)
{
        stop_reading(ALD_HISTORY_SECTION(object));
        G_OBJECT_CLASS(ald_history_section_parent_class)->dispose(object);
}

static void ald_history_section_finalize(GObject *object)
{
        AldHistorySection *self = ALD_HISTORY_SECTION(object);

        g_clear_pointer(&self->shown, g_ptr_array_unref);
        g_free(self->failure);
        G_OBJECT_CLASS(ald_history_section_parent_class)->finalize(object);
}

static void ald_history_section_class_init(AldHistorySectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_history_section_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_history_section_finalize;
        GTK_WIDGET_CLASS(class)->unmap = ald_history_section_unmap;
        section_class->parts = ALD_LIVE_NODE_SET | ALD_DETAILS_TICK;
        section_class->update = update_history;
}

static void ald_history_section_init(AldHistorySection *self)
{
        GApplication *application = g_application_get_default();

        if (application)
                self->period = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(application), CHOSEN_KEY));
        ald_details_section_set_title(ALD_DETAILS_SECTION(self), _("History"));
        ald_details_section_add_suffix(ALD_DETAILS_SECTION(self), make_period_buttons(self));
}

GtkWidget *ald_history_section_new(void)
{
        return g_object_new(ALD_TYPE_HISTORY_SECTION, NULL);
}
