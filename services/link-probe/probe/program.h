/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/link-probe/probe/credentials.h"
#include "services/link-probe/probe/link-probe-config.h"

/* The sources of the arguments of all probes of links and of all sessions. */
typedef struct AldProgram {
        const AldCredentials *credentials;
        const AldLinkProbeConfig *config;
} AldProgram;

/* Returns the path of a measuring program: in the directory of installed programs, or in ALIDADE_PROBE_DIR.
 * Free with g_free(). */
char *ald_program_find(const char *name);

/* Returns the common arguments. The array owns the strings, and is not NULL-terminated. */
GPtrArray *ald_program_arguments(const AldProgram *program);

void ald_program_add(GPtrArray *arguments, const char *format, ...) G_GNUC_PRINTF(2, 3);
