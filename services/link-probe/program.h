/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/link-probe/credentials.h"
#include "services/link-probe/link-probe-config.h"
#include "services/link-probe/transport.h"

/* The programs that measure links, and the command line as every probe and session begins it. */
typedef struct AldProgram {
        char *paths[ALD_TRANSPORT_N];
        const AldCredentials *credentials;
        const AldLinkProbeConfig *config;
} AldProgram;

/* Where a program that measures is: beside what else is installed, or in ALIDADE_PROBE_DIR. Free with
 * g_free().
 */
char *ald_program_find(const char *name);

/* What probe and session have in common. The words are to be freed with the array, which is not terminated.
 */
GPtrArray *ald_program_arguments(const AldProgram *program);

void ald_program_add(GPtrArray *arguments, const char *format, ...) G_GNUC_PRINTF(2, 3);
