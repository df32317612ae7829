/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/broker/broker-limits.h"
#include "clients/cluster/broker/mosquitto-conf.h"
#include "clients/cluster/command-report.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "pki/file.h"
#include "record/kind.h"

#define NODES_MAX 20000u /* nodes beyond this number are never heard */
#define RIGHTS_MAX (1024u * 1024)
#define HEAD "# Written by alidadectl cluster for cluster %s; see alidadectl(1).\n"

/* Keeps messages in memory only, since the nodes send them again; omitted if mosquitto also serves others. */
#define NOT_SHARED "persistence false\n"
/* Omitted if it is set before the drop-in: mosquitto before 2.1 would not start. */
#define PER_LISTENER "per_listener_settings true\n"

/* The configuration of the broker. Clients without a certificate of the cluster are refused, and the
 * certificate names the node. What one client can make mosquitto store is limited: a packet by the largest
 * record, the queue of a subscriber by messages and bytes, and, if the plugin is installed, what the client
 * publishes and has retained. */
static const char drop_in[] = HEAD "%s%s%s"
                                   "\n"
                                   "listener " ALD_BROKER_PORT "\n"
                                   "max_qos 1\n"
                                   "allow_anonymous false\n"
                                   "require_certificate true\n"
                                   "use_identity_as_username true\n"
                                   "use_username_as_clientid true\n"
                                   "tls_version tlsv1.3\n"
                                   "cafile %s/ca.crt\n"
                                   "crlfile %s/crl.pem\n"
                                   "certfile %s/broker/broker.crt\n"
                                   "keyfile %s/broker/broker.key\n"
                                   "acl_file %s\n"
                                   "%s";

#define PLUGIN "alidade-mosquitto.so"

/* If the broker fills up, it is restarted instead of exhausting its host; the nodes send everything again. */
static const char limits[] = HEAD "[Unit]\n"
                                  "StartLimitIntervalSec=0\n"
                                  "[Service]\n"
                                  "MemoryMax=25%%\n"
                                  "MemorySwapMax=0\n"
                                  "LimitNOFILE=65536\n"
                                  "Restart=on-failure\n"
                                  "RestartSec=1\n";

/* Topics below the id of a node, in addition to those of its records. */
static const char *const topics_of_presence[] = { "alive", "crl", "forget/+", "status", NULL };
static const char *const topics_of_renewal[] = { "renewal", "renewed/+", NULL };

static const char announcement[] =
        "<?xml version=\"1.0\" standalone='no'?>\n"
        "<!DOCTYPE service-group SYSTEM \"avahi-service.dtd\">\n"
        "<!-- Announces a broker of cluster %s. Written by alidadectl cluster. -->\n"
        "<service-group>\n"
        "  <name replace-wildcards=\"yes\">Alidade %s on %%h</name>\n"
        "  <service>\n"
        "    <type>_secure-mqtt._tcp</type>\n"
        "    <port>" ALD_BROKER_PORT "</port>\n"
        "    <txt-record>cluster=%s</txt-record>\n"
        "  </service>\n"
        "</service-group>\n";

static char *rights_path(const AldClusterFiles *files)
{
        return g_build_filename(files->mosquitto, "alidade.acl", NULL);
}

static char *announcement_path(const AldClusterFiles *files)
{
        return g_build_filename(files->avahi, "services", "alidade.service", NULL);
}

static char *limits_path(const AldClusterFiles *files)
{
        return g_build_filename(files->systemd, "mosquitto.service.d", "alidade.conf", NULL);
}

int ald_broker_files_check(const AldClusterFiles *files)
{
        g_autofree char *reason = NULL;
        bool shared;

        if (ald_mosquitto_conf_check(files->mosquitto, &shared, &reason) >= 0)
                return ALD_EXIT_OK;
        ald_print_error("%s, then run this command again", reason);
        return ALD_EXIT_ERROR;
}

/* Reads the access rules from the first named user on; "" if there are none. A file that cannot be read is an
 * error, since it must not be overwritten. */
static int read_named_rights(const char *path, char **ret)
{
        g_autofree char *text = NULL;
        const char *named;
        size_t n;
        int r = ald_pki_file_read(path, RIGHTS_MAX, &text, &n);

        if (r < 0 && r != -ENOENT)
                return ald_report_failure(r, path, NULL);
        named = text ? strstr(text, "\nuser ") : NULL;
        *ret = g_strdup(named ? named + 1 : "");
        return ALD_EXIT_OK;
}

int ald_broker_files_admit(const AldClusterFiles *files, const char *cluster, const char *bridge)
{
        g_autofree char *path = rights_path(files), *text = NULL, *line = NULL, *added = NULL;
        size_t n;
        int r;

        r = ald_pki_file_read(path, RIGHTS_MAX, &text, &n);
        if (r < 0)
                return ald_report_failure(r, path, NULL);
        line = g_strdup_printf("\nuser %s\n", bridge);
        if (strstr(text, line))
                return ALD_EXIT_OK;
        added = g_strdup_printf("%s%suser %s\ntopic readwrite alidade/1/%s/#\n", text,
                g_str_has_suffix(text, "\n") ? "" : "\n", bridge, cluster);
        return ald_files_install(files, ALD_CHANGE_WRITE, path, added, 0644,
                ": %s may publish for the nodes of its site", bridge);
}

/* Returns the line for the plugin, or "" if it is not installed: mosquitto would not start. */
static char *format_plugin(const AldClusterFiles *files)
{
        const char *given = g_getenv("ALIDADE_MOSQUITTO_PLUGIN");
        const char *path = given && *given ? given : ALD_LIBEXEC_DIR "/" PLUGIN;

        if (access(path, R_OK) == 0)
                return g_strdup_printf("plugin %s\n", path);
        ald_changes_note(files->changes,
                "%s is missing, so mosquitto will not limit what it keeps for each node. Install the package "
                "alidade, then run alidadectl cluster renew",
                path);
        return g_strdup("");
}

/* Reads the configuration of mosquitto. If it has a problem, it is treated as one that serves others. */
static void read_conf(const AldClusterFiles *files, AldMosquittoConf *ret)
{
        g_autofree char *reason = NULL;

        if (ald_mosquitto_conf_read(files->mosquitto, ret, &reason) < 0)
                *ret = (AldMosquittoConf){ .shared = true };
}

/* Returns how many nodes the state service knows; 0 if it does not run, as on a machine that is about to
 * join. */
static uint64_t count_nodes(void)
{
        g_autoptr(AldOwnBus) bus = NULL;
        uint64_t nodes;

        if (ald_connection_open(NULL, &bus) < 0 || ald_connection_await(bus, false, NULL, NULL) < 0 ||
                sd_bus_get_name_creds(bus, ALD_STATE_NAME, 0, NULL) < 0 ||
                sd_bus_get_property_trivial(bus, ALD_STATE_NAME, ALD_STATE_PATH, ALD_STATE_INTERFACE, "Nodes",
                        NULL, 't', &nodes) < 0)
                return 0;
        return MIN(nodes, NODES_MAX);
}

static char *format_drop_in(const AldClusterFiles *files, const char *cluster, const char *acl)
{
        g_auto(AldMosquittoConf) conf = {};
        g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *plugin = format_plugin(files), *limits_text = NULL;
        const char *folder = files->folder;

        read_conf(files, &conf);
        limits_text = ald_broker_limits_format(&conf, count_nodes(), notes);
        for (guint i = 0; i < notes->len; i++)
                ald_changes_note(files->changes, "%s", (const char *) notes->pdata[i]);
        return g_strdup_printf(drop_in, cluster, conf.per_listener ? "" : PER_LISTENER,
                conf.shared ? "" : NOT_SHARED, limits_text, folder, folder, folder, folder, acl, plugin);
}

/* Appends a rule for each topic. mosquitto replaces %u by the node id of the certificate. */
static void append_rights(GString *text, const char *cluster, const char *const *topics)
{
        for (; *topics; topics++)
                g_string_append_printf(text, "pattern write alidade/1/%s/%%u/%s\n", cluster, *topics);
}

/* Formats the access rules. Brokers pass on no other kinds, so they have to be upgraded before the nodes. */
static char *format_rights(const char *cluster)
{
        GString *text = g_string_new(NULL);

        g_string_append_printf(text,
                HEAD
                "# All nodes may read everything; each may publish under its own id only, on these topics.\n"
                "pattern read alidade/1/%s/#\n"
                "pattern read $SYS/broker/alidade/#\n",
                cluster, cluster);
        append_rights(text, cluster, topics_of_presence);
        append_rights(text, cluster, ald_record_topics);
        append_rights(text, cluster, topics_of_renewal);
        g_string_append(text, "# Entries for named users that you add below are kept.\n");
        return g_string_free(text, FALSE);
}

static int write_rights(const AldClusterFiles *files, const char *path, const char *cluster)
{
        g_autofree char *named = NULL, *own = format_rights(cluster), *text = NULL;
        int r = read_named_rights(path, &named);

        if (r != ALD_EXIT_OK)
                return r;
        text = g_strconcat(own, named, NULL);
        return ald_files_install(files, ALD_CHANGE_WRITE, path, text, 0644,
                ": each node of %s may publish under its own id only", cluster);
}

/* Writes a drop-in for the unit of mosquitto, unless mosquitto also serves others. */
static int write_limits(const AldClusterFiles *files, const char *cluster)
{
        g_autofree char *path = limits_path(files), *folder = g_path_get_dirname(path);
        g_autofree char *text = g_strdup_printf(limits, cluster);
        g_auto(AldMosquittoConf) conf = {};
        int r;

        read_conf(files, &conf);
        if (conf.shared || access(files->systemd, W_OK) < 0)
                return ALD_EXIT_OK;
        r = ald_files_make_folder(files, folder, 0755);
        return r == ALD_EXIT_OK ? ald_files_install(files, ALD_CHANGE_WRITE, path, text, 0644,
                                          ": mosquitto may use at most a quarter of the memory")
                                : r;
}

/* Writes the announcement, unless Avahi is not installed. */
static int write_announcement(const AldClusterFiles *files, const char *cluster)
{
        g_autofree char *path = announcement_path(files), *services = g_path_get_dirname(path);
        g_autofree char *text = g_strdup_printf(announcement, cluster, cluster, cluster);

        if (access(services, W_OK) < 0)
                return ALD_EXIT_OK;
        return ald_files_put(files, ALD_CHANGE_WRITE, path, text, 0644, ": Avahi announces the broker");
}

int ald_broker_files_write(const AldClusterFiles *files, const char *cluster)
{
        g_autofree char *conf = ald_files_drop_in(files), *acl = rights_path(files);
        g_autofree char *conf_text = format_drop_in(files, cluster, acl);
        int r;

        /* The access rules are written before the drop-in, since mosquitto might be started in between. */
        r = write_rights(files, acl, cluster);
        if (r == ALD_EXIT_OK)
                r = ald_files_install(files, ALD_CHANGE_WRITE, conf, conf_text, 0644,
                        ": TLS on port " ALD_BROKER_PORT " for nodes of %s only", cluster);
        if (r != ALD_EXIT_OK)
                return r;
        r = write_limits(files, cluster);
        return r != ALD_EXIT_OK ? r : write_announcement(files, cluster);
}

int ald_broker_files_remove(const AldClusterFiles *files)
{
        g_autofree char *conf = ald_files_drop_in(files), *acl = rights_path(files),
                        *avahi = announcement_path(files), *memory = limits_path(files);
        int r;

        r = ald_files_remove(files, avahi);
        if (r == ALD_EXIT_OK)
                r = ald_files_remove(files, conf);
        if (r == ALD_EXIT_OK)
                r = ald_files_remove(files, memory);
        return r == ALD_EXIT_OK ? ald_files_remove(files, acl) : r;
}
