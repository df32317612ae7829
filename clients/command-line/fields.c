/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/command-line/fields.h"

double ald_field_number(const json_t *fields, const char *name)
{
        const json_t *value = json_object_get(fields, name);

        return json_is_number(value) ? json_number_value(value) : (double) NAN;
}

const char *ald_field_text(const json_t *fields, const char *name)
{
        return json_string_value(json_object_get(fields, name));
}
