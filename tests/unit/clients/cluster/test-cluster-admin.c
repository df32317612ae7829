/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "clients/cluster/authority/signing.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/broker/broker-limits.h"
#include "clients/cluster/broker/mosquitto-conf.h"
#include "clients/cluster/cluster-files.h"
#include "clients/cluster/enrolment/request-and-bundle.h"
#include "pki/private-key.h"
#include "pki/request.h"

#define NODE "0123456789abcdef0123456789abcdef"
#define OTHER_NODE "fedcba9876543210fedcba9876543210"
#define NOW UINT64_C(1800000000000000)
#define DAY INT64_C(86400000000)

static void test_names(void)
{
        static const char *const good[] = { "a", "0", "lab-1", "abcdefghijklmnopqrstuvwxyz012345" };
        static const char *const bad[] = { "", "-a", "Lab", "a b", "a/b", "a_b", "+", "#",
                "abcdefghijklmnopqrstuvwxyz0123456", "a\n" };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_true(ald_cluster_name_is_valid(good[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_false(ald_cluster_name_is_valid(bad[i]));
}

static void test_hosts(void)
{
        static const char *const good[] = { "a", "host", "host.example", "a-b_c.local", "192.0.2.1",
                "2001:db8::1", "::1", "4host", "1.example", "a.", "host.example." };
        static const char *const bad[] = { "", ".", "..", "a..", ".a", "192.0.2.1.", "a..b", "-a", "a-",
                "a b", "a;b", "a\n", "192.0.2.300", "1.2.3", "[::1]", "host:1", "é", "fe80::1%eth0", "::g" };
        g_autofree char *label = g_strnfill(64, 'a'), *name = g_strnfill(254, 'a');

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_null(ald_host_refuse(good[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_nonnull(ald_host_refuse(bad[i]));
        g_assert_nonnull(ald_host_refuse(label));
        g_assert_nonnull(ald_host_refuse(name));
        label[63] = '\0';
        g_assert_null(ald_host_refuse(label));
        g_assert_nonnull(strstr(ald_host_refuse("b\u00fccher.example"), "xn--"));
}

static void test_equal_hosts(void)
{
        static const struct {
                const char *a, *b;
                bool equal;
        } cases[] = { { "host.example", "HOST.Example", true }, { "host.example.", "host.example", true },
                { "2001:db8::1", "2001:DB8:0:0::0001", true },
                { "::ffff:192.0.2.1", "::FFFF:c000:201", true },
                { "xn--bcher-kva.example", "XN--BCHER-KVA.example", true },
                { "192.0.2.1", "192.0.2.1", true }, { "host.example", "host", false },
                { "host.example", "xhost.example", false }, { "2001:db8::1", "2001:db8::10", false },
                { "192.0.2.1", "192.0.2.10", false }, { "::ffff:192.0.2.1", "192.0.2.1", false } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_assert_cmpint(ald_host_equal(cases[i].a, cases[i].b), ==, cases[i].equal);
                g_assert_cmpint(ald_host_equal(cases[i].b, cases[i].a), ==, cases[i].equal);
        }
}

static void assert_disallowed(GPtrArray *addresses, const char *requested, const char *expected)
{
        AldClusterCommand command = { .addresses = addresses };
        g_auto(GStrv) hosts = g_strsplit(requested, " ", -1),
                      disallowed = ald_signing_disallowed_hosts(&command, hosts);
        g_autofree char *joined = g_strjoinv(" ", disallowed);

        g_assert_cmpstr(joined, ==, expected);
}

/* A request may name some of the hosts that --address= allows, in any order and spelling, and no others. */
static void test_allowed_hosts(void)
{
        g_autoptr(GPtrArray) addresses = g_ptr_array_new();

        assert_disallowed(addresses, "any.example 192.0.2.9", "");
        g_ptr_array_add(addresses, (char *) "second.example");
        g_ptr_array_add(addresses, (char *) "2001:db8::2");
        assert_disallowed(addresses, "second.example 2001:db8::2", "");
        assert_disallowed(addresses, "2001:DB8:0::2 SECOND.example", "");
        assert_disallowed(addresses, "2001:db8::2", "");
        assert_disallowed(addresses, "first.example second.example 2001:db8::3", "first.example 2001:db8::3");
}

static void assert_broker(const char *broker, const char *expected)
{
        g_autofree char *host = ald_broker_host(broker);

        g_assert_null(ald_broker_refuse(broker));
        g_assert_cmpstr(host, ==, expected);
}

static void test_brokers(void)
{
        static const char *const bad[] = { "", ":1", "host:", "host:0", "host:65536", "host:x", "[::1",
                "[::1]x", "[::1]:", "[host]", "a;b", "[]", "[", "::1]", "host:1:2" };
        g_autofree char *six = ald_broker_from_host("2001:db8::1"), *name = ald_broker_from_host("host");

        assert_broker("host", "host");
        assert_broker("host:8883", "host");
        assert_broker("host.lan.", "host.lan");
        assert_broker("host.lan.:8884", "host.lan");
        assert_broker("192.0.2.1:1", "192.0.2.1");
        assert_broker("[2001:db8::1]", "2001:db8::1");
        assert_broker("[2001:db8::1]:65535", "2001:db8::1");
        assert_broker("2001:db8::1", "2001:db8::1");
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_nonnull(ald_broker_refuse(bad[i]));
        g_assert_cmpstr(six, ==, "[2001:db8::1]");
        g_assert_cmpstr(name, ==, "host");
}

static void assert_list(char **list, const char *expected)
{
        g_autofree char *text = g_strjoinv(" ", list);

        g_assert_cmpstr(text, ==, expected);
        g_strfreev(list);
}

static void test_lists_of_brokers(void)
{
        char *list[] = { (char *) "first:8883", (char *) "[2001:db8::1]", (char *) "third", NULL };
        char *complete[] = { (char *) "broker.lan.:8884", NULL }, *lan[] = { (char *) "Broker.lan", NULL };
        char *none[] = { NULL }, *known[] = { (char *) "2001:db8::1", (char *) "third", NULL };

        assert_list(ald_broker_list_put(list, none, "FIRST"), "first:8883 [2001:db8::1] third");
        assert_list(ald_broker_list_put(list, none, "2001:db8::2"),
                "first:8883 [2001:db8::1] third [2001:db8::2]");
        assert_list(ald_broker_list_put(list, known, "new"), "first:8883 new");
        assert_list(ald_broker_list_put(list, known, "third"), "first:8883 third");
        assert_list(ald_broker_list_put(none, known, "new"), "new");
        assert_list(ald_broker_list_put(complete, none, "broker.lan"), "broker.lan.:8884");
        assert_list(ald_broker_list_drop(complete, lan), "");
        assert_list(ald_broker_list_drop(list, known), "first:8883");
        assert_list(ald_broker_list_drop(list, none), "first:8883 [2001:db8::1] third");
}

static void test_machine(void)
{
        g_auto(GStrv) found = ald_addresses_of_machine();

        g_assert_cmpuint(g_strv_length(found), >=, 1);
        for (char **host = found; *host; host++)
                g_assert_null(ald_host_refuse(*host));
}

static void write_to(const char *folder, const char *name, const char *text)
{
        g_autofree char *path = g_build_filename(folder, name, NULL);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void remove_from(const char *folder, const char *name)
{
        g_autofree char *path = g_build_filename(folder, name, NULL);

        g_assert_cmpint(g_remove(path), ==, 0);
}

/* mosquitto reads folders for its main file only, else this one would never end. */
static void test_folder_that_includes_itself(void)
{
        g_autofree char *folder = g_dir_make_tmp("alidade-XXXXXX", NULL), *reason = NULL;
        g_autofree char *drop_ins = g_build_filename(folder, "conf.d", NULL);
        g_autofree char *line = g_strdup_printf("include_dir %s\n", drop_ins);
        bool shared = true;

        g_assert_cmpint(g_mkdir(drop_ins, 0755), ==, 0);
        write_to(folder, "mosquitto.conf", line);
        write_to(drop_ins, "again.conf", line);
        g_assert_cmpint(ald_mosquitto_conf_check(folder, &shared, &reason), ==, 0);
        g_assert_false(shared);
        write_to(folder, "mosquitto.conf", "# reads no folder\n");
        g_assert_cmpint(ald_mosquitto_conf_check(folder, &shared, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, " does not read "));

        remove_from(drop_ins, "again.conf");
        remove_from(folder, "conf.d");
        remove_from(folder, "mosquitto.conf");
        g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* A folder of mosquitto, with a main file and one that it reads after our drop-in. */
typedef struct Mosquitto {
        char *folder, *drop_ins;
} Mosquitto;

static Mosquitto make_mosquitto(const char *main, const char *later)
{
        Mosquitto made = { .folder = g_dir_make_tmp("alidade-XXXXXX", NULL) };
        g_autofree char *text = NULL;

        made.drop_ins = g_build_filename(made.folder, "conf.d", NULL);
        text = g_strdup_printf("%sinclude_dir %s\n", main, made.drop_ins);
        g_assert_cmpint(g_mkdir(made.drop_ins, 0755), ==, 0);
        write_to(made.folder, "mosquitto.conf", text);
        write_to(made.drop_ins, "zz.conf", later ?: "");
        return made;
}

static void remove_mosquitto(Mosquitto *made)
{
        remove_from(made->drop_ins, "zz.conf");
        remove_from(made->folder, "conf.d");
        remove_from(made->folder, "mosquitto.conf");
        g_assert_cmpint(g_rmdir(made->folder), ==, 0);
        g_free(made->folder);
        g_free(made->drop_ins);
}

#define PER_LISTENER "per_listener_settings true\n"
#define DYNSEC "plugin_load dynsec /usr/lib/mosquitto_dynamic_security.so\n"

/* What each version of mosquitto knows: a reason is a part of the refusal, NULL if there is none. */
static void test_options_of_mosquitto(void)
{
        static const struct {
                const char *main, *later, *reason;
        } cases[] = {
                { PER_LISTENER "listener 1883\nacl_file /x\n", NULL, NULL },
                { PER_LISTENER "listener 1883\nacl_file /x\nlistener_allow_anonymous false\n", NULL, NULL },
                { PER_LISTENER "listener 1883\nacl_file /x\nlistener_allow_anonymous true\n", NULL,
                        "mosquitto.conf:4: a listener of this mosquitto is open to everyone" },
                { PER_LISTENER "listener 1883\nacl_file /x\nallow_anonymous 1\n", NULL, "open to everyone" },
                { "", "listener_allow_anonymous true\n", "would change the listener of the cluster" },
                { "listener_auto_id_prefix home-\n", NULL, "prevent mosquitto from starting" },
                { "maximum_qos 0\n", NULL, "maximum_qos would change" },
                { "clientid_prefixes home-\n", NULL,
                        "mosquitto.conf:1: clientid_prefixes would refuse the nodes of the cluster" },
                { "", "retain_available false\n", "a mosquitto without retained messages would refuse" },
                { "retain_available true\nretain_expiry_interval 5\n", NULL, NULL },
                { "", "plugin_use x\n", "plugin_use would change the listener of the cluster" },
                /* Plugins. */
                { "global_plugin /usr/lib/x.so\nplugin_opt_a b\n", NULL,
                        "mosquitto.conf:1: a global_plugin may decide on the rights of every listener" },
                { DYNSEC "plugin_opt_config_file /x\nlistener 1883\nplugin_use dynsec\n", NULL, NULL },
                { "plugin_load a  /usr/lib/mosquitto_acl_file.so\nlistener 1883\nplugin_use a\n", NULL,
                        NULL },
                { PER_LISTENER "listener 1883\nplugin /usr/lib/mosquitto_dynamic_security.so\n", NULL, NULL },
                { DYNSEC "listener 1883\nplugin_use dynsec\nlistener 1884\n", NULL,
                        "mosquitto.conf:4: another listener of this mosquitto has no access rules" },
                { "plugin_load log /usr/lib/log.so\nlistener 1883\nplugin_use log\n", NULL,
                        "takes its access rules from the plugin /usr/lib/log.so, which may let anyone" },
                { DYNSEC "plugin_opt_config_file /x\n", NULL, NULL },
                { "", "plugin_opt_config_file /x\n", "would change the plugin of the cluster" },
                { "plugin_opt_config_file /x\n", NULL, "would prevent mosquitto from starting" },
                /* per_listener_settings comes first, or is not needed. */
                { DYNSEC "listener 1883\nplugin_use dynsec\nlistener_allow_anonymous false\n", NULL, NULL },
                { DYNSEC "listener 1883\nplugin_use dynsec\nallow_anonymous false\n", NULL,
                        "mosquitto.conf:4: allow_anonymous comes before \"per_listener_settings true\"" },
                { PER_LISTENER, PER_LISTENER, "alidade.conf: allow_anonymous comes before" },
                { PER_LISTENER PER_LISTENER, NULL, NULL },
                { "listener 1883\nacl_file /x\n" PER_LISTENER, NULL, "acl_file comes before" },
                { "per_listener_settings 0\n", NULL, "per_listener_settings must be true" },
                /* Records have to pass. */
                { "", "max_packet_size 100000\n", "zz.conf:1: with max_packet_size 100000, mosquitto would" },
                { "max_packet_size 100000\n", NULL, NULL },
                { "", "max_packet_size 1114112\n", NULL },
                { "message_size_limit 100000\n", NULL, "with message_size_limit 100000, mosquitto would" },
                { "message_size_limit 0\n", NULL, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Mosquitto made = make_mosquitto(cases[i].main, cases[i].later);
                g_autofree char *reason = NULL;
                bool shared = false;
                int r = ald_mosquitto_conf_check(made.folder, &shared, &reason);

                g_test_message("%s%s: %s", cases[i].main, cases[i].later ?: "", reason);
                g_assert_cmpint(r, ==, cases[i].reason ? -EINVAL : 0);
                if (cases[i].reason)
                        g_assert_nonnull(strstr(reason, cases[i].reason));
                else
                        g_assert_true(shared == (strstr(cases[i].main, "listener 1883") != NULL));
                remove_mosquitto(&made);
        }
}

#define OWN_LISTENER PER_LISTENER "listener 1883\nacl_file /x\n"
#define USUAL                                                                                 \
        "max_queued_messages 200000\nmax_queued_bytes 262144000\nmax_inflight_messages 100\n" \
        "max_packet_size 1114112\nset_tcp_nodelay true\n"

/* The notes in one text, with the line numbers alone. */
static void check_limits(
        const char *main, const char *later, uint64_t nodes, const char *expected, const char *told)
{
        Mosquitto made = make_mosquitto(main, later);
        g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
        g_auto(AldMosquittoConf) conf = {};
        g_autofree char *reason = NULL, *text = NULL, *all = NULL;
        g_auto(GStrv) parts = NULL;

        g_assert_cmpint(ald_mosquitto_conf_read(made.folder, &conf, &reason), ==, 0);
        text = ald_broker_limits_format(&conf, nodes, notes);
        g_assert_cmpstr(text, ==, expected);
        g_ptr_array_add(notes, NULL);
        all = g_strjoinv("\n", (char **) notes->pdata);
        parts = g_strsplit(told, "|", -1);
        for (char **part = parts; *part; part++)
                g_assert_nonnull(strstr(all, *part));
        g_assert_cmpuint(notes->len - 1, ==, *told ? g_strv_length(parts) : 0);
        remove_mosquitto(&made);
}

static void test_limits_of_a_broker(void)
{
        check_limits("", NULL, 0, USUAL, "");
        check_limits("", NULL, 1000, USUAL, "");
        /* Sized for the cluster, in steps, as far as mosquitto can count. */
        check_limits("", NULL, 4001,
                "max_queued_messages 320000\nmax_queued_bytes 1310720000\nmax_inflight_messages 100\n"
                "max_packet_size 1114112\nset_tcp_nodelay true\n",
                "");
        check_limits("", NULL, 20000,
                "max_queued_messages 1280000\nmax_queued_bytes 2147483647\nmax_inflight_messages 100\n"
                "max_packet_size 1114112\nset_tcp_nodelay true\n",
                "");
        /* The limits of others stay, or it is told what becomes of them. */
        check_limits(OWN_LISTENER, NULL, 0, "max_queued_messages 200000\nset_tcp_nodelay true\n",
                "max_queued_messages becomes 200000 for all clients, which is more than the default|nodelay");
        check_limits("max_packet_size 8000000\nmax_queued_messages 1000\n" OWN_LISTENER, NULL, 0,
                "max_queued_messages 200000\nset_tcp_nodelay true\n",
                "max_queued_messages becomes 200000 for all clients, instead of 1000 in |"
                "mosquitto.conf:1: max_packet_size stays 8000000, for nodes of the cluster, too|nodelay");
        check_limits("max_packet_size 5000\nmax_queued_messages 0\n" OWN_LISTENER, NULL, 0,
                "max_packet_size 1114112\nset_tcp_nodelay true\n",
                "max_queued_messages stays 0|max_packet_size becomes 1114112 for all clients, instead of "
                "5000|nodelay");
        check_limits("max_packet_size 8000000\n", NULL, 0, USUAL,
                "max_packet_size becomes 1114112 for all clients, instead of 8000000");
        /* The later line counts. */
        check_limits("max_queued_bytes 1\n", "max_queued_bytes 1000\nmax_packet_size 8000000\n", 0,
                "max_queued_messages 200000\nmax_inflight_messages 100\nset_tcp_nodelay true\n",
                "zz.conf:1: max_queued_bytes 1000 counts, which mosquitto reads after alidade.conf; it is "
                "too "
                "little for the cluster|zz.conf:2: max_packet_size 8000000 counts");
}

static int parse(const char *text, uint64_t now, AldRequest *request)
{
        g_autofree char *reason = NULL;
        int r = ald_request_parse(text, now, request, &reason);

        g_assert_true((r < 0) == (reason != NULL));
        if (r < 0)
                g_assert_null(request->node);
        return r;
}

static void test_request(void)
{
        char *addresses[] = { (char *) "host", (char *) "2001:db8::1", NULL };
        AldRequest made = { .id = NODE,
                .purpose = ALD_REQUEST_RENEW,
                .addresses = addresses,
                .name = (char *) "  Ada's\nnode " };
        g_autofree char *text = NULL, *twice = NULL, *beside = NULL, *bare = NULL;
        g_auto(AldRequest) read = {}, plain = {}, bad = {}, headed = {};

        g_assert_cmpint(ald_pki_key_generate(&made.node, NULL), ==, 0);
        g_assert_cmpint(ald_pki_key_generate(&made.broker, NULL), ==, 0);
        g_assert_cmpint(ald_request_make(&made, NOW, &text, NULL), ==, 0);
        g_assert_cmpint(parse(text, NOW, &read), ==, 0);
        g_assert_cmpstr(read.id, ==, NODE);
        g_assert_cmpint(read.purpose, ==, ALD_REQUEST_RENEW);
        g_assert_cmpuint(read.made, ==, NOW);
        g_assert_cmpint(EVP_PKEY_eq(read.node, made.node), ==, 1);
        g_assert_cmpint(EVP_PKEY_eq(read.broker, made.broker), ==, 1);
        g_assert_true(g_strv_equal((const char *const *) read.addresses, (const char *const *) addresses));
        /* The name is shown in lines of their own. */
        g_assert_cmpstr(read.name, ==, "Ada's\xef\xbf\xbdnode");
        /* What stands beside it says nothing. */
        beside = g_strconcat("Broker-Address: evil.example\n", text, NULL);
        g_assert_cmpint(parse(beside, NOW, &headed), ==, 0);
        g_assert_true(g_strv_equal((const char *const *) headed.addresses, (const char *const *) addresses));
        twice = g_strconcat(text, text, NULL);
        g_assert_cmpint(parse(twice, NOW, &bad), <, 0);
        /* By another tool. */
        g_assert_cmpint(ald_pki_request_make(made.node, NODE, NULL, &bare, NULL), ==, 0);
        g_assert_cmpint(parse(bare, NOW, &plain), ==, 0);
        g_assert_cmpint(plain.purpose, ==, ALD_REQUEST_UNSTATED);
        g_assert_null(plain.broker);
        g_assert_cmpuint(plain.made, ==, 0);
        EVP_PKEY_free(made.node);
        EVP_PKEY_free(made.broker);
}

static void test_request_ages(void)
{
        static const struct {
                int64_t days;
                bool good;
        } ages[] = { { 0, true }, { 6, true }, { 8, false }, { 400, false }, { -2, false },
                { 20000, false } };
        AldRequest made = { .id = NODE };
        g_autofree char *text = NULL;

        g_assert_cmpint(ald_pki_key_generate(&made.node, NULL), ==, 0);
        g_assert_cmpint(ald_request_make(&made, NOW, &text, NULL), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(ages); i++) {
                g_auto(AldRequest) read = {};

                g_assert_cmpint(parse(text, NOW + (uint64_t) (ages[i].days * DAY), &read), ==,
                        ages[i].good ? 0 : -EKEYEXPIRED);
        }
        EVP_PKEY_free(made.node);
}

static void test_request_statements(void)
{
        static const char *const bad[] = { "", "[]", "{}", "{\"AlidadeRequest\":2}", "{\"AlidadeRequest\":1}",
                "{\"AlidadeRequest\":1,\"Purpose\":\"rule\",\"TimeUSec\":1}",
                "{\"AlidadeRequest\":1,\"Purpose\":\"join\"}",
                "{\"AlidadeRequest\":1,\"Purpose\":\"join\",\"TimeUSec\":-5}",
                "{\"AlidadeRequest\":1,\"Purpose\":\"join\",\"TimeUSec\":9223372036854775807}",
                "{\"AlidadeRequest\":1,\"Purpose\":\"join\",\"TimeUSec\":1,\"BrokerRequest\":1}",
                "{\"AlidadeRequest\":1,\"Purpose\":\"join\",\"TimeUSec\":1,\"BrokerRequest\":\"x\"}",
                "{\"AlidadeRequest\":1,\"AlidadeRequest\":1}" };

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_auto(AldRequest) request = { .id = NODE };
                g_autofree char *reason = NULL;

                g_assert_cmpint(ald_request_read_statement(bad[i], 1, &request, &reason), <, 0);
                g_assert_nonnull(reason);
        }
}

/* A broker of another node, or without an address. */
static void test_request_of_another_broker(void)
{
        static const char format[] = "{\"AlidadeRequest\":1,\"Purpose\":\"renew\",\"TimeUSec\":1,"
                                     "\"BrokerRequest\":\"%s\",\"BrokerAddresses\":[%s]}";
        static const struct {
                const char *id, *addresses;
                bool good;
        } cases[] = { { NODE, "\"host\"", true }, { OTHER_NODE, "\"host\"", false }, { NODE, "", false },
                { NODE, "\"a;b\"", false }, { NODE, "1", false }, { NODE, "\"*.example\"", false },
                { NODE, "\"host\",\"*\"", false }, { NODE, "\"https://host.example\"", false },
                { NODE, "\"ada@host.example\"", false }, { NODE, "\"DNS:host\"", false },
                { NODE, "\"192.0.2.0/24\"", false }, { NODE, "\"b\u00fccher.example\"", false } };
        g_autoptr(EVP_PKEY) key = NULL;

        g_assert_cmpint(ald_pki_key_generate(&key, NULL), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *pem = NULL, *escaped = NULL, *text = NULL, *reason = NULL;
                g_auto(AldRequest) request = { .id = NODE };

                g_assert_cmpint(ald_pki_request_make(key, cases[i].id, NULL, &pem, NULL), ==, 0);
                escaped = g_strescape(pem, NULL);
                text = g_strdup_printf(format, escaped, cases[i].addresses);
                g_assert_cmpint(
                        ald_request_read_statement(text, 1, &request, &reason) == 0, ==, cases[i].good);
        }
}

static void test_bundle(void)
{
        char *brokers[] = { (char *) "host:1", (char *) "[2001:db8::1]", NULL };
        AldBundle bundle = { .cluster = (char *) "lab",
                .brokers = brokers,
                .ca = (char *) "ca\n",
                .crl = (char *) "crl",
                .node = (char *) "node",
                .broker = (char *) "broker" };
        g_autofree char *text = ald_bundle_format(&bundle), *reason = NULL;
        g_auto(AldBundle) read = {}, cut = {};

        g_assert_cmpint(ald_bundle_parse(text, strlen(text), &read, &reason), ==, 0);
        g_assert_cmpstr(read.cluster, ==, "lab");
        g_assert_cmpstr(read.ca, ==, "ca\n");
        g_assert_cmpstr(read.broker, ==, "broker");
        g_assert_true(g_strv_equal((const char *const *) read.brokers, (const char *const *) brokers));
        g_assert_null(reason);
        g_assert_cmpint(ald_bundle_parse(text, strlen(text) - 3, &cut, &reason), <, 0);
        g_assert_null(cut.ca);
        g_assert_nonnull(reason);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-admin/names", test_names);
        g_test_add_func("/cluster-admin/hosts", test_hosts);
        g_test_add_func("/cluster-admin/equal-hosts", test_equal_hosts);
        g_test_add_func("/cluster-admin/allowed-hosts", test_allowed_hosts);
        g_test_add_func("/cluster-admin/brokers", test_brokers);
        g_test_add_func("/cluster-admin/lists-of-brokers", test_lists_of_brokers);
        g_test_add_func("/cluster-admin/machine", test_machine);
        g_test_add_func("/cluster-admin/folder-that-includes-itself", test_folder_that_includes_itself);
        g_test_add_func("/cluster-admin/options-of-mosquitto", test_options_of_mosquitto);
        g_test_add_func("/cluster-admin/limits-of-a-broker", test_limits_of_a_broker);
        g_test_add_func("/cluster-admin/request", test_request);
        g_test_add_func("/cluster-admin/request-ages", test_request_ages);
        g_test_add_func("/cluster-admin/request-statements", test_request_statements);
        g_test_add_func("/cluster-admin/request-of-another-broker", test_request_of_another_broker);
        g_test_add_func("/cluster-admin/bundle", test_bundle);
        return g_test_run();
}
