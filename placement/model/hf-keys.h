/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define ALD_HF_LEVELS_MAX 4u

/* A config.json. Models that also handle images or sound have their text part in objects within. */
typedef struct AldHfKeys {
        char *path;
        json_t *levels[ALD_HF_LEVELS_MAX]; /* from the top, which is owned, to the part for text */
        const char *names[ALD_HF_LEVELS_MAX];
        unsigned n_levels;
} AldHfKeys;

/* Errors are those of file-head.h. */
int ald_hf_keys_read(const char *path, AldHfKeys *ret, char **ret_error);
void ald_hf_keys_clear(AldHfKeys *keys);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldHfKeys, ald_hf_keys_clear)

/* The part for text. */
json_t *ald_hf_text(const AldHfKeys *keys);

/* Of the part for text or, where it does not have the key, of what is around it; NULL: null or not stated. */
json_t *ald_hf_any(const AldHfKeys *keys, const char *key);

/* "the top, text_config": where ald_hf_any() looks. */
char *ald_hf_places(const AldHfKeys *keys);

/* The first of the names that the object has, which may be NULL. */
json_t *ald_hf_find(json_t *object, const char *const *names, const char **ret_name);

/* A whole number from 0 to INT32_MAX, also if it is written as 1.0. */
bool ald_hf_is_count(json_t *value, uint32_t *ret);

/* Leaves *ret alone if the object does not state the number. Of a list, this is the most. */
int ald_hf_take(
        const AldHfKeys *keys, json_t *object, const char *const *names, uint32_t *ret, char **ret_error);

/* The same where little depends on it: anything else is absent. */
uint32_t ald_hf_most(json_t *object, const char *const *names);

bool ald_hf_is_true(json_t *object, const char *key);

/* A plain name; NULL: none. */
const char *ald_hf_name(json_t *object, const char *key);

/* Reads a file as text; the bytes are followed by a NUL. */
int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error);
