/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/record.h"
#include "services/telemetry/fabric/fabric.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define RXE "sys/class/infiniband/rxe0/"
#define MLX "sys/class/infiniband/mlx5_0/"
#define SECOND "sys/class/infiniband/mlx5_1/"
#define TBT "sys/bus/thunderbolt/devices/"

typedef struct Fabric {
        FakeRoot *root;
        AldFabricCollector *collector;
        AldFabric now;
} Fabric;

static void ignore(void *userdata)
{
}

static void look(Fabric *fabric)
{
        ald_fabric_collector_free(fabric->collector);
        fabric->collector = ald_fabric_collector_new(fabric->root->fd, ignore, NULL);
        ald_fabric_collector_fill(fabric->collector, &fabric->now);
}

static Fabric fabric_new(void)
{
        return (Fabric){ .root = fake_root_new() };
}

static void fabric_clear(Fabric *fabric)
{
        ald_fabric_collector_free(fabric->collector);
        fake_root_free(fabric->root);
}

/* As Soft-RoCE over eth0 of Linux 6.1 shows it: no device behind it, empty entries that cannot be read. */
static void make_rxe(FakeRoot *root)
{
        fake_root_write_all(root, RXE "node_guid", "5054:00ff:fe12:3456\n", RXE "ports/1/state",
                "4: ACTIVE\n", RXE "ports/1/phys_state", "5: LinkUp\n", RXE "ports/1/rate",
                "2.5 Gb/sec (1X SDR)\n", RXE "ports/1/link_layer", "Ethernet\n", RXE "ports/1/gids/0",
                "fe80:0000:0000:0000:5054:00ff:fe12:3456\n", RXE "ports/1/gids/1",
                "0000:0000:0000:0000:0000:ffff:c000:0201\n", RXE "ports/1/gids/2",
                "0000:0000:0000:0000:0000:0000:0000:0000\n", RXE "ports/1/gid_attrs/types/0", "RoCE v2\n",
                RXE "ports/1/gid_attrs/types/1", "IB/RoCE v1\n", RXE "ports/1/gid_attrs/ndevs/0", "eth0\n",
                RXE "ports/1/gid_attrs/ndevs/1", "eth0\n", NULL);
}

static void test_roce(void)
{
        Fabric fabric = fabric_new();
        const AldRdmaPort *port;

        make_rxe(fabric.root);
        look(&fabric);
        g_assert_true(ald_fabric_collector_any(fabric.collector));
        g_assert_cmpuint(fabric.now.rdma_ports.n, ==, 1);
        port = ald_rows_find(&fabric.now.rdma_ports, "rxe0.1");
        g_assert_cmpstr(port->node_guid, ==, "5054:00ff:fe12:3456");
        g_assert_null(port->port_guid);
        g_assert_null(port->driver);
        g_assert_cmpstr(port->link_layer, ==, "ethernet");
        g_assert_cmpstr(port->state, ==, "active");
        g_assert_cmpstr(port->physical_state, ==, "linkup");
        g_assert_cmpuint(port->rate_bits_per_second, ==, 2500000000);
        g_assert_cmpstr(port->interface, ==, "eth0");
        g_assert_cmpuint(g_strv_length((char **) port->gids), ==, 2);
        g_assert_cmpstr(port->gids[0], ==, "0 rocev2 fe80::5054:ff:fe12:3456 eth0");
        g_assert_cmpstr(port->gids[1], ==, "1 rocev1 ::ffff:192.0.2.1 eth0");
        fabric_clear(&fabric);
}

/* Whether the kernel offers it to programs. */
static void test_verbs(void)
{
        Fabric fabric = fabric_new();
        const AldRdmaPort *port;

        make_rxe(fabric.root);
        fake_root_write_all(fabric.root, "sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n",
                "sys/class/infiniband_verbs/abi_version", "6\n", NULL);
        look(&fabric);
        port = ald_rows_find(&fabric.now.rdma_ports, "rxe0.1");
        g_assert_cmpstr(port->problem, ==, "no-verbs");
        fake_root_write_all(fabric.root, "sys/class/infiniband_verbs/uverbs1/ibdev", "rxe0\n", NULL);
        look(&fabric);
        port = ald_rows_find(&fabric.now.rdma_ports, "rxe0.1");
        g_assert_null(port->problem);
        fabric_clear(&fabric);
}

static void test_infiniband(void)
{
        Fabric fabric = fabric_new();
        const AldRdmaPort *port;

        fake_root_write_all(fabric.root, MLX "node_guid", "b8ce:f603:0012:3456\n", MLX "ports/1/state",
                "2: INIT\n", MLX "ports/1/phys_state", "5: LinkUp\n", MLX "ports/1/rate",
                "400 Gb/sec (4X NDR)\n", MLX "ports/1/link_layer", "InfiniBand\n", MLX "ports/1/gids/0",
                "fe80:0000:0000:0000:b8ce:f603:0012:3457\n", MLX "ports/1/gid_attrs/types/0", "IB/RoCE v1\n",
                MLX "device/net/ibp1s0/address", "00\n", NULL);
        fake_root_mkdir(fabric.root, "sys/bus/pci/drivers/mlx5_core");
        fake_root_link(fabric.root, MLX "device/driver", "../../../../bus/pci/drivers/mlx5_core");
        look(&fabric);
        port = ald_rows_find(&fabric.now.rdma_ports, "mlx5_0.1");
        g_assert_nonnull(port);
        g_assert_cmpstr(port->port_guid, ==, "b8ce:f603:0012:3457");
        g_assert_cmpstr(port->link_layer, ==, "infiniband");
        g_assert_cmpstr(port->state, ==, "init");
        g_assert_cmpuint(port->rate_bits_per_second, ==, 400000000000);
        g_assert_cmpstr(port->driver, ==, "mlx5_core");
        g_assert_cmpstr(port->interface, ==, "ibp1s0");
        g_assert_cmpstr(port->gids[0], ==, "0 ib fe80::b8ce:f603:12:3457");
        fabric_clear(&fabric);
}

/* What cannot be read is missing from its row; the rest is there. */
static void test_broken_port(void)
{
        Fabric fabric = fabric_new();
        const AldRdmaPort *port;

        make_rxe(fabric.root);
        fake_root_write_all(fabric.root, RXE "ports/1/state", "ACTIVE", RXE "ports/1/rate", "fast (1X SDR)\n",
                RXE "ports/1/link_layer", "Carrier pigeon\n", RXE "ports/1/gids/0", "not a GID\n",
                RXE "ports/x1/state", "4: ACTIVE\n", RXE "ports/0/state", "4: ACTIVE\n", NULL);
        fake_root_remove(fabric.root, RXE "node_guid");
        fake_root_mkdir(fabric.root, RXE "node_guid");
        look(&fabric);
        g_assert_cmpuint(fabric.now.rdma_ports.n, ==, 1);
        port = ald_rows_at(&fabric.now.rdma_ports, 0);
        g_assert_null(port->node_guid);
        g_assert_null(port->state);
        g_assert_null(port->link_layer);
        g_assert_cmpuint(port->rate_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(port->physical_state, ==, "linkup");
        g_assert_cmpuint(g_strv_length((char **) port->gids), ==, 1);
        g_assert_cmpuint(log_count("rxe0/node_guid"), ==, 1);
        fabric_clear(&fabric);
}

static void test_absurd_number(void)
{
        Fabric fabric = fabric_new();

        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *state = g_strdup_printf("sys/class/infiniband/mlx5_%u/ports/1/state", i);
                g_autofree char *gid = g_strdup_printf(RXE "ports/1/gids/%u", i);

                fake_root_write(fabric.root, state, "4: ACTIVE\n");
                fake_root_write(fabric.root, gid, "fe80::1\n");
        }
        log_count_reset();
        look(&fabric);
        g_assert_cmpuint(fabric.now.rdma_ports.n, ==, 64);
        g_assert_cmpuint(log_count("leaves out"), ==, 1);
        g_assert_cmpuint(
                log_count("leaves out 37 RDMA ports or Thunderbolt devices beyond the limit of 64"), ==, 1);
        fake_root_remove(fabric.root, "sys/class/infiniband/mlx5_0");
        for (unsigned i = 1; i < 100; i++) {
                g_autofree char *device = g_strdup_printf("sys/class/infiniband/mlx5_%u", i);

                fake_root_remove(fabric.root, device);
        }
        look(&fabric);
        g_assert_cmpuint(fabric.now.rdma_ports.n, ==, 1);
        g_assert_cmpuint(
                g_strv_length((char **) ((AldRdmaPort *) ald_rows_at(&fabric.now.rdma_ports, 0))->gids), ==,
                32);
        g_assert_cmpuint(
                log_count("leaves out 0 RDMA ports or Thunderbolt devices beyond the limit of 64 each, "
                          "and 68 GIDs"),
                ==, 1);
        fabric_clear(&fabric);
}

/* Four adapters with 40 virtual functions each, which sort before them. */
static void test_virtual_functions(void)
{
        Fabric fabric = fabric_new();
        const AldRdmaPort *port;

        for (unsigned i = 0; i < 164; i++) {
                bool is_real = i >= 160, is_set_up = i < 80;
                g_autofree char *device = g_strdup_printf("sys/class/infiniband/mlx5_%03u", i);
                g_autofree char *guid = g_strdup_printf("%s/node_guid", device);
                g_autofree char *state = g_strdup_printf("%s/ports/1/state", device);
                g_autofree char *function = g_strdup_printf("%s/device/physfn", device);

                fake_root_write(fabric.root, guid,
                        is_real || is_set_up ? "9803:9b03:00cc:0101\n" : "0000:0000:0000:0000\n");
                fake_root_write(
                        fabric.root, state, (is_real && i != 163) || i == 79 ? "4: ACTIVE\n" : "1: DOWN\n");
                if (!is_real)
                        fake_root_link(fabric.root, function, "../0000:01:00.0");
        }
        /* Within a guest, what a function belongs to is unknown. */
        fake_root_write_all(fabric.root, MLX "node_guid", "0000:0000:0000:0000\n", MLX "ports/1/state",
                "4: ACTIVE\n", NULL);
        log_count_reset();
        look(&fabric);
        g_assert_cmpuint(fabric.now.rdma_ports.n, ==, 64);
        for (unsigned i = 160; i < 164; i++) {
                g_autofree char *id = g_strdup_printf("mlx5_%u.1", i);

                port = ald_rows_find(&fabric.now.rdma_ports, id);
                g_assert_nonnull(port);
                g_assert_cmpint(port->virtual, ==, 0);
        }
        port = ald_rows_find(&fabric.now.rdma_ports, "mlx5_079.1");
        g_assert_nonnull(port);
        g_assert_cmpint(port->virtual, ==, 1);
        g_assert_nonnull(ald_rows_find(&fabric.now.rdma_ports, "mlx5_0.1"));
        g_assert_null(ald_rows_find(&fabric.now.rdma_ports, "mlx5_080.1"));
        /* 85 ports, and not the 80 empty ones. */
        g_assert_cmpuint(log_count("leaves out 21 RDMA ports"), ==, 1);
        fabric_clear(&fabric);
}

/* The first of two adapters switches packets between 80 functions, 40 of which are up; the other has two
 * ports. Besides, one of the functions that a driver makes without SR-IOV. */
static void test_representors(void)
{
        static const struct {
                const char *id;
                bool is_virtual;
        } ports[] = { { "mlx5_0.1", false }, { "mlx5_1.1", false }, { "mlx5_1.2", false },
                { "mlx5_2.1", true } };
        Fabric fabric = fabric_new();

        for (unsigned i = 1; i <= 81; i++) {
                g_autofree char *port = g_strdup_printf(MLX "ports/%u", i);
                g_autofree char *layer = g_strdup_printf("%s/link_layer", port);
                g_autofree char *state = g_strdup_printf("%s/state", port);
                g_autofree char *gid = g_strdup_printf("%s/gids/0", port);

                fake_root_write_all(fabric.root, layer, "Ethernet\n", state,
                        i <= 41 ? "4: ACTIVE\n" : "1: DOWN\n", gid,
                        i == 1 ? "fe80::1\n" : "0000:0000:0000:0000:0000:0000:0000:0000\n", NULL);
        }
        fake_root_write_all(fabric.root, MLX "node_guid", "9803:9b03:00cc:0101\n", SECOND "node_guid",
                "9803:9b03:00cc:0202\n", SECOND "ports/1/link_layer", "InfiniBand\n", SECOND "ports/1/state",
                "1: DOWN\n", SECOND "ports/2/link_layer", "Ethernet\n", SECOND "ports/2/state", "1: DOWN\n",
                SECOND "ports/2/gids/0", "fe80::2\n", "sys/class/infiniband/mlx5_2/device/sfnum", "88\n",
                "sys/class/infiniband/mlx5_2/ports/1/state", "4: ACTIVE\n", NULL);
        log_count_reset();
        look(&fabric);
        g_assert_cmpuint(fabric.now.rdma_ports.n, ==, G_N_ELEMENTS(ports));
        for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
                const AldRdmaPort *port = ald_rows_find(&fabric.now.rdma_ports, ports[i].id);

                g_assert_nonnull(port);
                g_assert_cmpint(port->virtual, ==, ports[i].is_virtual);
        }
        g_assert_cmpuint(log_count("leaves out"), ==, 0);
        g_assert_cmpuint(log_count("/sys/"), ==, 0);
        fabric_clear(&fabric);
}

static void test_transports(void)
{
        static const struct {
                const char *node_type, *link_layer, *transport, *gid;
        } cases[] = {
                { "1: CA\n", "Ethernet\n", "roce", "0 rocev1 fe80::1 eth2" },
                { "1: CA\n", "InfiniBand\n", "infiniband", "0 ib fe80::1" },
                { "2: switch\n", "InfiniBand\n", "infiniband", "0 ib fe80::1" },
                { "4: RNIC\n", "Ethernet\n", "iwarp", "0 iwarp fe80::1 eth2" },
                { "5: usNIC\n", "Ethernet\n", "other", "0 other fe80::1 eth2" },
                { "7: unspecified\n", "Ethernet\n", "other", "0 other fe80::1 eth2" },
                { "8: <unknown>\n", "InfiniBand\n", "other", "0 other fe80::1" },
                { "1: CA\n", "Unknown\n", NULL, "0 ib fe80::1" },
                { "RNIC\n", "Ethernet\n", NULL, "0 rocev1 fe80::1 eth2" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Fabric fabric = fabric_new();
                const AldRdmaPort *port;

                g_test_message("case %zu", i);
                fake_root_write_all(fabric.root, MLX "node_type", cases[i].node_type,
                        MLX "ports/1/link_layer", cases[i].link_layer, MLX "ports/1/gids/0", "fe80::1\n",
                        MLX "ports/1/gid_attrs/types/0", "IB/RoCE v1\n", MLX "ports/1/gid_attrs/ndevs/0",
                        "eth2\n", NULL);
                look(&fabric);
                port = ald_rows_find(&fabric.now.rdma_ports, "mlx5_0.1");
                g_assert_cmpstr(port->transport, ==, cases[i].transport);
                g_assert_cmpstr(port->gids[0], ==, cases[i].gid);
                fabric_clear(&fabric);
        }
}

static void make_thunderbolt(FakeRoot *root)
{
        fake_root_write_all(root, TBT "domain0/uevent", "DEVTYPE=thunderbolt_domain\n", TBT "0-0/uevent",
                "DEVTYPE=thunderbolt_device\n", TBT "0-0/unique_id", "aaaaaaaa-0000-0000-ffff-ffffffffffff\n",
                TBT "0-0/vendor_name", "Intel\n", TBT "0-0/device_name", "Maple Ridge\n",
                TBT "0-0/generation", "4\n", TBT "0-1/uevent", "DEVTYPE=thunderbolt_xdomain\n",
                TBT "0-1/unique_id", "bbbbbbbb-0000-0000-ffff-ffffffffffff\n", TBT "0-1/vendor_name",
                "Linux\n", TBT "0-1/device_name", "borealis\n", TBT "0-1/tx_speed", "20.0 Gb/s\n",
                TBT "0-1/tx_lanes", "2\n", TBT "generation", "4\n", TBT "0-1/0-1.0/net/thunderbolt0/address",
                "02\n", TBT "0-3/uevent", "DEVTYPE=thunderbolt_device\n", TBT "usb4_port1/uevent",
                "DEVTYPE=usb4_port\n", NULL);
}

static void test_thunderbolt(void)
{
        Fabric fabric = fabric_new();
        const AldThunderboltDomain *domain;
        const AldThunderboltPort *port;

        make_thunderbolt(fabric.root);
        look(&fabric);
        g_assert_true(ald_fabric_collector_any(fabric.collector));
        g_assert_cmpuint(fabric.now.thunderbolt_domains.n, ==, 1);
        domain = ald_rows_find(&fabric.now.thunderbolt_domains, "domain0");
        g_assert_cmpstr(domain->domain_id, ==, "aaaaaaaa-0000-0000-ffff-ffffffffffff");
        g_assert_cmpstr(domain->name, ==, "Intel Maple Ridge");
        g_assert_cmpuint(domain->generation, ==, 4);
        g_assert_cmpuint(fabric.now.thunderbolt_ports.n, ==, 1);
        port = ald_rows_find(&fabric.now.thunderbolt_ports, "0-1");
        g_assert_cmpstr(port->domain_id, ==, domain->domain_id);
        g_assert_cmpstr(port->peer_domain_id, ==, "bbbbbbbb-0000-0000-ffff-ffffffffffff");
        g_assert_cmpstr(port->peer_name, ==, "Linux borealis");
        g_assert_cmpuint(port->speed_bits_per_second, ==, 40000000000);
        g_assert_cmpuint(port->generation, ==, 4);
        g_assert_cmpstr(port->interface, ==, "thunderbolt0");
        fabric_clear(&fabric);
}

static void test_none(void)
{
        Fabric fabric = fabric_new();

        look(&fabric);
        g_assert_false(ald_fabric_collector_any(fabric.collector));
        g_assert_cmpuint(fabric.now.rdma_ports.n + fabric.now.thunderbolt_ports.n, ==, 0);
        fabric_clear(&fabric);
}

static void quit(void *userdata)
{
        g_main_loop_quit(userdata);
}

/* An address gives a port a GID, which the kernel makes a little later. */
static void test_looks_again(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
        g_autoptr(AldFabricCollector) collector = ald_fabric_collector_new(root->fd, quit, loop);
        AldFabric now;

        g_assert_false(ald_fabric_collector_any(collector));
        make_rxe(root);
        fake_root_remove(root, RXE "node_guid");
        fake_root_link(root, RXE "node_guid", "node_guid");
        log_count_reset();
        /* A file that cannot be read is logged once, however often the network changes. */
        for (int i = 0; i < 3; i++) {
                ald_fabric_collector_rescan_soon(collector);
                g_main_loop_run(loop);
        }
        ald_fabric_collector_fill(collector, &now);
        g_assert_cmpuint(now.rdma_ports.n, ==, 1);
        g_assert_cmpuint(log_count("rxe0/node_guid"), ==, 1);

        fake_root_remove(root, "sys/class/infiniband/rxe0");
        ald_fabric_collector_rescan_soon(collector);
        g_main_loop_run(loop);
        ald_fabric_collector_fill(collector, &now);
        g_assert_cmpuint(now.rdma_ports.n, ==, 0);
        g_assert_true(ald_fabric_collector_any(collector));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/fabric/roce", test_roce);
        g_test_add_func("/fabric/infiniband", test_infiniband);
        g_test_add_func("/fabric/verbs", test_verbs);
        g_test_add_func("/fabric/broken-port", test_broken_port);
        g_test_add_func("/fabric/absurd-number", test_absurd_number);
        g_test_add_func("/fabric/thunderbolt", test_thunderbolt);
        g_test_add_func("/fabric/virtual-functions", test_virtual_functions);
        g_test_add_func("/fabric/representors", test_representors);
        g_test_add_func("/fabric/transports", test_transports);
        g_test_add_func("/fabric/none", test_none);
        g_test_add_func("/fabric/looks-again", test_looks_again);
        return g_test_run();
}
