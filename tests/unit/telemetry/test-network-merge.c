/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/record.h"
#include "services/telemetry/network/network-merge.h"
#include "tests/unit/log-count.h"
#include "tests/unit/network-messages.h"

#define GIGABIT UINT64_C(1000000000)

/* One interface of a made-up host; unset is as plain hardware has it. */
typedef struct TestLink {
        int index;
        const char *name, *kind;
        uint16_t arp_type;
        bool down;
        int controller, parent;
        const char *driver, *device_type;
        bool wireless;
        uint64_t speed;
} TestLink;

static AldNetworkLink *add(AldLinks *links, const TestLink *test)
{
        TestMessage m;
        struct ifinfomsg *header;
        AldNetworkLink *link;

        test_link(&m, test->index, test->name);
        header = mnl_nlmsg_get_payload(&m.header);
        if (test->arp_type)
                header->ifi_type = test->arp_type;
        if (test->down)
                header->ifi_flags = 0;
        if (test->controller)
                mnl_attr_put_u32(&m.header, IFLA_MASTER, (uint32_t) test->controller);
        if (test->parent)
                mnl_attr_put_u32(&m.header, IFLA_LINK, (uint32_t) test->parent);
        if (test->kind)
                test_link_kind(&m, test->kind);
        g_assert_cmpint(ald_links_apply(links, &m.header), ==, 1);

        link = ald_links_find(links, test->index);
        link->facts.driver = g_strdup(test->driver);
        link->facts.device_type = g_strdup(test->device_type);
        link->facts.wireless = test->wireless;
        if (test->speed)
                link->facts.speed = test->speed;
        return link;
}

static AldLinks *host(const TestLink *tests, size_t n)
{
        AldLinks *links = ald_links_new();

        for (size_t i = 0; i < n; i++)
                add(links, &tests[i]);
        return links;
}

static void add_address(AldLinks *links, int index, const char *text)
{
        TestMessage m;

        test_address(&m, RTM_NEWADDR, index, text);
        ald_links_apply(links, &m.header);
}

static const AldManaged nothing;

static const AldInterface *row(const AldNetworkRows *rows, const char *name)
{
        const AldRows *interfaces = &ald_network_rows_fields(rows)->interfaces;

        /* Only a record sorts them. */
        for (size_t i = 0; i < interfaces->n; i++) {
                const AldInterface *interface = ald_rows_at(interfaces, i);

                if (g_str_equal(interface->id, name))
                        return interface;
        }
        g_assert_not_reached();
}

static void assert_list(const char *const *list, const char *expected)
{
        g_autofree char *text = list ? g_strjoinv(" ", (char **) list) : NULL;

        g_assert_cmpstr(text, ==, expected);
}

static void test_types(void)
{
        static const struct {
                TestLink link;
                const char *type;
        } table[] = {
                { { .driver = "mlx5_core" }, "ethernet" },
                { { .driver = "cdc_ether", .device_type = "usb" }, "ethernet" },
                { { .driver = "r8152" }, "ethernet" },
                { { .driver = "virtio_net" }, "ethernet" },
                { { .device_type = "gadget" }, "ethernet" },
                { { .kind = "dsa" }, "ethernet" },
                { { .driver = "iwlwifi", .device_type = "wlan" }, "wifi" },
                { { .driver = "iwlwifi", .wireless = true }, "wifi" },
                { { .wireless = true, .arp_type = ARPHRD_IEEE80211_RADIOTAP }, "wifi" },
                { { .driver = "thunderbolt-net" }, "thunderbolt" },
                { { .arp_type = ARPHRD_INFINIBAND, .driver = "mlx5_core" }, "infiniband" },
                { { .arp_type = ARPHRD_INFINIBAND, .kind = "ipoib" }, "infiniband" },
                { { .arp_type = ARPHRD_LOOPBACK }, "loopback" },
                { { .kind = "bridge", .device_type = "bridge" }, "bridge" },
                { { .kind = "openvswitch" }, "bridge" },
                { { .kind = "bond", .device_type = "bond" }, "bond" },
                { { .kind = "team" }, "bond" },
                { { .kind = "vlan", .device_type = "vlan" }, "vlan" },
                { { .kind = "veth" }, "veth" },
                { { .kind = "netkit" }, "veth" },
                { { .kind = "dummy" }, "dummy" },
                { { .kind = "wireguard", .arp_type = ARPHRD_NONE, .device_type = "wireguard" }, "tunnel" },
                { { .kind = "tun" }, "tunnel" },
                { { .kind = "tun", .arp_type = ARPHRD_NONE }, "tunnel" },
                { { .kind = "gre", .arp_type = ARPHRD_IPGRE }, "tunnel" },
                { { .kind = "gretap" }, "tunnel" },
                { { .kind = "ip6gre", .arp_type = ARPHRD_IP6GRE }, "tunnel" },
                { { .kind = "sit", .arp_type = ARPHRD_SIT }, "tunnel" },
                { { .kind = "ipip", .arp_type = ARPHRD_TUNNEL }, "tunnel" },
                { { .kind = "ip6tnl", .arp_type = ARPHRD_TUNNEL6 }, "tunnel" },
                { { .kind = "vxlan", .device_type = "vxlan" }, "tunnel" },
                { { .kind = "geneve" }, "tunnel" },
                { { .kind = "ppp", .arp_type = ARPHRD_PPP }, "tunnel" },
                { { .arp_type = ARPHRD_PPP }, "tunnel" },
                { { .device_type = "l2tpeth" }, "tunnel" },
                { { .device_type = "wwan" }, "unknown" },
                { { .device_type = "bluetooth" }, "unknown" },
                { { .kind = "ifb" }, "unknown" },
                { { .kind = "of-next-year" }, "unknown" },
                { { .arp_type = ARPHRD_CAN }, "unknown" },
                { { .arp_type = ARPHRD_NONE, .device_type = "wwan" }, "unknown" },
                /* Their parent is in another network namespace. */
                { { .kind = "macvlan" }, "ethernet" },
                { { .kind = "ipvlan" }, "ethernet" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                g_autoptr(AldLinks) links = ald_links_new();
                g_autoptr(AldNetworkRows) rows = NULL;
                TestLink link = table[i].link;

                g_test_message("row %zu", i);
                link.index = 2;
                link.name = "x";
                add(links, &link);
                rows = ald_network_merge(links, &nothing);
                g_assert_cmpstr(row(rows, "x")->type, ==, table[i].type);
        }
}

static void test_type_as_parent(void)
{
        static const TestLink tests[] = {
                { .index = 2, .name = "wlan0", .wireless = true },
                { .index = 3, .name = "macvlan0", .kind = "macvlan", .parent = 2 },
                { .index = 4, .name = "ipvlan0", .kind = "ipvlan", .parent = 3 },
                /* In a circle, as no kernel lets them be. */
                { .index = 5, .name = "loop0", .kind = "macsec", .parent = 6 },
                { .index = 6, .name = "loop1", .kind = "macsec", .parent = 5, .speed = GIGABIT },
        };
        g_autoptr(AldLinks) links = host(tests, G_N_ELEMENTS(tests));
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &nothing);

        g_assert_cmpstr(row(rows, "macvlan0")->type, ==, "wifi");
        g_assert_cmpstr(row(rows, "macvlan0")->parent, ==, "wlan0");
        g_assert_cmpstr(row(rows, "ipvlan0")->type, ==, "wifi");
        g_assert_cmpstr(row(rows, "ipvlan0")->parent, ==, "macvlan0");
        g_assert_cmpstr(row(rows, "loop0")->type, ==, "ethernet");
}

static void test_plain_row(void)
{
        static const uint8_t address[] = { 0x52, 0x54, 0, 0xAB, 0xCD, 0xEF };
        static const TestLink test = { .index = 2, .name = "eth0", .driver = "e1000e", .speed = GIGABIT };
        g_autoptr(AldLinks) links = host(&test, 1);
        g_autoptr(AldNetworkRows) rows = NULL;
        const AldInterface *eth0;
        AldNetworkLink *link = ald_links_find(links, 2);

        memcpy(link->info.address, address, sizeof address);
        link->info.address_size = sizeof address;
        add_address(links, 2, "2001:0db8:0000:0000:0000:0000:0000:0001/64");
        add_address(links, 2, "2001:db8:0:1:1:1:1:1/128");
        add_address(links, 2, "192.0.2.1/24");
        add_address(links, 2, "fe80::1/64");
        rows = ald_network_merge(links, &nothing);
        eth0 = row(rows, "eth0");
        g_assert_cmpstr(eth0->hardware_address, ==, "52:54:00:ab:cd:ef");
        assert_list(eth0->addresses, "192.0.2.1/24 2001:db8::1/64 2001:db8:0:1:1:1:1:1/128 fe80::1/64");
        g_assert_cmpuint(eth0->speed_bits_per_second, ==, GIGABIT);
        g_assert_cmpuint(eth0->mtu, ==, 1500);
        g_assert_cmpstr(eth0->driver, ==, "e1000e");
        g_assert_cmpint(eth0->carrier, ==, 1);
        g_assert_null(eth0->metered);
        g_assert_null(eth0->controller);
        g_assert_null(eth0->ports);
        g_assert_null(eth0->parent);
        g_assert_null(eth0->connection);
}

static void test_hardware_addresses(void)
{
        static const struct {
                uint16_t arp_type;
                const char *bytes;
                size_t size;
                const char *text;
        } table[] = {
                { ARPHRD_ETHER, "\x02\0\0\0\0\x01", 6, "02:00:00:00:00:01" },
                { ARPHRD_INFINIBAND, "\x80\0\x02\x08\xfe\x80\0\0\0\0\0\0\xe4\x1d\x2d\x03\0\x50\x2f\x01", 20,
                        "80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:50:2f:01" },
                { ARPHRD_LOOPBACK, "\0\0\0\0\0\0", 6, NULL },
                { ARPHRD_NONE, "", 0, NULL },
                { ARPHRD_SIT, "\xc0\0\x02\x01", 4, NULL },
                { ARPHRD_TUNNEL6, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                TestLink test = { .index = 2, .name = "x", .arp_type = table[i].arp_type };
                g_autoptr(AldLinks) links = host(&test, 1);
                g_autoptr(AldNetworkRows) rows = NULL;
                AldNetworkLink *link = ald_links_find(links, 2);

                memcpy(link->info.address, table[i].bytes, table[i].size);
                link->info.address_size = table[i].size;
                rows = ald_network_merge(links, &nothing);
                g_assert_cmpstr(row(rows, "x")->hardware_address, ==, table[i].text);
        }
}

/* Two tunnels' ends with one local address are one address. */
static void test_point_to_point(void)
{
        static const TestLink test = { .index = 2, .name = "tun0", .kind = "tun" };
        g_autoptr(AldLinks) links = host(&test, 1);
        g_autoptr(AldNetworkRows) rows = NULL;

        for (int i = 2; i < 5; i++) {
                g_autofree char *peer = g_strdup_printf("192.0.2.%d", i);
                TestMessage m;

                test_address_start(&m, RTM_NEWADDR, 2, "192.0.2.1/32", 0);
                test_address_put(&m, IFA_LOCAL, "192.0.2.1");
                test_address_put(&m, IFA_ADDRESS, peer);
                g_assert_cmpint(ald_links_apply(links, &m.header), ==, 1);
        }
        rows = ald_network_merge(links, &nothing);
        assert_list(row(rows, "tun0")->addresses, "192.0.2.1/32");
}

static void test_structure(void)
{
        static const TestLink tests[] = {
                { .index = 2, .name = "br0", .kind = "bridge" },
                { .index = 3, .name = "tap1", .kind = "tun", .controller = 2 },
                { .index = 4, .name = "eth0", .controller = 2 },
                { .index = 5, .name = "eth0.7", .kind = "vlan", .parent = 4 },
                { .index = 6, .name = "veth0", .kind = "veth", .parent = 7 },
                { .index = 7, .name = "veth1", .kind = "veth", .parent = 6 },
                { .index = 8, .name = "red", .kind = "vrf" },
                { .index = 9, .name = "eth1", .controller = 8 },
                { .index = 10, .name = "eth2", .controller = 99, .parent = 98 },
        };
        g_autoptr(AldLinks) links = host(tests, G_N_ELEMENTS(tests));
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &nothing);

        assert_list(row(rows, "br0")->ports, "eth0 tap1");
        g_assert_cmpstr(row(rows, "eth0")->controller, ==, "br0");
        g_assert_cmpstr(row(rows, "tap1")->controller, ==, "br0");
        g_assert_cmpstr(row(rows, "eth0.7")->parent, ==, "eth0");
        g_assert_null(row(rows, "eth0")->ports);
        /* The other end is not below; a VRF has no ports; who is not there has no name. */
        g_assert_null(row(rows, "veth0")->parent);
        g_assert_null(row(rows, "eth1")->controller);
        g_assert_null(row(rows, "red")->ports);
        g_assert_null(row(rows, "eth2")->controller);
        g_assert_null(row(rows, "eth2")->parent);
}

/* What the drivers of veth, tun and the like say of their speed is made up, and so is what comes of it. */
static void test_speeds(void)
{
        static const TestLink tests[] = {
                { .index = 2, .name = "eth0", .speed = GIGABIT, .controller = 10 },
                { .index = 3, .name = "eth1", .speed = GIGABIT, .controller = 10 },
                { .index = 4, .name = "off", .speed = GIGABIT, .down = true },
                { .index = 5, .name = "veth0", .kind = "veth", .speed = 10 * GIGABIT, .controller = 11 },
                { .index = 6, .name = "tap0", .kind = "tun", .speed = 10 * GIGABIT },
                { .index = 7, .name = "vlan0", .kind = "vlan", .parent = 2, .speed = GIGABIT },
                { .index = 8, .name = "vlan1", .kind = "vlan", .parent = 5, .speed = 10 * GIGABIT },
                { .index = 9, .name = "br0", .kind = "bridge", .speed = 10 * GIGABIT },
                { .index = 10, .name = "bond0", .kind = "bond", .speed = 2 * GIGABIT },
                { .index = 11, .name = "bond1", .kind = "bond", .speed = 10 * GIGABIT },
                { .index = 12, .name = "vlan2", .kind = "vlan", .parent = 11, .speed = 10 * GIGABIT },
                { .index = 13, .name = "ib0", .arp_type = ARPHRD_INFINIBAND, .speed = 200 * GIGABIT },
                { .index = 14, .name = "unknown", .speed = 0 },
        };
        static const struct {
                const char *name;
                uint64_t speed;
        } table[] = {
                { "eth0", GIGABIT },
                { "off", ALD_ABSENT_UINT64 },
                { "veth0", ALD_ABSENT_UINT64 },
                { "tap0", ALD_ABSENT_UINT64 },
                { "vlan0", GIGABIT },
                { "vlan1", ALD_ABSENT_UINT64 },
                { "br0", ALD_ABSENT_UINT64 },
                { "bond0", 2 * GIGABIT },
                { "bond1", ALD_ABSENT_UINT64 },
                { "vlan2", ALD_ABSENT_UINT64 },
                { "ib0", 200 * GIGABIT },
                { "unknown", ALD_ABSENT_UINT64 },
        };
        g_autoptr(AldLinks) links = host(tests, G_N_ELEMENTS(tests));
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &nothing);

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                g_test_message("%s", table[i].name);
                g_assert_cmpuint(row(rows, table[i].name)->speed_bits_per_second, ==, table[i].speed);
        }
}

static void test_managed(void)
{
        static const TestLink tests[] = {
                { .index = 2, .name = "wlan0", .wireless = true, .driver = "iwlwifi" },
                { .index = 3, .name = "thunderbolt0", .driver = "thunderbolt-net" },
                { .index = 4, .name = "odd0", .kind = "of-next-year" },
                { .index = 5, .name = "odd1", .kind = "of-next-year" },
                { .index = 6, .name = "eth0", .speed = GIGABIT },
                { .index = 7, .name = "eth1", .speed = GIGABIT },
        };
        static const AldManagedDevice devices[] = {
                { "wlan0", ALD_INTERFACE_TYPE_WIFI, ALD_INTERFACE_METERED_GUESS_YES, "Phone",
                        866 * UINT64_C(1000000) },
                { "thunderbolt0", ALD_INTERFACE_TYPE_ETHERNET, ALD_INTERFACE_METERED_NO, NULL,
                        ALD_ABSENT_UINT64 },
                { "odd0", ALD_INTERFACE_TYPE_ETHERNET, ALD_INTERFACE_METERED_N, NULL, ALD_ABSENT_UINT64 },
                { "odd1", ALD_INTERFACE_TYPE_TUNNEL, ALD_INTERFACE_METERED_N, NULL, ALD_ABSENT_UINT64 },
                { "eth0", ALD_INTERFACE_TYPE_N, ALD_INTERFACE_METERED_GUESS_NO, "Wired", ALD_ABSENT_UINT64 },
                { "gone0", ALD_INTERFACE_TYPE_ETHERNET, ALD_INTERFACE_METERED_NO, "Old", ALD_ABSENT_UINT64 },
        };
        static const AldManaged managed = { .devices = devices, .n_devices = G_N_ELEMENTS(devices) };
        g_autoptr(AldLinks) links = host(tests, G_N_ELEMENTS(tests));
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &managed);

        g_assert_cmpuint(ald_network_rows_fields(rows)->interfaces.n, ==, G_N_ELEMENTS(tests));
        g_assert_cmpstr(row(rows, "wlan0")->type, ==, "wifi");
        g_assert_cmpstr(row(rows, "wlan0")->metered, ==, "guess-yes");
        g_assert_cmpstr(row(rows, "wlan0")->connection, ==, "Phone");
        g_assert_cmpuint(row(rows, "wlan0")->speed_bits_per_second, ==, 866 * UINT64_C(1000000));
        /* To NetworkManager all that looks like Ethernet is Ethernet. */
        g_assert_cmpstr(row(rows, "thunderbolt0")->type, ==, "thunderbolt");
        g_assert_cmpstr(row(rows, "thunderbolt0")->metered, ==, "no");
        g_assert_cmpstr(row(rows, "odd0")->type, ==, "ethernet");
        g_assert_cmpstr(row(rows, "odd1")->type, ==, "tunnel");
        g_assert_cmpstr(row(rows, "eth0")->type, ==, "ethernet");
        g_assert_cmpstr(row(rows, "eth0")->connection, ==, "Wired");
        g_assert_cmpuint(row(rows, "eth0")->speed_bits_per_second, ==, GIGABIT);
        g_assert_null(row(rows, "eth1")->metered);
}

static void test_neighbours(void)
{
        static const AldNeighbour heard[] = {
                { .interface = "eth0",
                        .chassis_id = "aa:bb",
                        .port_id = "7",
                        .system_name = "switch",
                        .port_description = "Port 7" },
                { .interface = "eth1", .chassis_id = "aa:bb", .port_id = "8" },
                { .interface = "eth1", .port_id = "9" },
                { .interface = "eth1", .chassis_id = "aa:bb" },
        };
        static const AldManaged managed = { .neighbours = heard, .n_neighbours = G_N_ELEMENTS(heard) };
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &managed);
        const AldNetwork *fields = ald_network_rows_fields(rows);
        const AldNeighbour *first = ald_rows_at(&fields->neighbours, 0);
        const AldNeighbour *second = ald_rows_at(&fields->neighbours, 1);

        g_assert_cmpuint(fields->neighbours.n, ==, 2);
        g_assert_cmpstr(first->id, ==, "eth0,aa:bb,7");
        g_assert_cmpstr(first->system_name, ==, "switch");
        g_assert_cmpstr(first->port_description, ==, "Port 7");
        g_assert_cmpstr(second->id, ==, "eth1,aa:bb,8");
        g_assert_null(second->system_name);
}

/* As many interfaces as there can be, each with many addresses and each a port, and neighbours that shout:
 * what does not fit is left out, and the rest is a record. */
static void test_room(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkRows) rows = NULL;
        g_autoptr(AldRecord) record = NULL;
        g_autofree AldNeighbour *heard = g_new0(AldNeighbour, 500);
        g_autofree char *noise = g_strnfill(255, 'x');
        AldManaged managed = { .neighbours = heard, .n_neighbours = 500 };
        const AldNetwork *fields;
        AldNetworkLeftOut left_out;

        add(links, &(TestLink){ .index = 1, .name = "br0", .kind = "bridge" });
        for (int i = 2; i <= ALD_LINKS_MAX; i++) {
                g_autofree char *name = g_strdup_printf("interface%d", i);

                add(links, &(TestLink){ .index = i, .name = name, .controller = 1 });
                for (int k = 0; k < 4; k++) {
                        g_autofree char *text = g_strdup_printf(
                                "2001:db8:1111:2222:3333:4444:%x:%x/64", i, k);
                        add_address(links, i, text);
                }
        }
        for (int i = 0; i < 500; i++)
                heard[i] = (AldNeighbour){ .interface = "br0",
                        .chassis_id = noise,
                        .port_id = noise,
                        .system_name = noise,
                        .port_description = noise };

        rows = ald_network_merge(links, &managed);
        fields = ald_network_rows_fields(rows);
        g_assert_cmpint(ald_record_new(ALD_KIND_NETWORK, fields, &record), ==, 0);
        g_assert_cmpuint(fields->interfaces.n, >, 300);
        g_assert_cmpuint(fields->neighbours.n, >, 10);
        left_out = ald_network_rows_left_out(rows);
        g_assert_cmpuint(fields->interfaces.n + left_out.interfaces, ==, ALD_LINKS_MAX);
        g_assert_cmpuint(fields->neighbours.n + left_out.neighbours, ==, 500);
        g_assert_cmpstr(((const AldInterface *) ald_rows_at(&fields->interfaces, 1))->id, ==, "interface2");
}

/* A thousand plain interfaces all fit. */
static void test_many(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkRows) rows = NULL;
        g_autoptr(AldRecord) record = NULL;
        AldNetworkLeftOut left_out;

        for (int i = 1; i <= ALD_LINKS_MAX; i++) {
                g_autofree char *name = g_strdup_printf("dummy%d", i);
                AldNetworkLink *link = add(links, &(TestLink){ .index = i, .name = name, .kind = "dummy" });

                link->info.address_size = 6;
                memcpy(link->info.address, &i, sizeof i);
                add_address(links, i, "192.0.2.1/24");
        }
        rows = ald_network_merge(links, &nothing);
        left_out = ald_network_rows_left_out(rows);
        g_assert_cmpuint(left_out.interfaces + left_out.links, ==, 0);
        g_assert_cmpint(ald_record_new(ALD_KIND_NETWORK, ald_network_rows_fields(rows), &record), ==, 0);
        g_assert_cmpuint(ald_record_as(record, NETWORK, AldNetwork)->interfaces.n, ==, ALD_LINKS_MAX);
}

/* A name that cannot be said costs its own row; the kernel allows any bytes but few. */
static void test_bad_name(void)
{
        static const TestLink tests[] = {
                { .index = 2, .name = "eth\xff" },
                { .index = 3, .name = "eth1" },
        };
        g_autoptr(AldLinks) links = host(tests, G_N_ELEMENTS(tests));
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &nothing);
        g_autoptr(AldRecord) record = NULL;

        g_assert_cmpint(ald_record_new(ALD_KIND_NETWORK, ald_network_rows_fields(rows), &record), ==, 0);
        g_assert_cmpuint(ald_record_as(record, NETWORK, AldNetwork)->interfaces.n, ==, 1);
        g_assert_cmpuint(ald_network_rows_left_out(rows).names, ==, 1);
}

/* What is left out is logged once, until it is something else. */
static void test_left_out(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        AldNetworkLeftOut told = { 0 }, now;

        log_count_reset();
        for (int i = 1; i <= ALD_LINKS_MAX + 2; i++) {
                g_autofree char *name = g_strdup_printf("dummy%d", i);
                TestMessage m;

                test_link(&m, i, name);
                ald_links_apply(links, &m.header);
        }
        for (int i = 0; i < ALD_LINK_ADDRESSES_MAX + 3; i++) {
                g_autofree char *text = g_strdup_printf("10.0.%d.%d/32", i / 256, i % 256);

                add_address(links, 1, text);
        }
        for (unsigned i = 0; i < 3; i++) {
                g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &nothing);

                now = ald_network_rows_left_out(rows);
                ald_network_left_out_report(&told, &now);
        }
        g_assert_cmpuint(log_count("leaves out"), ==, 1);
        g_assert_cmpuint(log_count("leaves out 2 interfaces beyond the limit of 1024, 3 addresses beyond the "
                                   "limit of 1024 for each interface"),
                ==, 1);

        now = (AldNetworkLeftOut){ .names = 1, .interfaces = 1, .neighbours = 5 };
        ald_network_left_out_report(&told, &now);
        g_assert_cmpuint(
                log_count("leaves out 1 interface for which the record has no room, 1 interface whose "
                          "name is not UTF-8, 5 neighbours for which the record has no room"),
                ==, 1);
        now = (AldNetworkLeftOut){ 0 };
        ald_network_left_out_report(&told, &now);
        ald_network_left_out_report(&told, &now);
        g_assert_cmpuint(log_count("leaves out"), ==, 2);
        g_assert_cmpuint(log_count("is complete again"), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/network-merge/types", test_types);
        g_test_add_func("/network-merge/type-as-parent", test_type_as_parent);
        g_test_add_func("/network-merge/plain-row", test_plain_row);
        g_test_add_func("/network-merge/hardware-addresses", test_hardware_addresses);
        g_test_add_func("/network-merge/point-to-point", test_point_to_point);
        g_test_add_func("/network-merge/structure", test_structure);
        g_test_add_func("/network-merge/speeds", test_speeds);
        g_test_add_func("/network-merge/managed", test_managed);
        g_test_add_func("/network-merge/neighbours", test_neighbours);
        g_test_add_func("/network-merge/room", test_room);
        g_test_add_func("/network-merge/many", test_many);
        g_test_add_func("/network-merge/bad-name", test_bad_name);
        g_test_add_func("/network-merge/left-out", test_left_out);
        return g_test_run();
}
