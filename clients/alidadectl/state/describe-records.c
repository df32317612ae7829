/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/state/describe.h"
#include "clients/command-line/fields.h"
#include "clients/command-line/text.h"
#include "clients/common/format.h"
#include "clients/common/node-seen.h"
#include "state-client/model-json.h"

#define VALUE_ROOM 16

/*
 * Every field of every record, under the names that the interfaces and the JSON give them: whatever arrives
 * is shown, also kinds and fields that this version does not know.
 */

/* These two say when, not what; the time stands in the heading. */
static bool is_envelope(const char *name)
{
        return strcmp(name, "Revision") == 0 || strcmp(name, "UpdatedUSec") == 0;
}

static bool is_rows(const json_t *value)
{
        return json_is_array(value) &&
               (json_array_size(value) == 0 || json_is_object(json_array_get(value, 0)));
}

/* "  Name: value", indented; the value goes to the next line if there is little room. */
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

static void describe_record(GString *out, const char *kind, json_t *fields, unsigned columns, double now_usec)
{
        g_autofree char *age = ald_format_record_age(ald_field_number(fields, "UpdatedUSec"), now_usec);
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

/* What this machine says of a node is dated by its own clock, the rest by that of the node. */
static bool is_local(const char *kind)
{
        int known = ald_kind_from_name(kind);

        return known >= 0 && ald_kinds[known].local;
}

void ald_describe_records(GString *out, const AldEntity *entity, unsigned columns, double now_usec)
{
        json_t *records = ald_entity_to_json(entity), *fields;
        const char *kind;

        json_object_foreach(records, kind, fields) {
                describe_record(out, kind, fields, columns,
                        is_local(kind) ? now_usec : ald_node_now(entity, now_usec));
        }
        json_decref(records);
}
