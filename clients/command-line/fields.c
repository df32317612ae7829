/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/command-line/fields.h"

double ald_number(const json_t *value)
{
        return json_is_number(value) ? json_number_value(value) : (double) NAN;
}

double ald_field_number(const json_t *fields, const char *name)
{
        return ald_number(json_object_get(fields, name));
}

const char *ald_field_text(const json_t *fields, const char *name)
{
        return json_string_value(json_object_get(fields, name));
}

json_t *ald_field_array(const json_t *fields, const char *name)
{
        json_t *value = json_object_get(fields, name);

        return json_is_array(value) ? value : NULL;
}

json_t *ald_row_by_id(const json_t *rows, const char *id)
{
        size_t i;
        json_t *row;

        if (id)
                json_array_foreach(rows, i, row) {
                        const char *other = ald_field_text(row, "Id");

                        if (other && strcmp(other, id) == 0)
                                return row;
                }
        return NULL;
}
