/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/text/describe.h"
#include "clients/alidadectl/text/event-text.h"
#include "clients/command-line/fields.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/cluster-facts.h"
#include "clients/common/columns/finding-columns.h"
#include "clients/common/columns/node-facts.h"
#include "clients/common/finding-display.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/tone.h"
#include "clients/common/words.h"
#include "state-client/model-json.h"

#define VALUE_ROOM 16
#define NODE_LABEL_WIDTH 10
#define CLUSTER_LABEL_WIDTH 16
#define NARROW 60

/*
 * Every field of every record is shown, under the names of the interfaces and the JSON, including kinds and
 * fields that this version does not know.
 */

/* These two fields say when, not what; the time is in the heading. */
static bool is_envelope(const char *name)
{
        return strcmp(name, "Revision") == 0 || strcmp(name, "UpdatedUSec") == 0;
}

static bool is_rows(const json_t *value)
{
        return json_is_array(value) &&
               (json_array_size(value) == 0 || json_is_object(json_array_get(value, 0)));
}

/* Appends "Name: value", indented; the value goes to the next line if there is little room. */
static void describe_field(
        GString *out, const char *name, json_t *value, unsigned indent, unsigned columns, double now_usec)
{
        g_autofree char *text = ald_format_raw(name, value, now_usec);
        unsigned behind = indent + (unsigned) strlen(name) + 2;
        bool narrow = columns > 0 && behind + VALUE_ROOM > columns;

        g_string_append_printf(out, "%*s%s:", (int) indent, "", name);
        if (narrow)
                g_string_append_printf(out, "\n%*s", (int) indent + 2, "");
        else
                g_string_append_c(out, ' ');
        ald_text_wrap(out, text, columns, narrow ? indent + 2 : behind);
        g_string_append_c(out, '\n');
}

static void describe_row(GString *out, json_t *row, unsigned columns, double now_usec)
{
        const char *id = ald_field_text(row, "Id");
        g_autofree char *safe = ald_text_safe(id ? id : ALD_ABSENT_TEXT);
        const char *name;
        json_t *value;

        g_string_append(out, "    " ALD_STYLE_BOLD);
        ald_text_wrap(out, safe, columns, 4);
        g_string_append(out, ALD_STYLE_NORMAL "\n");
        json_object_foreach(row, name, value) {
                if (strcmp(name, "Id") != 0)
                        describe_field(out, name, value, 6, columns, now_usec);
        }
}

static void describe_rows(GString *out, const char *name, json_t *rows, unsigned columns, double now_usec)
{
        size_t i;
        json_t *row;

        g_string_append_printf(out, "  %s:%s\n", name, json_array_size(rows) == 0 ? " none" : "");
        json_array_foreach(rows, i, row)
                describe_row(out, row, columns, now_usec);
}

/* The time is by the clock of the source; NULL stands for this machine. */
static void describe_record(GString *out, const char *kind, json_t *fields, const AldEntity *source,
        unsigned columns, double now_usec)
{
        g_autofree char *age = ald_format_record_age(
                source, ald_field_number(fields, "UpdatedUSec"), now_usec);
        const char *name;
        json_t *value;

        g_string_append_printf(
                out, "\n" ALD_STYLE_BOLD "%s" ALD_STYLE_DIM " %s" ALD_STYLE_NORMAL "\n", kind, age);
        json_object_foreach(fields, name, value) {
                if (is_envelope(name))
                        continue;
                if (is_rows(value))
                        describe_rows(out, name, value, columns, now_usec);
                else
                        describe_field(out, name, value, 2, columns, now_usec);
        }
}

/* Records that this machine makes about a node are dated by its own clock, the others by the clock of the
 * node. */
static bool is_local(const char *kind)
{
        int known = ald_kind_from_name(kind);

        return known >= 0 && ald_kinds[known].local;
}

void ald_describe_records(
        GString *out, const AldEntity *entity, const AldEntity *source, unsigned columns, double now_usec)
{
        json_t *records = ald_entity_to_json(entity), *fields;
        const char *kind;

        json_object_foreach(records, kind, fields) {
                bool local = is_local(kind);

                describe_record(out, kind, fields, local ? NULL : source, columns,
                        local ? now_usec : ald_node_now(source, now_usec));
        }
        json_decref(records);
}

/* Takes the text. */
static void describe_entry(
        GString *out, const char *label, unsigned label_width, unsigned columns, char *text)
{
        g_autofree char *value = text;
        bool narrow = columns > 0 && columns < NARROW;
        unsigned indent = narrow ? 2 : label_width + 2;

        if (narrow)
                g_string_append_printf(out, "%s:\n  ", label);
        else
                g_string_append_printf(out, "%*s: ", (int) label_width, label);
        ald_text_wrap(out, value && value[0] ? value : ALD_ABSENT_TEXT, columns, indent);
        g_string_append_c(out, '\n');
}

void ald_describe_facts(GString *out, const GPtrArray *facts, unsigned label_width, unsigned columns)
{
        for (guint i = 0; i < facts->len; i++) {
                const AldFact *fact = facts->pdata[i];
                char *text = fact->text ? ald_text_toned(fact->tone, fact->text) : NULL;

                describe_entry(out, fact->label, label_width, columns, text);
        }
}

static void describe_title(GString *out, const AldEntity *node, unsigned columns)
{
        g_autofree char *label = ald_entity_label(node);

        g_string_append(out, ALD_STYLE_BOLD);
        ald_text_wrap(out, label, columns, 0);
        g_string_append(out, ALD_STYLE_NORMAL);
        if (columns == 0 || ald_text_width(label) + 1 + strlen(node->id) <= columns)
                g_string_append_c(out, ' ');
        else
                g_string_append_c(out, '\n');
        g_string_append_printf(out, ALD_STYLE_DIM "%s" ALD_STYLE_NORMAL "\n", node->id);
}

/* Warns that the figures are old, as they would otherwise be taken for current ones. */
static void describe_exclusion(GString *out, const AldEntity *node, const char *state, unsigned columns)
{
        const AldPresence *presence = ald_entity_as(node, PRESENCE, AldPresence);
        const char *word = ald_word(state);
        g_autofree char *since = NULL, *line = NULL;

        if (presence->since_usec != ALD_ABSENT_UINT64)
                since = ald_event_time(presence->since_usec);
        line = g_strdup_printf(ALD_STYLE_ERROR "%c%s%s%s" ALD_STYLE_NORMAL
                                               "; the figures below are the last known ones",
                g_ascii_toupper(*word), word + 1, since ? " since " : "", since ?: "");
        ald_text_wrap(out, line, columns, 0);
        g_string_append_c(out, '\n');
}

void ald_describe_node(
        GString *out, AldModel *model, const AldEntity *node, unsigned columns, double now_usec)
{
        g_autoptr(GPtrArray) facts = ald_node_facts(node, now_usec);
        const char *exclusion = ald_node_exclusion(model, node);

        describe_title(out, node, columns);
        if (exclusion)
                describe_exclusion(out, node, exclusion, columns);
        ald_describe_facts(out, facts, NODE_LABEL_WIDTH, columns);
}

char *ald_describe_findings_counts(AldModel *model)
{
        g_autoptr(GPtrArray) counts = ald_findings_counts(model);
        GString *out = g_string_new(NULL);

        for (guint i = 0; i < counts->len; i++) {
                const AldFact *count = counts->pdata[i];
                g_autofree char *toned = ald_text_toned(count->tone, count->text);

                g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", toned);
        }
        if (counts->len == 0)
                g_string_append(out, "none");
        return g_string_free(out, FALSE);
}

void ald_describe_cluster(GString *out, AldModel *model, unsigned columns)
{
        g_autoptr(GPtrArray) facts = ald_cluster_facts(model);

        g_string_append(out, ALD_STYLE_BOLD "Cluster" ALD_STYLE_NORMAL "\n");
        ald_describe_facts(out, facts, CLUSTER_LABEL_WIDTH, columns);
        describe_entry(out, "Findings", CLUSTER_LABEL_WIDTH, columns, ald_describe_findings_counts(model));
}

static void describe_sentence(GString *out, const char *before, char *sentence, unsigned columns)
{
        g_autofree char *text = sentence;
        g_autofree char *whole = text ? g_strconcat(before, text, NULL) : NULL;

        if (!whole)
                return;
        g_string_append(out, "    ");
        ald_text_wrap(out, whole, columns, 4);
        g_string_append_c(out, '\n');
}

static void describe_finding(GString *out, const AldFindingListRow *row, unsigned columns)
{
        const AldFindingRow *finding = row->finding;
        AldTone tone;
        g_autofree char *severity = ald_finding_severity(finding, &tone);
        g_autofree char *head = ald_finding_title(finding, row->model);
        g_autofree char *silenced = ald_list_column_text(
                &ald_finding_columns[ALD_FINDING_COLUMN_SILENCED], row);
        g_autofree char *line = g_strdup_printf(
                "%s%s" ALD_STYLE_NORMAL " %s", ald_tone_style(tone), severity, head);
        g_autofree char *whole = row->silence ? g_strdup_printf("%s " ALD_STYLE_DIM
                                                                "(silenced %s)" ALD_STYLE_NORMAL,
                                                        line, silenced)
                                              : g_strdup(line);

        ald_text_wrap(out, whole, columns, 0);
        g_string_append_c(out, '\n');
        describe_sentence(out, "", ald_finding_words_with_times(finding, ald_event_time), columns);
        describe_sentence(out, "Remedy: ", ald_finding_remedy_words(finding), columns);
}

void ald_describe_findings(GString *out, const GArray *rows, unsigned columns)
{
        for (guint i = 0; i < rows->len; i++)
                describe_finding(out, &g_array_index(rows, AldFindingListRow, i), columns);
}

void ald_describe_brokerless(GString *out, AldModel *model, unsigned columns)
{
        const AldFindingListRow row = { .model = model, .finding = ald_find_brokerless(model) };

        if (!row.finding)
                return;
        g_string_append_c(out, '\n');
        describe_finding(out, &row, columns);
}

json_t *ald_findings_of(AldModel *model, const char *node_id)
{
        const AldRows *rows = ald_model_findings(model);
        json_t *own = json_array();

        for (size_t i = 0; i < rows->n; i++)
                if (ald_finding_is_about(ald_rows_at(rows, i), node_id))
                        json_array_append(own, json_array_get(ald_model_findings_json(model), i));
        return own;
}
