/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "record/field.h"
#include "services/telemetry/child-json.h"

#define STRING_MAX 256u

char *ald_child_json_string(const json_t *object, const char *key)
{
        g_autofree char *text = g_strdup(json_string_value(json_object_get(object, key)));

        if (!text || strlen(text) > STRING_MAX || *g_strstrip(text) == '\0')
                return NULL;
        return g_steal_pointer(&text);
}

bool ald_child_json_integer(const json_t *object, const char *key, json_int_t *ret)
{
        const json_t *value = json_object_get(object, key);

        if (!json_is_integer(value))
                return false;
        *ret = json_integer_value(value);
        return true;
}

uint64_t ald_child_json_uint64(const json_t *object, const char *key)
{
        json_int_t value;

        if (!ald_child_json_integer(object, key, &value) || value < 0 || value > ALD_INTEGER_MAX)
                return ALD_ABSENT_UINT64;
        return (uint64_t) value;
}

int ald_child_json_boolean(const json_t *object, const char *key)
{
        const json_t *value = json_object_get(object, key);

        return json_is_boolean(value) ? json_boolean_value(value) : ALD_ABSENT_BOOLEAN;
}
