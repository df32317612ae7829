/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <jansson.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/details/details-section.h"
#include "clients/desktop/details/path-rows.h"
#include "clients/desktop/details/rows/fact-row.h"
#include "clients/desktop/details/rows/lazy-expander.h"
#include "clients/desktop/details/sections.h"
#include "state-client/model-json.h"

#define ROWS_MAX 500u /* of one record */

#define ALD_TYPE_FIELDS_SECTION (ald_fields_section_get_type())
G_DECLARE_FINAL_TYPE(AldFieldsSection, ald_fields_section, ALD, FIELDS_SECTION, AldDetailsSection)

/* Shows every field of every record under its own name, including kinds and fields that this version does not
 * know. */
struct _AldFieldsSection {
        AldDetailsSection parent;
};

G_DEFINE_FINAL_TYPE(AldFieldsSection, ald_fields_section, ALD_TYPE_DETAILS_SECTION)

/* The rows for the fields of one record. */
typedef struct FieldRows {
        AldKeyedRows *rows;
        double now; /* present time of the clock that dates them */
        guint left;
} FieldRows;

/* Returns whether the field dates the record; the date is shown beside the name of the record. */
static bool is_envelope(const char *name)
{
        return strcmp(name, "Revision") == 0 || strcmp(name, "UpdatedUSec") == 0;
}

static bool is_list_of_rows(const json_t *value)
{
        return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

static void add_field_row(
        FieldRows *fields, const char *key, const char *name, const char *text, bool indented)
{
        AldFactRow *row;

        if (fields->left == 0)
                return;
        fields->left--;
        row = ALD_FACT_ROW(ald_keyed_rows_next(fields->rows, key, ald_fact_row_new));
        ald_fact_row_set_compact(row, indented);
        ald_fact_row_show(row, name, text, ALD_TONE_PLAIN, NULL);
}

static void add_value_row(
        FieldRows *fields, const char *key, const char *name, const json_t *value, bool indented)
{
        g_autofree char *text = ald_format_raw(name, value, fields->now), *safe = ald_text_safe(name);

        add_field_row(fields, key, safe, g_str_equal(text, ALD_ABSENT_TEXT) ? NULL : text, indented);
}

/* Adds a row for the Id, and then one for each other field. */
static void add_list_rows(FieldRows *fields, const char *list, json_t *row)
{
        const char *id = json_string_value(json_object_get(row, "Id")) ?: ALD_ABSENT_TEXT, *name;
        g_autofree char *safe = ald_text_safe(id), *title = ald_text_safe(list);
        g_autofree char *head = g_strdup_printf("%s/%s", list, id);
        json_t *value;

        add_field_row(fields, head, title, safe, false);
        json_object_foreach(row, name, value) {
                g_autofree char *key = g_strdup_printf("%s/%s", head, name);

                if (strcmp(name, "Id") != 0)
                        add_value_row(fields, key, name, value, true);
        }
}

static void show_fields(AldKeyedRows *rows, json_t *record, double now)
{
        FieldRows fields = { rows, now, ROWS_MAX };
        const char *name;
        json_t *value, *row;
        size_t i;

        ald_keyed_rows_begin(rows);
        json_object_foreach(record, name, value) {
                if (is_envelope(name))
                        continue;
                if (!is_list_of_rows(value)) {
                        add_value_row(&fields, name, name, value, false);
                        continue;
                }
                json_array_foreach(value, i, row)
                        add_list_rows(&fields, name, row);
        }
        if (fields.left == 0)
                ald_fact_row_show(ALD_FACT_ROW(ald_keyed_rows_next(rows, "…", ald_fact_row_new)), "…",
                        _("More fields are shown by “alidadectl show”"), ALD_TONE_FAINT, NULL);
        ald_keyed_rows_end(rows);
}

/* Returns whether this machine says this about a node. Such records are dated by its own clock, others by
 * that of the node. */
static bool is_local_kind(const char *kind)
{
        int known = ald_kind_from_name(kind);

        return known >= 0 && ald_kinds[known].local;
}

static void show_record(AldLazyExpander *expander, const char *title, json_t *record, const char *path,
        const AldEntity *source, double now)
{
        const json_t *updated = json_object_get(record, "UpdatedUSec");
        g_autofree char *age = ald_format_record_age(
                source, json_is_number(updated) ? json_number_value(updated) : ALD_ABSENT_DOUBLE, now);
        g_autofree char *words = path ? g_strdup_printf("%s, %s", path, age) : g_strdup(age);
        AldKeyedRows *rows = ald_lazy_expander_open_rows(expander);

        ald_lazy_expander_show(expander, title, words, NULL);
        if (rows)
                show_fields(rows, record, now);
}

/* Adds the records that `source` has sent. `path` distinguishes records of several links; it is NULL for a
 * node. */
static void add_entity_rows(AldKeyedRows *rows, const AldDetailsSubject *subject, const AldEntity *entity,
        const AldEntity *source, const char *path)
{
        json_t *records = ald_entity_to_json(entity), *record;
        const char *kind;

        json_object_foreach(records, kind, record) {
                g_autofree char *key = g_strdup_printf("%s %s", entity->id, kind),
                                *title = ald_text_safe(kind);
                GtkWidget *row = ald_keyed_rows_next(rows, key, ald_lazy_expander_new);
                bool local = is_local_kind(kind);

                show_record(ALD_LAZY_EXPANDER(row), title, record, path, local ? NULL : source,
                        local ? subject->now : ald_node_now(source, subject->now));
        }
        json_decref(records);
}

/* Returns whether the link is between these nodes. Its id is "SOURCE/KEY", and the key contains the sink,
 * before the address or between the ports. */
static bool is_link_between(const AldEntity *link, const char *source, const char *sink)
{
        size_t length = strlen(source);

        return strncmp(link->id, source, length) == 0 && link->id[length] == '/' &&
               strstr(link->id + length, sink);
}

/* Returns a text like "alder → birch, 192.0.2.2". */
static char *describe_link(
        const AldDetailsSubject *subject, const AldEntity *link, const char *source, const char *sink)
{
        g_autofree char *from = ald_details_subject_name(subject, source),
                        *to = ald_details_subject_name(subject, sink);
        g_autofree char *direction = ald_direction_words(from, to);
        g_auto(GStrv) parts = g_strsplit(link->id + strlen(source) + 1, ",", -1);
        GString *words = g_string_new(direction);

        for (char **part = parts; *part; part++) {
                g_autofree char *safe = ald_text_safe(*part);

                if (strcmp(*part, sink) != 0)
                        g_string_append_printf(words, ", %s", safe);
        }
        return g_string_free(words, FALSE);
}

static void add_link_rows(
        AldKeyedRows *rows, const AldDetailsSubject *subject, const char *source, const char *sink)
{
        const GPtrArray *links = ald_model_shown_links(subject->model);

        for (guint i = 0; i < links->len; i++) {
                const AldEntity *link = links->pdata[i];
                g_autofree char *path = NULL;

                if (!is_link_between(link, source, sink))
                        continue;
                path = describe_link(subject, link, source, sink);
                add_entity_rows(rows, subject, link, ald_model_get(subject->model, source), path);
        }
}

static void update_fields(AldDetailsSection *section, const AldDetailsSubject *subject)
{
        AldKeyedRows *rows = ald_details_section_rows(section);

        ald_keyed_rows_begin(rows);
        if (subject->b) {
                add_link_rows(rows, subject, subject->a, subject->b);
                add_link_rows(rows, subject, subject->b, subject->a);
        } else {
                add_entity_rows(rows, subject, subject->node_a, subject->node_a, NULL);
        }
        ald_keyed_rows_end(rows);
}

static void ald_fields_section_class_init(AldFieldsSectionClass *class)
{
        AldDetailsSectionClass *section_class = ALD_DETAILS_SECTION_CLASS(class);

        section_class->parts = ALD_LIVE_NODE_SET | ALD_LIVE_FIGURES | ALD_LIVE_LINKS | ALD_DETAILS_TICK;
        section_class->update = update_fields;
}

static void ald_fields_section_init(AldFieldsSection *section)
{
        ald_details_section_set_title(ALD_DETAILS_SECTION(section), _("All Fields"));
}

GtkWidget *ald_fields_section_new(void)
{
        return g_object_new(ALD_TYPE_FIELDS_SECTION, NULL);
}
