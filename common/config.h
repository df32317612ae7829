/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * alidade.conf and alidade.conf.d/ *.conf below /etc/alidade (ALIDADE_CONFIG_DIR in tests), with later files
 * taking precedence. All daemons share the files: each reads its own group. An unknown key or group causes a
 * warning; an invalid value is refused, with file, line, key and reason in the log, and the default is used.
 * A file that cannot be read or parsed is reported and left out as a whole.
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
        /* What a refused value becomes, if the fallback allows more than any value may have asked for. */
        const char *shut;
} AldConfigKey;

typedef struct AldConfig AldConfig;

/* Reads the files; never fails, since each key has a fallback. With directory NULL, the default one. */
AldConfig *ald_config_load(const AldConfigKey *keys, const char *directory);
void ald_config_free(AldConfig *config);

/* Reads the files again. If there are problems, a key that they do not set, or of which a value was refused,
 * keeps the value that it had: it may be what they are about. */
AldConfig *ald_config_load_again(const AldConfig *previous, const char *directory);

/* Whether no file was left out. */
bool ald_config_is_complete(const AldConfig *config);

/* One thing of the configuration that is not in effect as written. The texts are excerpts, safe to show. */
typedef struct AldConfigProblem {
        char *file;
        unsigned line;     /* from 1; 0: the whole file */
        char *group, *key; /* NULL: of the whole file or group */
        char *reason;
} AldConfigProblem;

/*
 * AldConfigProblem, in the order of the files: values that were refused and unknown keys in the groups of
 * this configuration, unknown groups, and files that were left out. Keys in the known groups of other daemons
 * are not looked at. Only the first ALD_CONFIG_PROBLEMS_MAX are kept and logged.
 */
#define ALD_CONFIG_PROBLEMS_MAX 32u
const GPtrArray *ald_config_problems(const AldConfig *config);

/* "/etc/alidade/alidade.conf:3: [exporter] listen: no address"; to be freed. */
char *ald_config_problem_format(const AldConfigProblem *problem);

/* Whether the value of a key that was to be in effect was refused. */
bool ald_config_is_refused(const AldConfig *config, const char *key);

/* Where the value of a key is written, as "/etc/alidade/alidade.conf:3"; NULL: nowhere, it is the fallback.
 */
const char *ald_config_place(const AldConfig *config, const char *key);

/* The key must be in the table with this type. Strings belong to the configuration. */
bool ald_config_boolean(const AldConfig *config, const char *key);
uint64_t ald_config_uint(const AldConfig *config, const char *key);
const char *ald_config_string(const AldConfig *config, const char *key);
const char *const *ald_config_strv(const AldConfig *config, const char *key);
