/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "common/config.h"

/* The group [exporter] of alidade.conf, for ald_config_load(). */
extern const AldConfigKey ald_exporter_keys[];

/* Checks that the whole configuration is in effect as written, since a line that is not may be the one that
 * protects. Returns -EBADMSG, logged, if not. */
int ald_exporter_config_check(const AldConfig *config);

/* The contents of the files that the configuration names, and the names to which the exporter answers. */
typedef struct AldExporterSecrets {
        char *certificate, *key; /* PEM; NULL: no TLS */
        char *token;             /* NULL: no token is required */
        char **host_names;       /* names by which requests without a token may address this machine */
} AldExporterSecrets;

/* Reads the secrets. Returns a negative errno, logged, if a file is missing, too large or unusable. */
int ald_exporter_secrets_read(const AldConfig *config, AldExporterSecrets *ret);
void ald_exporter_secrets_clear(AldExporterSecrets *secrets);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldExporterSecrets, ald_exporter_secrets_clear)

/* Returns whether a request with this value of Authorization, which may be NULL, may be answered. Takes the
 * same time for each wrong token of the same length. */
bool ald_exporter_may_answer(const AldExporterSecrets *secrets, const char *authorization);
