/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/broker-files.h"
#include "clients/alidadectl/cluster/mosquitto-conf.h"
#include "clients/alidadectl/print.h"
#include "pki/file.h"

#define RIGHTS_MAX (1024u * 1024)
#define HEAD "# Written by alidadectl cluster for cluster %s; see alidadectl(1).\n"

/* Messages are nowhere kept but in memory, for the nodes bring them again; where mosquitto serves others,
 * that is not ours to say. */
#define NOT_SHARED "persistence false\n"

/* Who has no certificate of the cluster gets nothing, and a node is called as its certificate says. All that
 * waits for one reader is bounded by bytes. */
static const char drop_in[] = HEAD "per_listener_settings true\n"
                                   "%s"
                                   "max_queued_messages 0\n"
                                   "max_queued_bytes 134217728\n"
                                   "max_inflight_messages 100\n"
                                   "message_size_limit 1048576\n"
                                   "set_tcp_nodelay true\n"
                                   "\n"
                                   "listener " ALD_BROKER_PORT "\n"
                                   "allow_anonymous false\n"
                                   "require_certificate true\n"
                                   "use_identity_as_username true\n"
                                   "use_username_as_clientid true\n"
                                   "tls_version tlsv1.3\n"
                                   "cafile %s/ca.crt\n"
                                   "crlfile %s/crl.pem\n"
                                   "certfile %s/broker/broker.crt\n"
                                   "keyfile %s/broker/broker.key\n"
                                   "acl_file %s\n";

/* %u is the node id of the certificate. */
static const char rights[] = HEAD "# All nodes read all of it; each writes under its own id only.\n"
                                  "pattern read alidade/1/%s/#\n"
                                  "pattern write alidade/1/%s/%%u/#\n"
                                  "# What is added below, for named users, stays.\n";

static const char announcement[] =
        "<?xml version=\"1.0\" standalone='no'?>\n"
        "<!DOCTYPE service-group SYSTEM \"avahi-service.dtd\">\n"
        "<!-- Tells the nodes of cluster %s where a broker of theirs is. Written by alidadectl cluster. -->\n"
        "<service-group>\n"
        "  <name replace-wildcards=\"yes\">Alidade %s on %%h</name>\n"
        "  <service>\n"
        "    <type>_secure-mqtt._tcp</type>\n"
        "    <port>" ALD_BROKER_PORT "</port>\n"
        "    <txt-record>cluster=%s</txt-record>\n"
        "  </service>\n"
        "</service-group>\n";

static char *drop_in_path(const AldHome *home)
{
        return g_build_filename(home->mosquitto, "conf.d", "alidade.conf", NULL);
}

static char *rights_path(const AldHome *home)
{
        return g_build_filename(home->mosquitto, "alidade.acl", NULL);
}

static char *announcement_path(const AldHome *home)
{
        return g_build_filename(home->avahi, "services", "alidade.service", NULL);
}

int ald_broker_files_check(const AldHome *home)
{
        g_autofree char *reason = NULL;
        bool shared;

        if (ald_mosquitto_conf_check(home->mosquitto, &shared, &reason) >= 0)
                return ALD_EXIT_OK;
        ald_complain("%s, then do this again", reason);
        return ALD_EXIT_ERROR;
}

/* From the first named user on; "" where there is none. What cannot be read is not to be lost. */
static int named_rights(const char *path, char **ret)
{
        g_autofree char *text = NULL;
        const char *named;
        size_t n;
        int r = ald_pki_file_read(path, RIGHTS_MAX, &text, &n);

        if (r < 0 && r != -ENOENT)
                return ald_home_failed(r, path, NULL);
        named = text ? strstr(text, "\nuser ") : NULL;
        *ret = g_strdup(named ? named + 1 : "");
        return ALD_EXIT_OK;
}

int ald_broker_files_admit(const AldHome *home, const char *cluster, const char *bridge)
{
        g_autofree char *path = rights_path(home), *text = NULL, *line = NULL, *added = NULL;
        size_t n;
        int r;

        r = ald_pki_file_read(path, RIGHTS_MAX, &text, &n);
        if (r < 0)
                return ald_home_failed(r, path, NULL);
        line = g_strdup_printf("\nuser %s\n", bridge);
        if (strstr(text, line))
                return ALD_EXIT_OK;
        added = g_strdup_printf("%s%suser %s\ntopic readwrite alidade/1/%s/#\n", text,
                g_str_has_suffix(text, "\n") ? "" : "\n", bridge, cluster);
        r = ald_home_write(path, added, 0644);
        if (r == ALD_EXIT_OK)
                ald_home_tell(home, "Wrote %s: %s may write for the nodes of its site", path, bridge);
        return r;
}

static char *format_drop_in(const AldHome *home, const char *cluster, const char *acl)
{
        g_autofree char *reason = NULL;
        const char *folder = home->folder;
        bool shared = false;

        (void) ald_mosquitto_conf_check(home->mosquitto, &shared, &reason);
        return g_strdup_printf(
                drop_in, cluster, shared ? "" : NOT_SHARED, folder, folder, folder, folder, acl);
}

static int write_rights(const char *path, const char *cluster)
{
        g_autofree char *named = NULL, *own = g_strdup_printf(rights, cluster, cluster, cluster);
        g_autofree char *text = NULL;
        int r = named_rights(path, &named);

        if (r != ALD_EXIT_OK)
                return r;
        text = g_strconcat(own, named, NULL);
        return ald_home_write(path, text, 0644);
}

/* Where Avahi is not there, nothing is written. */
static int write_announcement(const AldHome *home, const char *cluster)
{
        g_autofree char *path = announcement_path(home), *services = g_path_get_dirname(path);
        g_autofree char *text = g_strdup_printf(announcement, cluster, cluster, cluster);
        int r;

        if (access(services, W_OK) < 0)
                return ALD_EXIT_OK;
        r = ald_home_write(path, text, 0644);
        if (r == ALD_EXIT_OK)
                ald_home_tell(home, "Wrote %s: Avahi tells where the broker is", path);
        return r;
}

int ald_broker_files_write(const AldHome *home, const char *cluster)
{
        g_autofree char *conf = drop_in_path(home), *acl = rights_path(home);
        g_autofree char *conf_text = format_drop_in(home, cluster, acl);
        int r;

        /* The drop-in comes last: mosquitto might be started in between. */
        r = write_rights(acl, cluster);
        if (r == ALD_EXIT_OK)
                r = ald_home_write(conf, conf_text, 0644);
        if (r != ALD_EXIT_OK)
                return r;
        ald_home_tell(home, "Wrote %s and %s: TLS on port " ALD_BROKER_PORT " for nodes of %s only", conf,
                acl, cluster);
        return write_announcement(home, cluster);
}

static int remove_file(const AldHome *home, const char *path)
{
        if (unlink(path) < 0)
                return errno == ENOENT ? ALD_EXIT_OK : ald_home_failed(-errno, path, NULL);
        ald_home_tell(home, "Removed %s", path);
        return ALD_EXIT_OK;
}

int ald_broker_files_remove(const AldHome *home)
{
        g_autofree char *conf = drop_in_path(home), *acl = rights_path(home),
                        *avahi = announcement_path(home);
        int r;

        r = remove_file(home, avahi);
        if (r == ALD_EXIT_OK)
                r = remove_file(home, conf);
        return r == ALD_EXIT_OK ? remove_file(home, acl) : r;
}

bool ald_broker_files_exist(const AldHome *home)
{
        g_autofree char *conf = drop_in_path(home);

        return access(conf, F_OK) == 0;
}
