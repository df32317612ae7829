/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * alidade.conf and alidade.conf.d/ *.conf below /etc/alidade (ALIDADE_CONFIG_DIR in tests), later files
 * winning. One file serves all daemons: each reads its own group. An unknown key or group is warned about, a
 * bad value is refused with file, key and reason and the default stays. A file that cannot be parsed is
 * reported and left out as a whole.
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
        /* Why a string is not acceptable, or NULL where it is; may be NULL. */
        const char *(*refuse)(const char *value);
} AldConfigKey;

typedef struct AldConfig AldConfig;

/* Reads the files; never fails, since each key has a fallback. The directory NULL is the usual one. */
AldConfig *ald_config_load(const AldConfigKey *keys, const char *directory);
void ald_config_free(AldConfig *config);

/* Whether no file had to be left out. */
bool ald_config_is_complete(const AldConfig *config);

/* The key must be one of the table, with this type. Strings belong to the configuration. */
bool ald_config_boolean(const AldConfig *config, const char *key);
uint64_t ald_config_uint(const AldConfig *config, const char *key);
const char *ald_config_string(const AldConfig *config, const char *key);
const char *const *ald_config_strv(const AldConfig *config, const char *key);
