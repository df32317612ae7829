/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gio/gio.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/recent-hosts.h"

#define SCHEMA "org.alidade.Alidade"
#define KEY "recent-hosts"
#define SHOWN_MAX 8u

/* Returns NULL if the schema is not installed, for which g_settings_new() would abort. */
static GSettings *open_settings(void)
{
        GSettingsSchemaSource *source = g_settings_schema_source_get_default();
        g_autoptr(GSettingsSchema) schema = source ? g_settings_schema_source_lookup(source, SCHEMA, TRUE)
                                                   : NULL;

        return schema && g_settings_schema_has_key(schema, KEY) ? g_settings_new_full(schema, NULL, NULL)
                                                                : NULL;
}

/* Reads the hosts except for one, which may be NULL. Drops those that ssh cannot accept, since any program
 * can write anything into settings. */
static char **read_hosts(GSettings *settings, const char *without)
{
        g_autoptr(GStrvBuilder) hosts = g_strv_builder_new();
        g_auto(GStrv) kept = g_settings_get_strv(settings, KEY);
        unsigned n = 0;

        for (char **host = kept; *host && n < SHOWN_MAX; host++)
                if (ald_connection_is_host(*host) && g_strcmp0(*host, without) != 0) {
                        g_strv_builder_add(hosts, *host);
                        n++;
                }
        return g_strv_builder_end(hosts);
}

char **ald_recent_hosts(void)
{
        g_autoptr(GSettings) settings = open_settings();

        return settings ? read_hosts(settings, NULL) : g_new0(char *, 1);
}

void ald_recent_hosts_remove(const char *host)
{
        g_autoptr(GSettings) settings = open_settings();
        g_auto(GStrv) kept = settings ? read_hosts(settings, host) : NULL;

        if (kept)
                (void) g_settings_set_strv(settings, KEY, (const char *const *) kept);
}
