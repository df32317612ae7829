/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "common/cluster-keys.h"
#include "common/telemetry-keys.h"
#include "services/link-probe/probe/link-probe-config.h"

#define BYTES_PER_MB UINT64_C(1000000)
#define UNITS_MAX 64u
#define UNIT_NAME_MAX 255u
#define MODEL_PATHS_MAX 64u
#define MODEL_PATH_MAX 1024u

static bool has_unit_suffix(const char *name)
{
        static const char *const suffixes[] = { ".service", ".scope", ".slice", ".socket", ".target",
                ".timer", ".mount", ".automount", ".swap", ".path", ".device", "*" };

        for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
                if (g_str_has_suffix(name, suffixes[i]))
                        return true;
        return false;
}

static const char *refuse_units(const char *list)
{
        g_auto(GStrv) names = g_strsplit(list, ";", -1);

        if (g_strv_length(names) > UNITS_MAX)
                return "more than 64 units";
        for (char **name = names; *name; name++) {
                size_t length = strlen(g_strstrip(*name));

                if (length > UNIT_NAME_MAX)
                        return "the name of a unit can have at most 255 characters";
                if (strspn(*name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ":-_.@\\*?[]") != length)
                        return "the name of a unit can contain only letters, digits and :-_.@\\, and a "
                               "pattern also *?[]";
                if (length > 0 && !has_unit_suffix(*name))
                        return "the name of a unit must end in its type, as in llama-server.service or "
                               "job-*.scope";
        }
        return NULL;
}

static const char *refuse_model_paths(const char *list)
{
        g_auto(GStrv) paths = g_strsplit(list, ";", -1);

        if (g_strv_length(paths) > MODEL_PATHS_MAX)
                return "more than 64 directories";
        for (char **path = paths; *path; path++) {
                g_auto(GStrv) names = g_strsplit(g_strstrip(*path), "/", -1);

                if (**path != '\0' && **path != '/')
                        return "not a list of absolute paths, separated by semicolons";
                if (g_strv_contains((const char *const *) names, ".."))
                        return "a path must not contain \"..\"";
                if (strlen(*path) > MODEL_PATH_MAX)
                        return "a path can have at most 1024 bytes";
        }
        return NULL;
}

/* The data connections of a session use the 16 ports above `port`. */
const AldConfigKey ald_link_probe_config_keys[] = {
        { .group = "link-probe",
                .key = "enabled",
                .type = ALD_CONFIG_BOOLEAN,
                .fallback = "true",
                .shut = "false" },
        { .group = "link-probe",
                .key = "rdma",
                .type = ALD_CONFIG_BOOLEAN,
                .fallback = "true",
                .shut = "false" },
        { .group = "link-probe",
                .key = "compute",
                .type = ALD_CONFIG_BOOLEAN,
                .fallback = "true",
                .shut = "false" },
        { .group = "link-probe",
                .key = "storage",
                .type = ALD_CONFIG_BOOLEAN,
                .fallback = "true",
                .shut = "false" },
        { .group = "link-probe",
                .key = "model-paths",
                .type = ALD_CONFIG_STRV,
                .fallback = "",
                .refuse = refuse_model_paths },
        { .group = "link-probe",
                .key = "storage-mb-per-day",
                .type = ALD_CONFIG_UINT,
                .min = 0,
                .max = 1000000,
                .fallback = "256" },
        { .group = "link-probe",
                .key = "work-units",
                .type = ALD_CONFIG_STRV,
                .fallback = "",
                .refuse = refuse_units },
        { .group = "link-probe",
                .key = "yield-to-processors",
                .type = ALD_CONFIG_BOOLEAN,
                .fallback = "true",
                .shut = "true" },
        { .group = "link-probe",
                .key = "port",
                .type = ALD_CONFIG_UINT,
                .min = 1024,
                .max = 65519,
                .fallback = "7461" },
        { .group = "link-probe",
                .key = "max-sessions",
                .type = ALD_CONFIG_UINT,
                .min = 1,
                .max = 16,
                .fallback = "2" },
        { .group = "link-probe",
                .key = "mb-per-hour",
                .type = ALD_CONFIG_UINT,
                .min = 0,
                .max = 1000000000,
                .fallback = "0" },
        { .group = "link-probe",
                .key = "mb-per-probe",
                .type = ALD_CONFIG_UINT,
                .min = 1,
                .max = 1000000,
                .fallback = "32000" },
        { .group = "link-probe",
                .key = "link-ttl",
                .type = ALD_CONFIG_UINT,
                .min = 0,
                .max = 2592000,
                .fallback = "0" },
        { .group = "link-probe",
                .key = "probe-hours",
                .type = ALD_CONFIG_STRV,
                .fallback = "",
                .refuse = ald_probe_hours_refuse },
        ALD_CLUSTER_CONFIG_KEYS(NULL, NULL, NULL),
        ALD_TELEMETRY_CONFIG_KEYS(NULL, NULL),
        { 0 },
};

AldLinkProbeConfig ald_link_probe_config_read(const AldConfig *config)
{
        /* The cluster service treats other values as none. */
        static const char *const hearing[] = { "all", "self", "on-demand", NULL };
        AldLinkProbeConfig read = {
                .enabled = ald_config_boolean(config, "enabled"),
                .rdma = ald_config_boolean(config, "rdma"),
                .port = (unsigned) ald_config_uint(config, "port"),
                .max_sessions = (unsigned) ald_config_uint(config, "max-sessions"),
                .bytes_per_hour = ald_config_uint(config, "mb-per-hour") * BYTES_PER_MB,
                .bytes_per_probe = ald_config_uint(config, "mb-per-probe") * BYTES_PER_MB,
                .link_ttl_usec = ald_config_uint(config, "link-ttl") * G_USEC_PER_SEC,
                .hears_peers = g_strv_contains(hearing, ald_config_string(config, "mirror")),
                .probe_hours = ALD_PROBE_HOURS_NEVER,
        };

        /* Another value was replaced by an empty list, which would allow any hour. */
        if (!ald_config_is_refused(config, "probe-hours"))
                (void) ald_probe_hours_parse(ald_config_strv(config, "probe-hours"), &read.probe_hours);
        return read;
}
