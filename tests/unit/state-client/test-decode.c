/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "state-client/decode.h"
#include "state-client/model-json.h"
#include "state-client/value.h"

#define A "00000000000000000000000000000001"
#define B "00000000000000000000000000000002"
#define NODE_PATH ALD_STATE_PATH "/node/" A

/* Messages need a connection to be made for; nothing answers on this one. */
typedef struct Fixture {
        sd_bus *bus;
        int other;
        AldModel *model;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        fixture->other = fds[1];
        g_assert_cmpint(sd_bus_new(&fixture->bus), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(fixture->bus, fds[0], fds[0]), >=, 0);
        g_assert_cmpint(sd_bus_start(fixture->bus), >=, 0);
        fixture->model = ald_model_new();
}

static void tear_down(Fixture *fixture, const void *data)
{
        ald_model_free(fixture->model);
        sd_bus_close_unref(fixture->bus);
        (void) close(fixture->other);
}

static sd_bus_message *message_new(Fixture *fixture, const char *path)
{
        sd_bus_message *m;

        g_assert_cmpint(sd_bus_message_new_signal(fixture->bus, &m, path, "org.alidade.Test", "Test"), >=, 0);
        return m;
}

static void seal(sd_bus_message *m)
{
        g_assert_cmpint(sd_bus_message_seal(m, 1, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_rewind(m, true), >=, 0);
}

static void assert_json(json_t *value, const char *expected)
{
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

        g_assert_cmpstr(text, ==, expected);
        free(text);
}

static void assert_entity(Fixture *fixture, const char *id, const char *expected)
{
        json_t *records = ald_entity_to_json(ald_model_get(fixture->model, id));

        assert_json(records, expected);
        json_decref(records);
}

static void test_values(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        json_t *into = json_object(), *absent = json_array();

        g_assert_cmpint(sd_bus_message_append(m, "a{sv}", 12, "S", "s", "text", "T", "t", UINT64_C(1) << 53,
                                "X", "x", INT64_C(-5), "D", "d", 1.5, "B", "b", false, "As", "as", 2, "a",
                                "b", "Es", "s", "", "Et", "t", UINT64_MAX, "Ex", "x", INT64_MIN, "Ed", "d",
                                NAN, "Ei", "d", INFINITY, "Ea", "as", 0),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_dict(m, into, absent), >=, 0);
        assert_json(into, "{\"S\":\"text\",\"T\":9007199254740992,\"X\":-5,\"D\":1.5,\"B\":false,\"As\":["
                          "\"a\",\"b\"]}");
        assert_json(absent, "[\"Es\",\"Et\",\"Ex\",\"Ed\",\"Ei\",\"Ea\"]");
        json_decref(into);
        json_decref(absent);
}

static void test_rows(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        json_t *into = json_object();

        g_assert_cmpint(sd_bus_message_append(m, "a{sv}", 2, "Rows", "aa{sv}", 2, 1, "Id", "s", "x", 2, "Id",
                                "s", "y", "Used", "t", UINT64_MAX, "None", "aa{sv}", 0),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_dict(m, into, NULL), >=, 0);
        assert_json(into, "{\"Rows\":[{\"Id\":\"x\"},{\"Id\":\"y\"}],\"None\":[]}");
        json_decref(into);
}

/* Types that no field has are passed over, and the rest is read all the same. */
static void test_foreign_types(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        json_t *into = json_object(), *absent = json_array();

        g_assert_cmpint(sd_bus_message_append(m, "a{sv}", 8, "Path", "o", "/", "Bytes", "ay", 3, 1, 2, 3,
                                "Nested", "v", "v", "s", "deep", "Struct", "(sa{sv})", "a", 1, "b", "s", "c",
                                "Rows", "aa{sv}", 1, 1, "Inner", "aa{sv}", 1, 1, "Id", "s", "x", "Bad name",
                                "s", "x", "", "s", "x", "Good", "u", 7),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_dict(m, into, absent), >=, 0);
        assert_json(into, "{\"Rows\":[{}],\"Good\":7}");
        json_decref(into);
        json_decref(absent);
}

/* One dictionary within another is read, and what is deeper is not. */
static void test_nested(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        json_t *into = json_object();

        g_assert_cmpint(
                sd_bus_message_append(m, "a{sv}", 3, "None", "a{sv}", 0, "Result", "a{sv}", 4, "Rate", "t",
                        UINT64_C(5), "Nan", "d", (double) NAN, "Deep", "a{sv}", 1, "Id", "s", "x", "Rows",
                        "aa{sv}", 1, 2, "Id", "s", "a", "Deeper", "aa{sv}", 0, "Good", "u", 7),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_dict(m, into, NULL), >=, 0);
        assert_json(into, "{\"None\":{},\"Result\":{\"Rate\":5,\"Rows\":[{\"Id\":\"a\"}]},\"Good\":7}");
        json_decref(into);
}

static void test_limits(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        g_autofree char *giant = g_strnfill(ALD_VALUE_STRING_MAX + 1, 'x');
        json_t *into = json_object();

        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "{sv}", "Giant", "s", giant), >=, 0);
        for (unsigned i = 0; i < ALD_VALUE_FIELDS_MAX + 10; i++) {
                g_autofree char *name = g_strdup_printf("F%u", i);

                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, "b", true), >=, 0);
        }
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_dict(m, into, NULL), >=, 0);
        g_assert_cmpuint(json_object_size(into), ==, ALD_VALUE_FIELDS_MAX);
        g_assert_null(json_object_get(into, "Giant"));
        json_decref(into);
}

static void test_many_rows(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        json_t *into = json_array();

        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "a{sv}"), >=, 0);
        for (unsigned i = 0; i < ALD_VALUE_ROWS_MAX + 10; i++)
                g_assert_cmpint(sd_bus_message_append(m, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_rows(m, into), >=, 0);
        g_assert_cmpuint(json_array_size(into), ==, ALD_VALUE_ROWS_MAX);
        json_decref(into);
}

/* Small values of a message become large ones in memory. */
static void test_space_for_values(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        json_t *into = json_object(), *little = json_object();
        size_t empty = ald_value_size(into), given = 1000 * 1000, space = given;

        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "{sv}", "Words", "as", 3, "one", "two", "three"), >=, 0);
        g_assert_cmpint(
                sd_bus_message_append(m, "{sv}", "Inner", "a{sv}", 2, "A", "t", UINT64_C(1), "B", "d", 1.5),
                >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "{sv}", "Rows", "aa{sv}", 5, 0, 0, 0, 0, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        seal(m);
        g_assert_cmpint(ald_value_read_dict_within(m, &space, into, NULL), >=, 0);
        g_assert_cmpuint(given - space, ==, ald_value_size(into) - empty);
        g_assert_cmpuint(json_array_size(json_object_get(into, "Rows")), ==, 5);
        space = given - space - 1;
        g_assert_cmpint(sd_bus_message_rewind(m, true), >=, 0);
        g_assert_cmpint(ald_value_read_dict_within(m, &space, little, NULL), ==, -EDQUOT);
        json_decref(into);
        json_decref(little);
}

static sd_bus_message *object_with_rows(Fixture *fixture, unsigned n_fields)
{
        sd_bus_message *m = message_new(fixture, ALD_STATE_PATH);

        g_assert_cmpint(sd_bus_message_append(m, "o", NODE_PATH), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sa{sv}}"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(m, 'e', "sa{sv}"), >=, 0);
        g_assert_cmpint(sd_bus_message_append(m, "s", "org.alidade.Node1.Memory"), >=, 0);
        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
        for (unsigned i = 0; i < n_fields; i++) {
                g_autofree char *name = g_strdup_printf("New%u", i);

                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, "aa{sv}", 4, 0, 0, 0, 0), >=, 0);
        }
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        seal(m);
        return m;
}

static void test_model_that_is_full(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) little = object_with_rows(fixture, 1), much = object_with_rows(fixture, 100);

        ald_model_limit(fixture->model, 20 * 1000);
        g_assert_cmpint(ald_decode_interfaces_added(little, fixture->model), >=, 0);
        g_assert_cmpint(ald_decode_interfaces_added(much, fixture->model), ==, -EDQUOT);
        g_assert_cmpuint(
                json_object_size(ald_entity_raw(ald_model_get(fixture->model, A), "Node1.Memory")), ==, 1);
}

/* This machine's own state has no limit, whatever the pages that came before have taken. */
static void test_topology_without_limit(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) graph = message_new(fixture, "/"), pairs = message_new(fixture, "/");
        uint64_t next = 1;

        ald_model_add_topology(fixture->model, true);
        g_assert_cmpint(sd_bus_message_append(graph, "ttba(ssa{sv})a(tssssssssa{sv})asat", UINT64_C(7),
                                UINT64_C(0), true, 1, A, "online", 0, 0, 0, 0),
                >=, 0);
        g_assert_cmpint(sd_bus_message_append(pairs, "ttba(sssa{sv})a(ss)", UINT64_C(7), UINT64_C(0), true, 1,
                                A, B, "live", 0, 0),
                >=, 0);
        seal(graph);
        seal(pairs);
        g_assert_cmpint(ald_decode_topology(graph, fixture->model, false, true, &next), ==, 0);
        g_assert_cmpint(ald_decode_topology(pairs, fixture->model, true, true, &next), ==, 0);
        g_assert_cmpuint(ald_model_topology(fixture->model)->nodes->len, ==, 1);
        g_assert_cmpuint(ald_model_topology(fixture->model)->pairs->len, ==, 1);
}

static void test_objects(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");

        g_assert_cmpint(sd_bus_message_append(m, "a{oa{sa{sv}}}", 4, NODE_PATH, 2, "org.alidade.Node1.Memory",
                                1, "TotalBytes", "t", UINT64_C(5), "org.freedesktop.DBus.Peer", 0,
                                ALD_STATE_PATH "/node/nonsense", 1, "org.alidade.Node1.Memory", 0,
                                ALD_STATE_PATH "/link/socket/" A "/" B "_2c192_2e0_2e2_2e2", 1,
                                "org.alidade.Link1.Socket", 1, "Sink", "s", B, "/elsewhere", 1,
                                "org.alidade.Node1.Memory", 0),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_decode_managed_objects(m, fixture->model), >=, 0);
        g_assert_cmpuint(ald_model_nodes(fixture->model)->len, ==, 1);
        g_assert_cmpuint(ald_model_links(fixture->model)->len, ==, 1);
        assert_entity(fixture, A, "{\"Node1.Memory\":{\"TotalBytes\":5}}");
        assert_entity(fixture, A "/" B ",192.0.2.2", "{\"Link1.Socket\":{\"Sink\":\"" B "\"}}");
}

static void test_records(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        g_autofree char *cursor = NULL;

        g_assert_cmpint(sd_bus_message_append(m, "a(ssstttba{sv})s", 3, A, "Node1.Memory", "", UINT64_C(1),
                                UINT64_C(2), UINT64_C(77), false, 1, "TotalBytes", "t", UINT64_C(5), B,
                                "Node1.Memory", "", UINT64_C(1), UINT64_C(2), UINT64_C(77), true, 0, A,
                                "Link1.Socket", B ",192.0.2.2", UINT64_C(1), UINT64_C(2), UINT64_MAX, false,
                                0, "more"),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_decode_records(m, fixture->model, &cursor), >=, 0);
        g_assert_cmpstr(cursor, ==, "more");
        assert_entity(fixture, A, "{\"Node1.Memory\":{\"TotalBytes\":5,\"UpdatedUSec\":77}}");
        g_assert_null(ald_model_get(fixture->model, B)); /* deleted */
        g_assert_nonnull(ald_model_get(fixture->model, A "/" B ",192.0.2.2"));
}

#define DESCRIPTION(node, kind, rest) \
        "{\"node\":\"" node "\",\"kind\":\"" kind "\",\"epoch\":1,\"seq\":2,\"updated\":77," rest "}"

static int decode_description(Fixture *fixture, const char *text)
{
        g_autoptr(AldMessage) m = message_new(fixture, "/");
        g_autofree char *cursor = NULL;

        g_autofree char *lines = g_strconcat(text, "\n", NULL);

        g_assert_cmpint(sd_bus_message_append(m, "s", "more"), >=, 0);
        g_assert_cmpint(sd_bus_message_append_array(m, 'y', lines, strlen(lines)), >=, 0);
        seal(m);
        g_assert_cmpint(ald_decode_descriptions_cursor(m, &cursor), >=, 0);
        g_assert_cmpstr(cursor, ==, "more");
        return ald_decode_descriptions(m, fixture->model);
}

static void test_descriptions(Fixture *fixture, const void *data)
{
        static const char *const newer[] = {
                DESCRIPTION(B, "Node1.Memory", "\"fields\":{\"TotalBytes\":5,\"Later\":1}"),
                DESCRIPTION(B, "Node1.Memory", "\"later\":1,\"fields\":{}"),
                DESCRIPTION(B, "Node1.Later", "\"fields\":{}"),
                DESCRIPTION(B, "Node1.System", "\"fields\":{\"Devices\":[{\"Id\":\"a\",\"Later\":[{}]}]}"),
                DESCRIPTION(B, "Node1.Memory", "\"fields\":{\"TotalBytes\":\"five\"}"),
                DESCRIPTION("x", "Node1.Memory", "\"fields\":{}"),
                "[]",
                "",
        };

        g_assert_cmpint(decode_description(fixture, DESCRIPTION(A, "Node1.Memory",
                                                            "\"revision\":9,\"fields\":{\"TotalBytes\":5}")),
                >=, 0);
        assert_entity(fixture, A, "{\"Node1.Memory\":{\"TotalBytes\":5,\"Revision\":9,\"UpdatedUSec\":77}}");
        g_assert_cmpint(decode_description(fixture,
                                DESCRIPTION(A, "Link1.Socket", "\"key\":\"" B ",192.0.2.2\",\"fields\":{}")),
                >=, 0);
        g_assert_nonnull(ald_model_get(fixture->model, A "/" B ",192.0.2.2"));
        g_assert_cmpint(
                decode_description(fixture, DESCRIPTION(B, "Node1.Memory", "\"deleted\":true")), >=, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(newer); i++)
                g_assert_cmpint(decode_description(fixture, newer[i]), ==, -EOPNOTSUPP);
        g_assert_null(ald_model_get(fixture->model, B));
}

/* A record beyond ALD_RECORD_MAX is ignored; records beyond the limit of the model are refused. */
static void test_large_descriptions(Fixture *fixture, const void *data)
{
        g_autoptr(GString) large = g_string_new("\"fields\":{\"Devices\":[{}");
        g_autofree char *text = NULL;
        int r = 0;

        for (unsigned i = 0; i < ALD_RECORD_MAX / 8; i++)
                g_string_append(large, ",{}");
        g_string_append(large, "]}");
        text = g_strdup_printf(DESCRIPTION(A, "Node1.System", "%s"), large->str);
        g_assert_cmpint(decode_description(fixture, text), >=, 0);
        g_assert_null(ald_model_get(fixture->model, A));
        ald_model_limit(fixture->model, 100000);
        for (unsigned i = 1; i < 10000 && r >= 0; i++) {
                g_autofree char *small = g_strdup_printf(
                        DESCRIPTION("%032x", "Node1.Memory", "\"fields\":{}"), i);

                r = decode_description(fixture, small);
        }
        g_assert_cmpint(r, ==, -EDQUOT);
}

static void change(Fixture *fixture, const char *path, const char *interface, const char *name,
        const char *type, uint64_t value, const char *invalidated, int expected)
{
        g_autoptr(AldMessage) m = message_new(fixture, path);

        g_assert_cmpint(sd_bus_message_append(m, "sa{sv}as", interface, 1, name, type, value,
                                invalidated ? 1 : 0, invalidated),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_decode_properties_changed(m, fixture->model), ==, expected);
}

static void test_signals(Fixture *fixture, const void *data)
{
        static const char interface[] = "org.alidade.Node1.Memory";
        g_autoptr(AldMessage) added = message_new(fixture, ALD_STATE_PATH);
        g_autoptr(AldMessage) removed = message_new(fixture, ALD_STATE_PATH);

        g_assert_cmpint(sd_bus_message_append(added, "oa{sa{sv}}", NODE_PATH, 1, interface, 1, "TotalBytes",
                                "t", UINT64_C(5)),
                >=, 0);
        seal(added);
        g_assert_cmpint(ald_decode_interfaces_added(added, fixture->model), >=, 0);
        change(fixture, NODE_PATH, interface, "AvailableBytes", "t", 3, NULL, 0);
        assert_entity(fixture, A, "{\"Node1.Memory\":{\"TotalBytes\":5,\"AvailableBytes\":3}}");
        change(fixture, NODE_PATH, interface, "AvailableBytes", "t", UINT64_MAX, NULL, 0);
        assert_entity(fixture, A, "{\"Node1.Memory\":{\"TotalBytes\":5}}");
        change(fixture, NODE_PATH, interface, "AvailableBytes", "t", 4, "TotalBytes", 1);
        change(fixture, ALD_STATE_PATH, ALD_STATE_INTERFACE, "Nodes", "t", 9, NULL, 0);
        g_assert_cmpuint(ald_model_totals(fixture->model)->nodes, ==, 9);
        change(fixture, "/elsewhere", interface, "AvailableBytes", "t", 4, NULL, 0);
        g_assert_cmpint(
                sd_bus_message_append(removed, "oas", NODE_PATH, 2, interface, "org.alidade.Node1.Disk"), >=,
                0);
        seal(removed);
        g_assert_cmpint(ald_decode_interfaces_removed(removed, fixture->model), >=, 0);
        g_assert_null(ald_model_get(fixture->model, A));
}

/* Of a newer peer: a kind, fields of a record and of its rows, and a field of another type. */
static void test_unknown(Fixture *fixture, const void *data)
{
        static const char network[] = "org.alidade.Node1.Network", memory[] = "org.alidade.Node1.Memory";
        g_autoptr(AldMessage) added = message_new(fixture, ALD_STATE_PATH);
        g_autoptr(AldMessage) changed = message_new(fixture, NODE_PATH);

        g_assert_cmpint(sd_bus_message_append(added, "oa{sa{sv}}", NODE_PATH, 3, "org.alidade.Node1.Future",
                                1, "Colour", "s", "red", memory, 3, "TotalBytes", "t", UINT64_C(5), "Colour",
                                "s", "red", "AvailableBytes", "s", "some", network, 1, "Interfaces", "aa{sv}",
                                2, 1, "Id", "s", "eth0", 2, "Colour", "s", "red", "Id", "s", "eth1"),
                >=, 0);
        seal(added);
        g_assert_cmpint(ald_decode_interfaces_added(added, fixture->model), >=, 0);
        assert_entity(fixture, A,
                "{\"Node1.Memory\":{\"TotalBytes\":5,\"Colour\":\"red\",\"AvailableBytes\":\"some\"},"
                "\"Node1.Network\":{\"Interfaces\":[{\"Id\":\"eth0\"},{\"Id\":\"eth1\",\"Colour\":\"red\"}],"
                "\"Neighbours\":[]},"
                "\"Node1.Future\":{\"Colour\":\"red\"}}");
        /* A change leaves what it does not name, and an absent value takes away what was there. */
        change(fixture, NODE_PATH, memory, "TotalBytes", "t", 6, NULL, 0);
        change(fixture, NODE_PATH, memory, "AvailableBytes", "t", 4, NULL, 0);
        change(fixture, NODE_PATH, "org.alidade.Node1.Future", "Size", "t", 7, NULL, 0);
        change(fixture, NODE_PATH, "org.alidade.Node1.Future", "Colour", "t", UINT64_MAX, NULL, 0);
        g_assert_cmpint(sd_bus_message_append(changed, "sa{sv}as", network, 1, "Interfaces", "aa{sv}", 1, 1,
                                "Id", "s", "eth1", 0),
                >=, 0);
        seal(changed);
        g_assert_cmpint(ald_decode_properties_changed(changed, fixture->model), ==, 0);
        assert_entity(fixture, A,
                "{\"Node1.Memory\":{\"TotalBytes\":6,\"AvailableBytes\":4,\"Colour\":\"red\"},"
                "\"Node1.Network\":{\"Interfaces\":[{\"Id\":\"eth1\"}],\"Neighbours\":[]},\"Node1.Future\":{"
                "\"Size\":7}}");
}

/* A value of our type replaces what came raw before, even if it is absent. */
static void test_known_again(Fixture *fixture, const void *data)
{
        static const char network[] = "org.alidade.Node1.Network", memory[] = "org.alidade.Node1.Memory";
        g_autoptr(AldMessage) added = message_new(fixture, ALD_STATE_PATH);
        g_autoptr(AldMessage) changed = message_new(fixture, NODE_PATH);

        g_assert_cmpint(sd_bus_message_append(added, "oa{sa{sv}}", NODE_PATH, 2, memory, 3, "TotalBytes", "s",
                                "all", "AvailableBytes", "s", "some", "Revision", "s", "first", network, 1,
                                "Interfaces", "aa{sv}", 1, 2, "Id", "s", "eth0", "Colour", "s", "red"),
                >=, 0);
        seal(added);
        g_assert_cmpint(ald_decode_interfaces_added(added, fixture->model), >=, 0);
        change(fixture, NODE_PATH, memory, "AvailableBytes", "t", UINT64_MAX, NULL, 0);
        change(fixture, NODE_PATH, memory, "Revision", "t", 0, NULL, 0);
        g_assert_cmpint(
                sd_bus_message_append(changed, "sa{sv}as", network, 1, "Interfaces", "aa{sv}", 0, 0), >=, 0);
        seal(changed);
        g_assert_cmpint(ald_decode_properties_changed(changed, fixture->model), ==, 0);
        assert_entity(fixture, A,
                "{\"Node1.Memory\":{\"TotalBytes\":\"all\"},"
                "\"Node1.Network\":{\"Interfaces\":[],\"Neighbours\":[]}}");
        g_assert_null(ald_entity_raw(ald_model_get(fixture->model, A), "Node1.Network"));
}

/* What the service itself never sends is absent, and the rest of the record is there. */
static void test_out_of_range(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, ALD_STATE_PATH);
        g_autofree char *giant = g_strnfill(ALD_STRING_MAX + 1, 'x');

        g_assert_cmpint(sd_bus_message_append(m, "oa{sa{sv}}", NODE_PATH, 2, "org.alidade.Node1.Identity", 2,
                                "ModelId", "s", giant, "FriendlyName", "s", "atlas",
                                "org.alidade.Node1.Memory", 3, "TotalBytes", "t", UINT64_C(5),
                                "AvailableBytes", "t", UINT64_C(1) << 60, "UpdatedUSec", "t", UINT64_MAX),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_decode_interfaces_added(m, fixture->model), >=, 0);
        assert_entity(fixture, A,
                "{\"Node1.Identity\":{\"FriendlyName\":\"atlas\"},\"Node1.Memory\":{\"TotalBytes\":5}}");
        g_assert_cmpuint(ald_entity_updated(ald_model_get(fixture->model, A)), ==, ALD_ABSENT_UINT64);
}

static void test_findings(Fixture *fixture, const void *data)
{
        g_autoptr(AldMessage) m = message_new(fixture, ALD_STATE_PATH);
        const AldFindingRow *row;
        const AldRows *rows;

        g_assert_cmpint(
                sd_bus_message_append(m, "aa{sv}", 3, 3, "Id", "s", "loop", "Nodes", "as", 1, A, "Later", "t",
                        UINT64_C(5), 2, "Id", "t", UINT64_C(5), "Text", "s", "Words", 0),
                >=, 0);
        seal(m);
        g_assert_cmpint(ald_decode_findings(m, fixture->model), >=, 0);
        rows = ald_model_findings(fixture->model);
        g_assert_cmpuint(rows->n, ==, 3);
        row = ald_rows_at(rows, 0);
        g_assert_cmpstr(row->id, ==, "loop");
        g_assert_cmpstr(row->nodes[0], ==, A);
        row = ald_rows_at(rows, 1);
        g_assert_null(row->id);
        g_assert_cmpstr(row->text, ==, "Words");
        assert_json(ald_model_findings_json(fixture->model),
                "[{\"Id\":\"loop\",\"Nodes\":[\"" A "\"],\"Later\":5},{\"Id\":5,\"Text\":\"Words\"},{}]");
}

/* What a service that is none of ours might answer. */
static void test_wrong_shapes(Fixture *fixture, const void *data)
{
        g_autofree char *cursor = NULL;
        g_autoptr(AldMessage) m = message_new(fixture, ALD_STATE_PATH);
        g_autoptr(AldMessage) none = message_new(fixture, ALD_STATE_PATH);

        g_assert_cmpint(sd_bus_message_append(m, "as", 1, "x"), >=, 0);
        seal(m);
        seal(none);
        for (int i = 0; i < 2; i++) {
                sd_bus_message *wrong = i == 0 ? m : none;

                g_assert_cmpint(ald_decode_totals(wrong, fixture->model), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_managed_objects(wrong, fixture->model), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_records(wrong, fixture->model, &cursor), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_descriptions_cursor(wrong, &cursor), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_findings(wrong, fixture->model), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_interfaces_added(wrong, fixture->model), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_interfaces_removed(wrong, fixture->model), ==, -EBADMSG);
                g_assert_cmpint(ald_decode_properties_changed(wrong, fixture->model), ==, -EBADMSG);
        }
        g_assert_cmpuint(ald_model_nodes(fixture->model)->len, ==, 0);
}

static void add(const char *path, void (*test)(Fixture *fixture, const void *data))
{
        g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        add("/client/decode/values", test_values);
        add("/client/decode/rows", test_rows);
        add("/client/decode/foreign-types", test_foreign_types);
        add("/client/decode/nested", test_nested);
        add("/client/decode/limits", test_limits);
        add("/client/decode/topology-without-limit", test_topology_without_limit);
        add("/client/decode/many-rows", test_many_rows);
        add("/client/decode/space", test_space_for_values);
        add("/client/decode/full", test_model_that_is_full);
        add("/client/decode/objects", test_objects);
        add("/client/decode/records", test_records);
        add("/client/decode/descriptions", test_descriptions);
        add("/client/decode/large-descriptions", test_large_descriptions);
        add("/client/decode/signals", test_signals);
        add("/client/decode/unknown", test_unknown);
        add("/client/decode/known-again", test_known_again);
        add("/client/decode/out-of-range", test_out_of_range);
        add("/client/decode/findings", test_findings);
        add("/client/decode/wrong-shapes", test_wrong_shapes);
        return g_test_run();
}
