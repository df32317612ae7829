/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "placement/model/file-head.h"
#include "placement/model/hf-keys.h"
#include "placement/model/model-needs.h"
#include "record/json.h"

#define CONFIG_MAX (1024u * 1024)
#define NAME_MAX_BYTES 255u

/* Keys of the part for text. Such objects may be nested, as in thinker_config.text_config. */
static const char *const part_names[] = { "text_config", "llm_config", "language_config", "thinker_config",
        "lm_config", "llm_cfg", "language_model_config" };

int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error)
{
        g_auto(AldFileHead) head = ALD_FILE_HEAD_CLOSED;
        g_autofree char *text = NULL;
        int r;

        r = ald_file_head_open(&head, path, max, ret_error);
        if (r < 0)
                return r;
        if (head.size > max)
                return ald_file_fail(ret_error, -E2BIG, path,
                        "it has %" PRIu64 " bytes; at most %zu can be read", head.size, max);
        text = g_malloc((size_t) head.size + 1);
        r = ald_file_head_read(&head, text, (size_t) head.size);
        if (r < 0)
                return r;
        text[head.size] = '\0';
        *ret_n = (size_t) head.size;
        *ret = g_steal_pointer(&text);
        return 0;
}

static bool descend_to_part(AldHfKeys *keys)
{
        json_t *around = keys->levels[keys->n_levels - 1];

        for (size_t i = 0; i < G_N_ELEMENTS(part_names) && keys->n_levels < ALD_HF_LEVELS_MAX; i++) {
                json_t *part = json_object_get(around, part_names[i]);

                if (!json_is_object(part))
                        continue;
                keys->names[keys->n_levels] = part_names[i];
                keys->levels[keys->n_levels++] = part;
                return true;
        }
        return false;
}

int ald_hf_keys_read(const char *path, AldHfKeys *ret, char **ret_error)
{
        g_autofree char *text = NULL, *reason = NULL;
        AldHfKeys keys = { 0 };
        json_t *json = NULL;
        size_t n = 0;
        int r;

        r = ald_text_file_read(path, CONFIG_MAX, &text, &n, ret_error);
        if (r < 0)
                return r;
        r = ald_json_load(text, n, CONFIG_MAX, &json, &reason);
        if (r < 0)
                return ald_file_fail(ret_error, r, path, "%s", reason);
        keys.path = g_strdup(path);
        keys.names[0] = "the top";
        keys.levels[keys.n_levels++] = json;
        while (descend_to_part(&keys))
                ;
        *ret = keys;
        return 0;
}

void ald_hf_keys_clear(AldHfKeys *keys)
{
        g_free(keys->path);
        json_decref(keys->levels[0]);
        *keys = (AldHfKeys){ 0 };
}

json_t *ald_hf_text(const AldHfKeys *keys)
{
        return keys->levels[keys->n_levels - 1];
}

json_t *ald_hf_any(const AldHfKeys *keys, const char *key)
{
        for (unsigned i = keys->n_levels; i > 0; i--) {
                json_t *value = json_object_get(keys->levels[i - 1], key);

                if (value && !json_is_null(value))
                        return value;
        }
        return NULL;
}

char *ald_hf_places(const AldHfKeys *keys)
{
        GString *places = g_string_new(keys->names[0]);

        for (unsigned i = 1; i < keys->n_levels; i++)
                g_string_append_printf(places, ", %s", keys->names[i]);
        return g_string_free(places, FALSE);
}

json_t *ald_hf_find(json_t *object, const char *const *names, const char **ret_name)
{
        for (; *names; names++) {
                json_t *value = json_object_get(object, *names);

                *ret_name = *names;
                if (value && !json_is_null(value))
                        return value;
        }
        return NULL;
}

bool ald_hf_is_count(json_t *value, uint32_t *ret)
{
        double number = json_number_value(value);

        if (!json_is_number(value) || number < 0 || number > INT32_MAX || number != floor(number))
                return false;
        *ret = (uint32_t) number;
        return true;
}

/* Reads a number, or the greatest of a list. Returns false, with *ret 0, for an empty list. */
static bool take_most(json_t *value, uint32_t *ret)
{
        uint32_t most = 0, count;
        json_t *one;
        size_t i;

        if (!json_is_array(value))
                return ald_hf_is_count(value, ret);
        json_array_foreach(value, i, one) {
                if (!ald_hf_is_count(one, &count))
                        return false;
                most = MAX(most, count);
        }
        *ret = most;
        return i > 0;
}

int ald_hf_read_number(
        const AldHfKeys *keys, json_t *object, const char *const *names, uint32_t *ret, char **ret_error)
{
        const char *name = NULL;
        json_t *value = ald_hf_find(object, names, &name);

        if (value && !take_most(value, ret))
                return ald_file_fail(ret_error, -EBADMSG, keys->path,
                        "%s is not a whole number from 0 to 2147483647", name);
        return 0;
}

uint32_t ald_hf_most(json_t *object, const char *const *names)
{
        const char *name = NULL;
        json_t *value = ald_hf_find(object, names, &name);
        uint32_t most = 0;

        return value && take_most(value, &most) && most > 0 ? most : ALD_LLM_ABSENT_COUNT;
}

bool ald_hf_is_true(json_t *object, const char *key)
{
        return json_is_true(json_object_get(object, key));
}

const char *ald_hf_name(json_t *object, const char *key)
{
        const char *name = json_string_value(json_object_get(object, key));
        size_t n = name ? strlen(name) : 0;

        return n <= NAME_MAX_BYTES && ald_file_name_is_plain(name, n) ? name : NULL;
}
