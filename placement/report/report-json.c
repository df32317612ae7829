/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/report/report-json.h"
#include "record/json.h"

json_t *ald_plan_report_to_json(const AldPlanReport *report)
{
        json_t *object = json_object();

        json_object_set_new(object, "Plan", ald_struct_to_json(&ald_plan_row_struct, &report->plan));
        for (size_t i = 0; i < ALD_PLAN_REPORT_PARTS; i++) {
                const AldPlanReportPart *part = &ald_plan_report_parts[i];
                const GArray *rows = ald_plan_report_part(report, part);
                json_t *array = json_array();

                for (guint k = 0; k < rows->len; k++)
                        json_array_append_new(
                                array, ald_struct_to_json(part->type, rows->data + k * part->type->size));
                json_object_set_new(object, part->name, array);
        }
        return object;
}

static char *keep_text(AldPlanReport *report, const char *text)
{
        char *copy = g_strdup(text);

        g_ptr_array_add(report->owned, copy);
        return copy;
}

static int read_strings(AldPlanReport *report, const json_t *value, const char *const **ret)
{
        size_t n = json_array_size(value);
        const char **strings;

        if (!json_is_array(value))
                return -EBADMSG;
        strings = g_new0(const char *, n + 1);
        g_ptr_array_add(report->owned, strings);
        for (size_t i = 0; i < n; i++) {
                const char *text = json_string_value(json_array_get(value, i));

                if (!text)
                        return -EBADMSG;
                strings[i] = keep_text(report, text);
        }
        *ret = strings;
        return 0;
}

static int read_integer(const json_t *value, json_int_t least, int64_t *ret)
{
        json_int_t number = json_integer_value(value);

        if (!json_is_integer(value) || number < least || number > ALD_INTEGER_MAX)
                return -EBADMSG;
        *ret = number;
        return 0;
}

static int read_text(AldPlanReport *report, const AldField *field, const json_t *value, const char **ret)
{
        const char *text = json_string_value(value);

        if (!text || (field->from_string && field->from_string(text) < 0))
                return -EBADMSG;
        *ret = keep_text(report, text);
        return 0;
}

static int read_value(AldPlanReport *report, const AldField *field, const json_t *value, void *to)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return read_text(report, field, value, to);
        case ALD_TYPE_UINT64:
                return read_integer(value, 0, to);
        case ALD_TYPE_INT64:
                return read_integer(value, -ALD_INTEGER_MAX, to);
        case ALD_TYPE_DOUBLE:
                if (!json_is_number(value))
                        return -EBADMSG;
                *(double *) to = json_number_value(value);
                return 0;
        case ALD_TYPE_BOOLEAN:
                if (!json_is_boolean(value))
                        return -EBADMSG;
                *(int *) to = json_boolean_value(value);
                return 0;
        case ALD_TYPE_STRV:
                return read_strings(report, value, to);
        default:
                return -EBADMSG;
        }
}

static int read_row(AldPlanReport *report, const char *where, const AldStruct *type, const json_t *json,
        void *row, char **ret_error)
{
        memcpy(row, type->absent, type->size);
        if (!json_is_object(json)) {
                *ret_error = g_strdup_printf("%s is not an object", where);
                return -EBADMSG;
        }
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const json_t *value = json_object_get(json, field->name);

                if (value && read_value(report, field, value, (char *) row + field->offset) < 0) {
                        *ret_error = g_strdup_printf("%s: %s is invalid", where, field->name);
                        return -EBADMSG;
                }
        }
        return 0;
}

static int read_part(
        AldPlanReport *report, const AldPlanReportPart *part, const json_t *json, char **ret_error)
{
        GArray *rows = ald_plan_report_part(report, part);

        if (!json_is_array(json)) {
                *ret_error = g_strdup_printf("%s is missing or not a list", part->name);
                return -EBADMSG;
        }
        for (size_t i = 0; i < json_array_size(json); i++) {
                g_autofree char *where = g_strdup_printf("%s[%zu]", part->name, i);
                int r;

                g_array_set_size(rows, rows->len + 1);
                r = read_row(report, where, part->type, json_array_get(json, i),
                        rows->data + (rows->len - 1) * part->type->size, ret_error);
                if (r < 0)
                        return r;
        }
        return 0;
}

int ald_plan_report_from_text(const char *bytes, size_t n, AldPlanReport **ret, char **ret_error)
{
        g_autoptr(AldPlanReport) report = ald_plan_report_new();
        json_auto_t *json = NULL;
        int r = ald_json_load(bytes, n, ALD_PLAN_REPORT_BYTES_MAX, &json, ret_error);

        if (r < 0)
                return r;
        r = read_row(report, "Plan", &ald_plan_row_struct, json_object_get(json, "Plan"), &report->plan,
                ret_error);
        for (size_t i = 0; r >= 0 && i < ALD_PLAN_REPORT_PARTS; i++)
                r = read_part(report, &ald_plan_report_parts[i],
                        json_object_get(json, ald_plan_report_parts[i].name), ret_error);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&report);
        return 0;
}
