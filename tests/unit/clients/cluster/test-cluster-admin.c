/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/broker/mosquitto-conf.h"
#include "clients/cluster/files.h"
#include "clients/cluster/membership/request-and-bundle.h"
#include "pki/key.h"
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
        AldRequest made = { .id = NODE, .purpose = ALD_REQUEST_RENEW, .addresses = addresses };
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
                { NODE, "\"a;b\"", false }, { NODE, "1", false } };
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
        g_test_add_func("/cluster-admin/brokers", test_brokers);
        g_test_add_func("/cluster-admin/lists-of-brokers", test_lists_of_brokers);
        g_test_add_func("/cluster-admin/machine", test_machine);
        g_test_add_func("/cluster-admin/folder-that-includes-itself", test_folder_that_includes_itself);
        g_test_add_func("/cluster-admin/request", test_request);
        g_test_add_func("/cluster-admin/request-ages", test_request_ages);
        g_test_add_func("/cluster-admin/request-statements", test_request_statements);
        g_test_add_func("/cluster-admin/request-of-another-broker", test_request_of_another_broker);
        g_test_add_func("/cluster-admin/bundle", test_bundle);
        return g_test_run();
}
