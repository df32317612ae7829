/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * Reads alidade.conf and alidade.conf.d/ *.conf below /etc/alidade (ALIDADE_CONFIG_DIR in tests), with later
 * files taking precedence. All daemons share the files, and each reads its own groups. An unknown key or
 * group causes a warning; an invalid value is refused, with file, line, key and reason in the log, and the
 * default is used. A file that cannot be read or parsed is reported and left out as a whole.
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
        /* Replaces a refused value, if the fallback permits more than the refused value may have meant. NULL
         * for the fallback. */
        const char *shut;
} AldConfigKey;

typedef struct AldConfig AldConfig;

/* Reads the files below a directory, or below the default one if that is NULL. Never fails, since each key
 * has a fallback. */
AldConfig *ald_config_load(const AldConfigKey *keys, const char *directory);
void ald_config_free(AldConfig *config);

/* Reads the files again. If there are problems, a key that is missing or whose value was refused keeps its
 * previous value, since the problems may be about it. */
AldConfig *ald_config_load_again(const AldConfig *previous, const char *directory);

/* Returns whether no file was left out. */
bool ald_config_is_complete(const AldConfig *config);

/* One part of the configuration that is not in effect as written. The texts are excerpts, safe to show. */
typedef struct AldConfigProblem {
        char *file;
        unsigned line;     /* from 1; 0: the file as a whole */
        char *group, *key; /* NULL: the file or group as a whole */
        char *reason;
} AldConfigProblem;

/*
 * Returns all problems as AldConfigProblem, in the order of the files: refused values and unknown keys in the
 * groups of this configuration, unknown groups, and files that were left out. Keys in the known groups of
 * other daemons are not checked. Only the first ALD_CONFIG_PROBLEMS_MAX are kept and logged.
 */
#define ALD_CONFIG_PROBLEMS_MAX 32u
const GPtrArray *ald_config_problems(const AldConfig *config);

/* Writes a problem as "/etc/alidade/alidade.conf:3: [exporter] listen: no address". Free with g_free(). */
char *ald_config_problem_format(const AldConfigProblem *problem);

/* Returns whether the value that was to be in effect for a key was refused. */
bool ald_config_is_refused(const AldConfig *config, const char *key);

/* Returns where the value of a key is written, as "/etc/alidade/alidade.conf:3"; NULL if it is the fallback.
 */
const char *ald_config_place(const AldConfig *config, const char *key);

/* Return the value of a key, which must be in the table with this type. Strings belong to the configuration.
 */
bool ald_config_boolean(const AldConfig *config, const char *key);
uint64_t ald_config_uint(const AldConfig *config, const char *key);
const char *ald_config_string(const AldConfig *config, const char *key);
const char *const *ald_config_strv(const AldConfig *config, const char *key);
