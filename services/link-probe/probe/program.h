/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/link-probe/credentials.h"
#include "services/link-probe/link-probe-config.h"
#include "services/link-probe/link/transport.h"

/* The programs that measure links, and the arguments that all probes and sessions have in common. */
typedef struct AldProgram {
        char *paths[ALD_TRANSPORT_N];
        const AldCredentials *credentials;
        const AldLinkProbeConfig *config;
} AldProgram;

/* The path of a program that measures: in the directory of installed programs, or in ALIDADE_PROBE_DIR. Free
 * with g_free(). */
char *ald_program_find(const char *name);

/* The common arguments. The array owns the strings, and is not NULL-terminated. */
GPtrArray *ald_program_arguments(const AldProgram *program);

void ald_program_add(GPtrArray *arguments, const char *format, ...) G_GNUC_PRINTF(2, 3);
