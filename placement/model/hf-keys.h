/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define ALD_HF_LEVELS_MAX 4u

/* A config.json. Models that also handle images or sound have their part for text in nested objects. */
typedef struct AldHfKeys {
        char *path;
        json_t *levels[ALD_HF_LEVELS_MAX]; /* objects from the top, which is owned, to the part for text */
        const char *names[ALD_HF_LEVELS_MAX];
        unsigned n_levels;
} AldHfKeys;

/* Reads a config.json; errors are those of file-head.h. */
int ald_hf_keys_read(const char *path, AldHfKeys *ret, char **ret_error);
void ald_hf_keys_clear(AldHfKeys *keys);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldHfKeys, ald_hf_keys_clear)

/* Returns the part for text, which is the innermost object. */
json_t *ald_hf_text(const AldHfKeys *keys);

/* Returns the value of the key in the part for text or, if it is not there, in the objects around it; NULL if
 * it is null or not stated. */
json_t *ald_hf_any(const AldHfKeys *keys, const char *key);

/* Returns where ald_hf_any() looks, as "the top, text_config"; free with g_free(). */
char *ald_hf_places(const AldHfKeys *keys);

/* Returns the value of the first of these names that the object, which may be NULL, has. */
json_t *ald_hf_find(json_t *object, const char *const *names, const char **ret_name);

/* Returns whether the value is a whole number from 0 to INT32_MAX, even if it is written as 1.0. */
bool ald_hf_is_count(json_t *value, uint32_t *ret);

/* Reads a number, or the greatest of a list. Leaves *ret alone if the object does not state it. */
int ald_hf_read_number(
        const AldHfKeys *keys, json_t *object, const char *const *names, uint32_t *ret, char **ret_error);

/* Returns the same for less important figures: anything that is not such a number is absent. */
uint32_t ald_hf_most(json_t *object, const char *const *names);

bool ald_hf_is_true(json_t *object, const char *key);

/* Returns a plain name, or NULL. */
const char *ald_hf_name(json_t *object, const char *key);

/* Reads a file as text; the bytes are followed by a NUL. */
int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error);
