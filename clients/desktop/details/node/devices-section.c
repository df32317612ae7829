/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/common/columns/device-columns.h"
#include "clients/common/columns/holder-columns.h"
#include "clients/common/columns/node-facts.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/rows/fact-row.h"
#include "clients/desktop/details/rows/figure-row.h"
#include "clients/desktop/details/rows/lazy-expander.h"
#include "clients/desktop/details/sections.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

#define ALD_TYPE_DEVICES_SECTION (ald_devices_section_get_type())
G_DECLARE_FINAL_TYPE(AldDevicesSection, ald_devices_section, ALD, DEVICES_SECTION, AldDetailsSection)

struct _AldDevicesSection {
        AldDetailsSection parent;
};

G_DEFINE_FINAL_TYPE(AldDevicesSection, ald_devices_section, ALD_TYPE_DETAILS_SECTION)

/* Returns a text like "82.6 TFLOPS FP16, 1.01 TB/s memory bandwidth, measured 5 min ago", or the reason why
 * there are no figures. */
static char *describe_measurement(
        const AldEntity *node, const AldNodeDevice *device, double now, AldTone *ret_tone)
{
        const AldComputeDevice *compute = device->compute;
        GString *text = g_string_new(NULL);

        *ret_tone = ALD_TONE_PLAIN;
        if (compute) {
                ald_parts_add(text, "%s", ald_compute_glance(compute));
                ald_parts_add(text, "%s", ald_node_device_doubts(device));
                if (compute->measured_usec != ALD_ABSENT_UINT64)
                        ald_parts_add(text, _("measured %s"),
                                ald_format_age(ald_uint64_to_double(compute->measured_usec), now));
                ald_parts_add_text(text, _("waiting: %s"), compute->waiting_reason);
                ald_parts_add_text(text, _("last attempt failed: %s"), compute->failure);
                if (compute->failure)
                        *ret_tone = ALD_TONE_WARNING;
        }
        if (text->len == 0) {
                g_string_append(text, _("not measured"));
                ald_parts_add(text, "%s", ald_node_device_remedy(node, device));
        }
        return g_string_free(text, FALSE);
}

static AldFactRow *add_fact_row(AldKeyedRows *rows, const char *label, char *text, AldTone tone)
{
        g_autofree char *owned = text;
        AldFactRow *row = ALD_FACT_ROW(ald_keyed_rows_next(rows, label, ald_fact_row_new));
        bool absent = !owned || g_str_equal(owned, ALD_ABSENT_TEXT);

        ald_fact_row_set_compact(row, FALSE);
        ald_fact_row_show(row, label, absent ? NULL : owned, tone, NULL);
        return row;
}

/* Returns why figures of devices are absent, as the node reports it. Safe text, or NULL. */
static char *describe_absence(const AldEntity *node)
{
        const AldSystem *system = ald_entity_as(node, SYSTEM, AldSystem);
        const char *const *reasons = system ? system->absent_reasons : NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        for (; reasons && *reasons; reasons++) {
                g_autofree char *safe = ald_text_safe(*reasons);

                if (g_str_has_prefix(safe, "Devices: "))
                        g_string_append_printf(
                                text, "%s%s", text->len > 0 ? "\n" : "", safe + strlen("Devices: "));
        }
        return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

/* Adds the present activity of the device. That of a processor is reported for the machine instead. */
static void add_telemetry_row(AldKeyedRows *rows, const AldDetailsSubject *subject, const AldDeviceRow *row)
{
        static const AldDeviceColumn shown[] = { ALD_DEVICE_COLUMN_LOAD, ALD_DEVICE_COLUMN_TEMPERATURE,
                ALD_DEVICE_COLUMN_POWER, ALD_DEVICE_COLUMN_CLOCK };
        g_autofree char *processes = ald_device_row_processes(row);
        bool unexplained = isnan(row->figures.usage) && !ald_node_device_is_asleep(&row->device);
        g_autofree char *absence = unexplained ? describe_absence(subject->node_a) : NULL;
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        AldFigureSet figures = { .title = subject->outdated ? _("Last Known") : _("Now"),
                .detail = processes,
                .state = row->device.system ? NULL : _("not reported"),
                .tone = ALD_TONE_FAINT,
                .remedy = absence };

        for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
                const AldListColumn *column = &ald_device_columns[shown[i]];

                g_ptr_array_add(texts, ald_list_column_text(column, row));
                figures.figures[figures.n++] = (AldFigure){ .label = _(column->title),
                        .text = texts->pdata[i] };
        }
        ald_figure_row_show(ALD_FIGURE_ROW(ald_keyed_rows_next(rows, "now", ald_figure_row_new)), &figures);
}

/* Adds what else the driver reports. */
static void add_live_rows(AldKeyedRows *rows, const AldDeviceRow *row)
{
        static const AldDeviceColumn shown[] = { ALD_DEVICE_COLUMN_THROTTLED, ALD_DEVICE_COLUMN_FAN,
                ALD_DEVICE_COLUMN_MEMORY_TEMPERATURE, ALD_DEVICE_COLUMN_MEMORY_CLOCK,
                ALD_DEVICE_COLUMN_ENCODER, ALD_DEVICE_COLUMN_DECODER };

        for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
                const AldListColumn *column = &ald_device_columns[shown[i]];
                g_autofree char *text = ald_list_column_text(column, row);

                if (strcmp(text, ALD_ABSENT_TEXT) != 0)
                        add_fact_row(rows, _(column->title), g_steal_pointer(&text),
                                column->tone ? column->tone(row) : ALD_TONE_PLAIN);
        }
}

/* Adds those who hold the device, as far as the node says. */
static void add_holder_rows(AldKeyedRows *rows, const AldDeviceRow *row)
{
        static const AldHolderColumn shown[] = { ALD_HOLDER_COLUMN_MEMORY, ALD_HOLDER_COLUMN_LOAD };
        g_autoptr(GPtrArray) holders = ald_device_row_holders(row);

        for (guint i = 0; i < holders->len; i++) {
                const AldHolder *holder = holders->pdata[i];
                g_autofree char *name = ald_list_column_text(
                        &ald_holder_columns[ALD_HOLDER_COLUMN_NAME], holder);
                GString *text = g_string_new(NULL);
                AldFactRow *fact = ALD_FACT_ROW(ald_keyed_rows_next(rows, holder->id, ald_fact_row_new));

                for (size_t k = 0; k < G_N_ELEMENTS(shown); k++) {
                        g_autofree char *figure = ald_list_column_text(&ald_holder_columns[shown[k]], holder);

                        if (strcmp(figure, ALD_ABSENT_TEXT) != 0)
                                ald_parts_add_text(text, "%s", figure);
                }
                ald_fact_row_set_compact(fact, TRUE);
                ald_fact_row_show(fact, name, text->len > 0 ? text->str : NULL, ALD_TONE_PLAIN, NULL);
                g_string_free(text, TRUE);
        }
}

static void add_memory_row(AldKeyedRows *rows, const AldDeviceRow *device)
{
        const AldListColumn *memory = &ald_device_columns[ALD_DEVICE_COLUMN_MEMORY],
                            *used = &ald_device_columns[ALD_DEVICE_COLUMN_USED];
        AldFactRow *row;

        if (isnan(device->figures.memory_total) && ald_node_device_is_unified(&device->device)) {
                add_fact_row(rows, _("Memory"), g_strdup(_("shares the memory of the host")), ALD_TONE_PLAIN);
                return;
        }
        row = add_fact_row(rows, _(memory->title), ald_list_column_text(memory, device), ALD_TONE_PLAIN);
        ald_fact_row_show_level(row, used->share(device), _(used->title));
}

static void add_measurement_rows(AldKeyedRows *rows, const AldComputeDevice *compute, double now)
{
        g_autoptr(GPtrArray) facts = ald_compute_facts(compute, NULL);

        for (guint i = 0; i < facts->len; i++) {
                const AldFact *fact = facts->pdata[i];

                add_fact_row(rows, _(fact->label), g_strdup(fact->text), fact->tone);
        }
        add_fact_row(rows, _("Measured"), ald_format_age(ald_uint64_to_double(compute->measured_usec), now),
                ALD_TONE_PLAIN);
        if (compute->failure)
                add_fact_row(rows, _("Last attempt"),
                        ald_format_age(ald_uint64_to_double(compute->failed_usec), now), ALD_TONE_WARNING);
}

static void show_rows(
        AldKeyedRows *rows, const AldDetailsSubject *subject, const AldDeviceRow *row, double now)
{
        const AldNodeDevice *device = &row->device;

        ald_keyed_rows_begin(rows);
        if (!ald_node_device_is_processor(device)) {
                add_telemetry_row(rows, subject, row);
                add_holder_rows(rows, row);
                add_memory_row(rows, row);
                add_live_rows(rows, row);
        }
        if (device->compute)
                add_measurement_rows(rows, device->compute, now);
        else
                add_fact_row(rows, _("Device"), ald_text_safe(ald_node_device_id(device)), ALD_TONE_PLAIN);
        ald_keyed_rows_end(rows);
}

/* Shows by a symbol that the device is throttled now, or that it could not be measured. */
static void show_state(
        AldLazyExpander *expander, const AldDetailsSubject *subject, const AldDeviceRow *row, AldTone tone)
{
        const AldListColumn *throttled = &ald_device_columns[ALD_DEVICE_COLUMN_THROTTLED];
        g_autofree char *reasons = ald_list_column_text(throttled, row);
        g_autofree char *words = NULL;

        if (throttled->tone(row) == ALD_TONE_WARNING && !subject->outdated)
                words = g_strdup_printf(_("Throttled now: %s"), reasons);
        ald_lazy_expander_show_state(expander, words ?: _("The last attempt to measure it failed"),
                words ? ALD_TONE_WARNING : tone);
}

static void show_button(AldLazyExpander *expander, const AldDetailsSubject *subject,
        const AldNodeDevice *device, const char *name)
{
        GtkWidget *button;
        g_autofree char *label = NULL;

        if (!ald_details_subject_is_own(subject, subject->a))
                return;
        button = ald_lazy_expander_button(expander, "alidade-probe-symbolic");
        label = g_strdup_printf(_("Measure %s Now"), name);
        if (g_strcmp0(gtk_widget_get_tooltip_text(button), label) != 0) {
                gtk_widget_set_tooltip_text(button, label);
                gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", ald_node_device_id(device));
                gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.probe-device");
        }
        ald_widget_describe(button, label, NULL);
}

static void show_device(
        AldLazyExpander *expander, const AldDetailsSubject *subject, const AldNodeDevice *device)
{
        double now = ald_node_now(subject->node_a, subject->now);
        g_autofree char *name = ald_node_device_name(device);
        AldTone tone;
        g_autofree char *measurement = describe_measurement(subject->node_a, device, now, &tone);
        AldKeyedRows *rows = ald_lazy_expander_open_rows(expander);
        AldDeviceRow row = ald_device_row(subject->node_a, device, true);

        row.now_usec = now;
        ald_lazy_expander_show(expander, name, measurement, NULL);
        show_state(expander, subject, &row, tone);
        show_button(expander, subject, device, name);
        if (rows)
                show_rows(rows, subject, &row, now);
}

static void update_devices(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(section);
        g_autoptr(GArray) devices = ald_node_devices(subject->node_a);

        ald_keyed_rows_begin(rows);
        for (guint i = 0; i < devices->len; i++) {
                const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);
                GtkWidget *row = ald_keyed_rows_next(rows, ald_node_device_id(device), ald_lazy_expander_new);

                show_device(ALD_LAZY_EXPANDER(row), subject, device);
        }
        ald_keyed_rows_end(rows);
}

static void ald_devices_section_class_init(AldDevicesSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_FIGURES | ALD_DETAILS_TICK;
        section_class->shows_telemetry = true;
        section_class->update = update_devices;
}

static void ald_devices_section_init(AldDevicesSection *section)
{
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("Compute Devices"));
}

GtkWidget *ald_devices_section_new(void)
{
        return g_object_new(ALD_TYPE_DEVICES_SECTION, NULL);
}
