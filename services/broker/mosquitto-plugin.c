/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include <mosquitto.h>
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>

#include "services/broker/quota.h"

/*
 * The plugin that mosquitto loads on a broker of a cluster. It limits how much one node may keep and publish
 * there, and reports the nodes that tried more. Rights remain those of the acl_file, which mosquitto checks
 * afterwards.
 */

#define PREFIX "alidade/1/"
#define ID_LENGTH 32u
#define BRIDGE "bridge-" /* prefix of the user name of a bridge, which publishes for all nodes behind it */

/* Subscriptions of a client: a member needs some 200 filters. */
#define SUBSCRIPTIONS_MAX 1024

/* A client that reads nothing for this long is disconnected, before its messages fill the memory. */
#define STALLED_MS 30000u
#define SOCKETS_MAX 1024 /* the listening sockets are among these, since they are opened first */

#define REPORT_TOPIC "$SYS/broker/alidade/quota"
#define REPORT_USEC (5 * G_USEC_PER_SEC)
#define REPORT_KEPT_USEC (UINT64_C(600) * G_USEC_PER_SEC) /* after the last refusal */
#define REPORT_NODES 8u

typedef struct Plugin {
        mosquitto_plugin_id_t *id;
        AldQuota *quota;
        uint64_t reported; /* when the quota was last checked; 0: never */
        char *report;      /* the retained report; NULL: none */
} Plugin;

int mosquitto_plugin_version(int n, const int *versions);
int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **userdata, struct mosquitto_opt *options, int n);
int mosquitto_plugin_cleanup(void *userdata, struct mosquitto_opt *options, int n);

/* Returns the id in alidade/1/CLUSTER/ID/…; false for any other topic. */
static bool find_node(const char *topic, char ret[static ID_LENGTH + 1])
{
        const char *at = g_str_has_prefix(topic, PREFIX) ? strchr(topic + strlen(PREFIX), '/') : NULL;

        if (!at || strnlen(at + 1, ID_LENGTH + 1) <= ID_LENGTH || at[ID_LENGTH + 1] != '/')
                return false;
        (void) g_strlcpy(ret, at + 1, ID_LENGTH + 1);
        return strspn(ret, "0123456789abcdef") == ID_LENGTH;
}

/*
 * Counts retained messages that this plugin did not admit: mosquitto loads those on its disk before it loads
 * the plugin, and does not ask about messages of its own bridge. They cannot be listed, but mosquitto asks
 * about each message that it delivers. Messages that waited for a returning client are left out, since they
 * may be older than the retained ones.
 */
static void note_retained(Plugin *plugin, const struct mosquitto_evt_acl_check *check)
{
        char node[ID_LENGTH + 1];

        if (check->retain && mosquitto_client_clean_session(check->client) && find_node(check->topic, node))
                ald_quota_note(plugin->quota, node, check->topic, check->payloadlen,
                        (uint64_t) g_get_monotonic_time());
}

/* Returns whether mosquitto asks about a retained message. With check_retain_source, it asks before
 * delivering one whether its author may write it, in the name of a client without an address. If these
 * counted as published, readers would use up the budget of the author. */
static bool is_about_retained(const struct mosquitto_evt_acl_check *check)
{
        return !mosquitto_client_address(check->client);
}

/* Checks a message to be published. A node publishes under its own id only, so that it cannot use up the
 * budget of another one. */
static int check_write(Plugin *plugin, const struct mosquitto_evt_acl_check *check)
{
        const char *user = mosquitto_client_username(check->client);
        char node[ID_LENGTH + 1];

        if (!find_node(check->topic, node))
                return MOSQ_ERR_PLUGIN_DEFER;
        if (!user || (strcmp(user, node) != 0 && !g_str_has_prefix(user, BRIDGE)))
                return MOSQ_ERR_ACL_DENIED;
        if (is_about_retained(check))
                return MOSQ_ERR_PLUGIN_DEFER;
        if (ald_quota_admit(plugin->quota, node, check->topic, check->payloadlen, check->retain,
                    (uint64_t) g_get_monotonic_time()))
                return MOSQ_ERR_PLUGIN_DEFER;
        return MOSQ_ERR_ACL_DENIED;
}

/* Sets a time limit on the listening sockets, from which accepted connections inherit it. mosquitto opens
 * these sockets after it has loaded the plugin. */
static void limit_stalls(void)
{
        for (int fd = 0; fd < SOCKETS_MAX; fd++) {
                unsigned stalled = STALLED_MS;
                socklen_t size = sizeof(int);
                int listens = 0;

                if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
                        (void) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stalled, sizeof stalled);
        }
}

static char *format_report(const Plugin *plugin, uint64_t now)
{
        const AldQuotaAccount *accounts[REPORT_NODES];
        size_t n = ald_quota_find_refused(
                plugin->quota, now > REPORT_KEPT_USEC ? now - REPORT_KEPT_USEC : 0, accounts, REPORT_NODES);
        GString *text;

        if (n == 0)
                return NULL;
        text = g_string_new("{\"nodes\":[");
        for (size_t i = 0; i < n; i++)
                g_string_append_printf(text,
                        "%s{\"node\":\"%s\",\"kept_bytes\":%" G_GUINT64_FORMAT
                        ",\"kept_topics\":%u,\"refused\":%" G_GUINT64_FORMAT "}",
                        i > 0 ? "," : "", accounts[i]->node, accounts[i]->kept_bytes,
                        accounts[i]->kept_topics, accounts[i]->refused);
        g_string_append(text, "]}");
        return g_string_free(text, FALSE);
}

static void publish_report(Plugin *plugin, uint64_t now)
{
        g_autofree char *made = format_report(plugin, now);

        if (g_strcmp0(made, plugin->report) == 0)
                return;
        if (made)
                mosquitto_log_printf(
                        MOSQ_LOG_WARNING, "Alidade: nodes exceed what they may keep and publish: %s", made);
        if (mosquitto_broker_publish_copy(
                    NULL, REPORT_TOPIC, made ? (int) strlen(made) : 0, made ?: "", 1, true, NULL) != 0)
                return;
        g_free(plugin->report);
        plugin->report = g_steal_pointer(&made);
}

/* Reports at intervals, driven by messages: mosquitto 2.0 does not call MOSQ_EVT_TICK for the plugin of a
 * listener, but each node publishes a heartbeat every second. */
static void report_regularly(Plugin *plugin)
{
        uint64_t now = (uint64_t) g_get_monotonic_time();

        if (plugin->reported != 0 && now - plugin->reported < REPORT_USEC)
                return;
        if (plugin->reported == 0)
                limit_stalls();
        plugin->reported = now;
        publish_report(plugin, now);
}

static int on_acl_check(int event, void *data, void *userdata)
{
        const struct mosquitto_evt_acl_check *check = data;

        report_regularly(userdata);
        if (check->access == MOSQ_ACL_WRITE)
                return check_write(userdata, check);
        if (check->access == MOSQ_ACL_READ)
                note_retained(userdata, check);
        if (check->access == MOSQ_ACL_SUBSCRIBE &&
                mosquitto_client_sub_count(check->client) >= SUBSCRIPTIONS_MAX)
                return MOSQ_ERR_ACL_DENIED;
        return MOSQ_ERR_PLUGIN_DEFER;
}

int mosquitto_plugin_version(int n, const int *versions)
{
        for (int i = 0; i < n; i++)
                if (versions[i] == MOSQ_PLUGIN_VERSION)
                        return MOSQ_PLUGIN_VERSION;
        return -1;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **userdata, struct mosquitto_opt *options, int n)
{
        Plugin *plugin = g_new0(Plugin, 1);

        plugin->id = id;
        plugin->quota = ald_quota_new();
        *userdata = plugin;
        return mosquitto_callback_register(id, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, plugin);
}

int mosquitto_plugin_cleanup(void *userdata, struct mosquitto_opt *options, int n)
{
        Plugin *plugin = userdata;

        (void) mosquitto_callback_unregister(plugin->id, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL);
        ald_quota_free(plugin->quota);
        g_free(plugin->report);
        g_free(plugin);
        return MOSQ_ERR_SUCCESS;
}
