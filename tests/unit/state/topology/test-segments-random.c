/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/segments.h"
#include "tests/unit/segments-text.h"
#include "tests/unit/state-maker.h"

/*
 * A world of nodes and of cables between two of them each, of which each end sees the other or does not: what
 * the segments must be is said from that alone. Cable c has ports of its own at both ends: "thunderbolt" c,
 * an interface "ethCC" and an RDMA port "rxeCC.1" over that, in a subnet of InfiniBand.
 */
#define N_NODES 6u
#define N_CABLES 10u
#define ROUNDS 300u

typedef enum CableKind {
        CABLE_THUNDERBOLT,
        CABLE_LLDP,
        CABLE_INFINIBAND,
        CABLE_ROCE,
        N_CABLE_KINDS,
} CableKind;

typedef struct Cable {
        CableKind kind;
        unsigned node[2];
        bool sees[2]; /* of InfiniBand and RoCE: its port is active */
        bool reached; /* by link-local address, from the first to the second */
} Cable;

typedef struct World {
        Cable cables[N_CABLES];
        bool online[N_NODES + 1]; /* node 1 is this one */
} World;

static void append_thunderbolt(const World *world, unsigned node, GString *domains, GString *ports)
{
        for (unsigned c = 0; c < N_CABLES; c++)
                for (unsigned end = 0; end < 2; end++) {
                        const Cable *cable = &world->cables[c];

                        if (cable->kind != CABLE_THUNDERBOLT || cable->node[end] != node)
                                continue;
                        g_string_append_printf(domains, "%s{'Id': 'd%02u', 'DomainId': 'uuid-%02u-%u'}",
                                domains->len ? ", " : "", c, c, end);
                        if (cable->sees[end])
                                g_string_append_printf(ports,
                                        "%s{'Id': '%02u-1', 'DomainId': 'uuid-%02u-%u', "
                                        "'PeerDomainId': 'uuid-%02u-%u'}",
                                        ports->len ? ", " : "", c, c, end, c, 1 - end);
                }
}

static void append_rdma(const World *world, unsigned node, GString *ports)
{
        for (unsigned c = 0; c < N_CABLES; c++)
                for (unsigned end = 0; end < 2; end++) {
                        const Cable *cable = &world->cables[c];
                        bool roce = cable->kind == CABLE_ROCE;

                        if (cable->node[end] != node || (!roce && cable->kind != CABLE_INFINIBAND))
                                continue;
                        g_string_append_printf(ports,
                                "%s{'Id': 'rxe%02u.1', 'LinkLayer': '%s', 'State': '%s', 'Interface': "
                                "'eth%02u', 'NodeGuid': '%02u:%u:0:1', 'Gids': ['0 ib fec0:%u::%u']}",
                                ports->len ? ", " : "", c, roce ? "ethernet" : "infiniband",
                                cable->sees[end] ? "active" : "down", c, c, end, c + 1, end + 1);
                }
}

static void append_network(const World *world, unsigned node, GString *interfaces, GString *neighbours)
{
        for (unsigned c = 0; c < N_CABLES; c++)
                for (unsigned end = 0; end < 2; end++) {
                        const Cable *cable = &world->cables[c];

                        if (cable->node[end] != node)
                                continue;
                        g_string_append_printf(interfaces,
                                "%s{'Id': 'eth%02u', 'HardwareAddress': '02:00:00:00:%02u:%02u', "
                                "'Addresses': ['fe80::%u:%u/64']}",
                                interfaces->len ? ", " : "", c, c, end + 1, c + 1, end + 1);
                        if (cable->kind == CABLE_LLDP && cable->sees[end])
                                g_string_append_printf(neighbours,
                                        "%s{'Id': 'n%02u', 'Interface': 'eth%02u', "
                                        "'PortId': '02:00:00:00:%02u:%02u'}",
                                        neighbours->len ? ", " : "", c, c, c, 2 - end);
                }
}

static void put_node(AldStore *store, const World *world, unsigned node)
{
        g_autoptr(GString) domains = g_string_new(NULL), hosts = g_string_new(NULL);
        g_autoptr(GString) rdma = g_string_new(NULL);
        g_autoptr(GString) interfaces = g_string_new(NULL), neighbours = g_string_new(NULL);
        g_autofree char *fabric = NULL, *network = NULL;

        append_thunderbolt(world, node, domains, hosts);
        append_rdma(world, node, rdma);
        append_network(world, node, interfaces, neighbours);
        fabric = g_strdup_printf("{'RdmaPorts': [%s], 'ThunderboltDomains': [%s], 'ThunderboltPorts': [%s]}",
                rdma->str, domains->str, hosts->str);
        network = g_strdup_printf(
                "{'Interfaces': [%s], 'Neighbours': [%s]}", interfaces->str, neighbours->str);
        state_put(store, node, ALD_KIND_FABRIC, fabric);
        state_put(store, node, ALD_KIND_NETWORK, network);
        state_put(store, node, ALD_KIND_PRESENCE,
                world->online[node] ? "{'State': 'online'}" : "{'State': 'offline'}");
}

static void put_reached(AldStore *store, const World *world, unsigned c)
{
        const Cable *cable = &world->cables[c];
        g_autofree char *address = g_strdup_printf("fe80::%u:2", c + 1);
        g_autofree char *text = g_strdup_printf("{'SourceInterface': 'eth%02u', 'UploadBitsPerSecond': 9, "
                                                "'MeasuredUSec': 5, 'FailedUSec': %u}",
                c, cable->reached ? 4 : 6);

        state_put_path(store, cable->node[0], cable->node[1], address, text);
}

/* What follows from the world alone, as segments_text() writes it but in no order. */
static void expect_cable(const World *world, unsigned c, GPtrArray *lines)
{
        const Cable *cable = &world->cables[c];
        bool both = cable->sees[0] && cable->sees[1], one = cable->sees[0] || cable->sees[1];
        unsigned low = cable->node[0] < cable->node[1] ? 0 : 1;
        unsigned a = cable->node[low], b = cable->node[1 - low];

        if (!world->online[a] || !world->online[b])
                return;
        if (cable->kind == CABLE_THUNDERBOLT && both)
                g_ptr_array_add(
                        lines, g_strdup_printf("thunderbolt uuid-%02u-0,uuid-%02u-1: %u %02u-1, %u %02u-1", c,
                                       c, a, c, b, c));
        else if (cable->kind == CABLE_LLDP && one)
                g_ptr_array_add(lines,
                        g_strdup_printf("lldp%s: %u eth%02u, %u eth%02u", both ? "" : "?", a, c, b, c));
        else if (cable->kind == CABLE_INFINIBAND && both)
                g_ptr_array_add(lines, g_strdup_printf("infiniband fec0:%u::/64: %u rxe%02u.1, %u rxe%02u.1",
                                               c + 1, a, c, b, c));
        else if (cable->kind == CABLE_ROCE && both && cable->reached)
                g_ptr_array_add(lines, g_strdup_printf("roce: %u rxe%02u.1, %u rxe%02u.1", a, c, b, c));
}

static int compare_lines(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static char *sort_lines(GPtrArray *lines)
{
        g_ptr_array_sort(lines, compare_lines);
        g_ptr_array_add(lines, NULL);
        return g_strjoinv("\n", (char **) lines->pdata);
}

static char *expected_of(const World *world)
{
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

        for (unsigned c = 0; c < N_CABLES; c++)
                expect_cable(world, c, lines);
        return sort_lines(lines);
}

static char *text_of(AldStore *store)
{
        g_autoptr(GPtrArray) segments = segments_of_all(store);

        return segments_text(segments);
}

static void check(AldStore *store, const World *world)
{
        g_autofree char *expected = expected_of(world), *found = text_of(store), *sorted = NULL;
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) parts = g_strsplit(found, "; ", -1);

        for (char **part = parts; *part; part++)
                g_ptr_array_add(lines, g_strdup(*part));
        sorted = sort_lines(lines);
        g_assert_cmpstr(sorted, ==, expected);
}

static void make_world(World *world)
{
        *world = (World){};
        for (unsigned i = 1; i <= N_NODES; i++)
                world->online[i] = true;
        for (unsigned c = 0; c < N_CABLES; c++) {
                Cable *cable = &world->cables[c];

                cable->kind = (CableKind) g_test_rand_int_range(0, N_CABLE_KINDS);
                cable->node[0] = (unsigned) g_test_rand_int_range(1, N_NODES + 1);
                cable->node[1] = cable->node[0] % N_NODES + 1;
                cable->sees[0] = cable->sees[1] = cable->reached = true;
        }
}

/* Every record, in an order of chance. */
static AldStore *store_of(const World *world)
{
        AldStore *store = state_make();
        unsigned places[N_NODES + N_CABLES];

        for (unsigned i = 0; i < G_N_ELEMENTS(places); i++) {
                unsigned k = (unsigned) g_test_rand_int_range(0, (gint32) i + 1);

                places[i] = places[k];
                places[k] = i;
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(places); i++)
                if (places[i] < N_NODES)
                        put_node(store, world, places[i] + 1);
                else
                        put_reached(store, world, places[i] - N_NODES);
        return store;
}

/* One end sees the other no more, or again; a node goes, or comes. */
static void change(World *world, AldStore *store)
{
        Cable *cable = &world->cables[g_test_rand_int_range(0, N_CABLES)];
        unsigned end = (unsigned) g_test_rand_bit(), node = cable->node[end];

        if (g_test_rand_int_range(0, 4) == 0 && node != 1)
                world->online[node] = !world->online[node];
        else if (g_test_rand_int_range(0, 3) == 0)
                cable->reached = !cable->reached;
        else
                cable->sees[end] = !cable->sees[end];
        put_node(store, world, node);
        put_reached(store, world, (unsigned) (cable - world->cables));
}

static void test_follows_from_both_ends(void)
{
        for (unsigned round = 0; round < ROUNDS; round++) {
                g_autoptr(AldStore) store = NULL;
                World world;

                make_world(&world);
                store = store_of(&world);
                check(store, &world);
                for (unsigned i = 0; i < 10; i++) {
                        change(&world, store);
                        check(store, &world);
                }
        }
}

static void test_no_matter_in_which_order(void)
{
        for (unsigned round = 0; round < ROUNDS; round++) {
                g_autoptr(AldStore) store = NULL, other = NULL;
                g_autofree char *a = NULL, *b = NULL;
                World world;

                make_world(&world);
                store = store_of(&world);
                other = store_of(&world);
                a = text_of(store);
                b = text_of(other);
                g_assert_cmpstr(a, ==, b);
        }
}

/* How much work, in look-ups and comparisons, of whatever is called outside. */

static size_t calls;

gpointer __real_g_hash_table_lookup(GHashTable *table, gconstpointer key);
gpointer __wrap_g_hash_table_lookup(GHashTable *table, gconstpointer key);
gpointer __wrap_g_hash_table_lookup(GHashTable *table, gconstpointer key)
{
        calls++;
        return __real_g_hash_table_lookup(table, key);
}

/* All in one subnet, which no probe has joined, and over Ethernet in one ring of which each reached the next.
 */
static void put_large(AldStore *store, unsigned node, unsigned n)
{
        g_autofree char *fabric = g_strdup_printf(
                "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'LinkLayer': 'infiniband', 'State': 'active', "
                "'PortGuid': '0:0:1:%x', 'Gids': ['0 ib fe80::%x']}, {'Id': 'rxe0.1', 'LinkLayer': "
                "'ethernet', "
                "'State': 'active', 'Interface': 'eth0', 'Gids': ['1 rocev2 fe80::1 eth0']}]}",
                node, node);
        g_autofree char *network = g_strdup_printf(
                "{'Interfaces': [{'Id': 'eth0', 'Addresses': ['fe80::1:%x/64']}]}", node);
        unsigned next = node % n + 1;
        g_autofree char *address = g_strdup_printf("fe80::1:%x", next);

        state_put(store, node, ALD_KIND_FABRIC, fabric);
        state_put(store, node, ALD_KIND_NETWORK, network);
        state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
        state_put_path(store, node, next, address,
                "{'SourceInterface': 'eth0', 'UploadBitsPerSecond': 9, 'MeasuredUSec': 5}");
}

static size_t count_calls(unsigned n)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GPtrArray) segments = NULL;
        size_t before, members = 0;

        for (unsigned node = 1; node <= n; node++)
                put_large(store, node, n);
        before = calls;
        segments = segments_of_all(store);
        before = calls - before;
        for (guint i = 0; i < segments->len; i++)
                members += ((const AldSegment *) segments->pdata[i])->members->len;
        g_assert_cmpuint(segments->len, ==, 2);
        g_assert_cmpuint(members, ==, 2 * (size_t) n);
        return before;
}

static void test_work_grows_as_ports_do(void)
{
        size_t few = count_calls(500), many = count_calls(5000);

        g_assert_cmpuint(few, >, 0);
        g_assert_cmpuint(many, <=, 11 * few);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/segments/random/both-ends", test_follows_from_both_ends);
        g_test_add_func("/segments/random/order", test_no_matter_in_which_order);
        g_test_add_func("/segments/random/work", test_work_grows_as_ports_do);
        return g_test_run();
}
