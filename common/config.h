/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * alidade.conf and alidade.conf.d/ *.conf below /etc/alidade (ALIDADE_CONFIG_DIR in tests), with later files
 * taking precedence. All daemons share the files: each reads its own group. An unknown key or group causes a
 * warning; an invalid value is refused, with file, key and reason in the log, and the default is used. A file
 * that cannot be parsed is reported and ignored as a whole.
 */
typedef enum AldConfigType {
        ALD_CONFIG_BOOLEAN,
        ALD_CONFIG_UINT, /* within min and max */
        ALD_CONFIG_STRING,
        ALD_CONFIG_STRV, /* separated by semicolons */
} AldConfigType;

typedef struct AldConfigKey {
        const char *group;
        const char *key;
        AldConfigType type;
        uint64_t min, max;
        const char *fallback; /* written as in the file */
        /* Returns why a string is invalid, or NULL if it is valid; may be NULL. */
        const char *(*refuse)(const char *value);
} AldConfigKey;

typedef struct AldConfig AldConfig;

/* Reads the files; never fails, since each key has a fallback. With directory NULL, the default one. */
AldConfig *ald_config_load(const AldConfigKey *keys, const char *directory);
void ald_config_free(AldConfig *config);

/* Whether no file was ignored. */
bool ald_config_is_complete(const AldConfig *config);

/* The key must be in the table with this type. Strings belong to the configuration. */
bool ald_config_boolean(const AldConfig *config, const char *key);
uint64_t ald_config_uint(const AldConfig *config, const char *key);
const char *ald_config_string(const AldConfig *config, const char *key);
const char *const *ald_config_strv(const AldConfig *config, const char *key);
