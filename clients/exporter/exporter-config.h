/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "common/config.h"

/* The group [exporter] of alidade.conf, for ald_config_load(). */
extern const AldConfigKey ald_exporter_keys[];

/* Whether all of it is in effect as written: -EBADMSG, logged, if not. What is not may be what protects. */
int ald_exporter_config_check(const AldConfig *config);

/* The files that it names, as read, and whom else it answers. */
typedef struct AldExporterSecrets {
        char *certificate, *key; /* PEM; NULL: no TLS */
        char *token;             /* NULL: none is asked for */
        char **host_names;       /* by which requests without a token may call this machine */
} AldExporterSecrets;

/* Reads them. Negative errno, logged, if one is missing, too large or unusable. */
int ald_exporter_secrets_read(const AldConfig *config, AldExporterSecrets *ret);
void ald_exporter_secrets_clear(AldExporterSecrets *secrets);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldExporterSecrets, ald_exporter_secrets_clear)

/* Whether a request with this value of Authorization, which may be NULL, may be answered. Takes as long for
 * each wrong token of the same length. */
bool ald_exporter_may_answer(const AldExporterSecrets *secrets, const char *authorization);
