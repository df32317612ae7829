/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include <glib.h>

#include "services/link-probe/probe/credentials.h"

#define STATE_OF_THE_CLUSTER_SERVICE "/var/lib/alidade/cluster"

static const char *environment_or(const char *name, const char *fallback)
{
        const char *value = g_getenv(name);

        return value && *value ? value : fallback;
}

void ald_credentials_init(AldCredentials *credentials)
{
        credentials->folder = g_build_filename(
                environment_or("ALIDADE_CONFIG_DIR", ALD_CONFIG_DIR), "cluster", NULL);
        credentials->crl = g_build_filename(
                environment_or("ALIDADE_CLUSTER_STATE_DIR", STATE_OF_THE_CLUSTER_SERVICE), "crl.pem", NULL);
}

void ald_credentials_clear(AldCredentials *credentials)
{
        g_clear_pointer(&credentials->folder, g_free);
        g_clear_pointer(&credentials->crl, g_free);
}

char *ald_credentials_problem(const AldCredentials *credentials)
{
        static const char *const names[] = { "ca.crt", "crl.pem", "node.crt", "node.key" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(credentials->folder, names[i], NULL);

                if (access(path, R_OK) >= 0)
                        continue;
                return g_strdup_printf("This machine cannot prove its identity to other nodes (%s: %s), so "
                                       "no links are measured: run alidadectl cluster join, or on the first "
                                       "machine of a cluster, init",
                        path, g_strerror(errno));
        }
        return NULL;
}

const char *ald_credentials_newest_crl(const AldCredentials *credentials)
{
        return access(credentials->crl, R_OK) >= 0 ? credentials->crl : NULL;
}
