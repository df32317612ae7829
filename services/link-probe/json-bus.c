/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "services/link-probe/json-bus.h"

static int append_words(sd_bus_message *message, const json_t *list)
{
        const json_t *word;
        size_t i;
        int r;

        r = sd_bus_message_open_container(message, 'a', "s");
        json_array_foreach(list, i, word)
                if (r >= 0 && json_is_string(word))
                        r = sd_bus_message_append(message, "s", json_string_value(word));
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_rows(sd_bus_message *message, const json_t *list)
{
        const json_t *row;
        size_t i;
        int r;

        r = sd_bus_message_open_container(message, 'a', "a{sv}");
        json_array_foreach(list, i, row)
                if (r >= 0 && json_is_object(row))
                        r = ald_json_bus_append(message, row);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_list(sd_bus_message *message, const char *name, const json_t *list)
{
        bool words = json_is_string(json_array_get(list, 0));
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", name);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'v', words ? "as" : "aa{sv}");
        if (r >= 0)
                r = words ? append_words(message, list) : append_rows(message, list);
        for (unsigned i = 0; r >= 0 && i < 2; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_value(sd_bus_message *message, const char *name, const json_t *value)
{
        switch (json_typeof(value)) {
        case JSON_INTEGER:
                return sd_bus_message_append(
                        message, "{sv}", name, "t", (uint64_t) json_integer_value(value));
        case JSON_REAL:
                return sd_bus_message_append(message, "{sv}", name, "d", json_real_value(value));
        case JSON_STRING:
                return sd_bus_message_append(message, "{sv}", name, "s", json_string_value(value));
        case JSON_TRUE:
        case JSON_FALSE:
                return sd_bus_message_append(message, "{sv}", name, "b", (int) json_is_true(value));
        case JSON_ARRAY:
                return json_array_size(value) > 0 ? append_list(message, name, value) : 0;
        default:
                return 0;
        }
}

int ald_json_bus_append(sd_bus_message *message, const json_t *object)
{
        const char *name;
        json_t *value;
        int r;

        r = sd_bus_message_open_container(message, 'a', "{sv}");
        json_object_foreach((json_t *) object, name, value)
                if (r >= 0)
                        r = append_value(message, name, value);
        return r < 0 ? r : sd_bus_message_close_container(message);
}
