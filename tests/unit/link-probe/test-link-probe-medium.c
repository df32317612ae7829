/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/thunderbolt.h"
#include "services/link-probe/net/medium.h"
#include "tests/unit/fake-root.h"

#define DEVICE "sys/devices/domain0/0-0/0-1/"

static unsigned told;

static unsigned wifi_generation(const char *interface)
{
        g_assert_cmpstr(interface, ==, "net0");
        return told;
}

static AldMedium look_all(AldMedia *media, const char *type)
{
        AldInterface row = ALD_INTERFACE_INIT;
        AldNetwork network = ALD_NETWORK_INIT;

        row.id = "net0";
        row.type = type;
        network.interfaces.items = &row;
        network.interfaces.n = type ? 1 : 0;
        return ald_media_find(media, &network, "net0");
}

static const char *look(AldMedia *media, const char *type)
{
        return look_all(media, type).type;
}

static uint64_t look_wifi(AldMedia *media, unsigned generation)
{
        told = generation;
        return look_all(media, "wifi").generation;
}

/* What was sent last was a beacon, or over a bad link, now and then. */
static void test_generation_does_not_flicker(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldMedia *media = ald_media_new(root->fd, wifi_generation);

        g_assert_cmpuint(look_wifi(media, 0), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(look_wifi(media, 6), ==, 6);
        g_assert_cmpuint(look_wifi(media, 0), ==, 6);
        g_assert_cmpuint(look_wifi(media, 4), ==, 6);
        g_assert_cmpuint(look_wifi(media, 6), ==, 6);
        g_assert_cmpuint(look_wifi(media, 7), ==, 6);
        g_assert_cmpuint(look_wifi(media, 7), ==, 7);
        g_assert_cmpuint(look_wifi(media, 0), ==, 7);
        g_assert_cmpuint(look_wifi(media, 0), ==, 7);
        g_assert_cmpuint(look_wifi(media, 0), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(look_wifi(media, 5), ==, 5);
        g_assert_cmpuint(look_all(media, "ethernet").generation, ==, 5);
        g_assert_cmpuint(look_all(media, "ethernet").generation, ==, ALD_ABSENT_UINT64);
        ald_media_free(media);
}

static void test_does_not_flicker(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldMedia *media = ald_media_new(root->fd, wifi_generation);

        g_assert_null(look(media, NULL));
        g_assert_cmpstr(look(media, "ethernet"), ==, "ethernet");
        g_assert_cmpstr(look(media, "wifi"), ==, "ethernet");
        g_assert_cmpstr(look(media, "ethernet"), ==, "ethernet");
        g_assert_cmpstr(look(media, "unknown"), ==, "ethernet");
        g_assert_cmpstr(look(media, NULL), ==, "ethernet");
        g_assert_null(look(media, "unknown"));
        g_assert_cmpstr(look(media, "wifi"), ==, "wifi");
        g_assert_cmpstr(look(media, "ethernet"), ==, "wifi");
        g_assert_cmpstr(look(media, "ethernet"), ==, "ethernet");
        g_assert_cmpstr(ald_media_find(media, NULL, "net0").type, ==, "ethernet");
        ald_media_free(media);
}

/* Only the kernel knows which port of a bond is used. */
static void test_bond(void)
{
        static const char *const ports[] = { "eth0", "net0", NULL };
        g_autoptr(FakeRoot) root = fake_root_new();
        AldMedia *media = ald_media_new(root->fd, wifi_generation);
        AldInterface rows[] = { ALD_INTERFACE_INIT, ALD_INTERFACE_INIT, ALD_INTERFACE_INIT };
        AldNetwork network = ALD_NETWORK_INIT;
        AldMedium medium;

        rows[0].id = "bond0";
        rows[0].type = "bond";
        rows[0].ports = ports;
        rows[1].id = "eth0";
        rows[1].type = "ethernet";
        rows[2].id = "net0";
        rows[2].type = "wifi";
        rows[2].speed_bits_per_second = 400;
        network.interfaces.items = rows;
        network.interfaces.n = G_N_ELEMENTS(rows);
        told = 6;
        g_assert_null(ald_media_find(media, &network, "bond0").type);
        fake_root_write(root, "sys/class/net/bond0/bonding/active_slave", "net0\n");
        medium = ald_media_find(media, &network, "bond0");
        g_assert_cmpstr(medium.type, ==, "wifi");
        g_assert_cmpuint(medium.generation, ==, 6);
        g_assert_cmpuint(medium.bits_per_second, ==, 400);
        ald_media_free(media);
}

static void assert_thunderbolt(const char *speed, const char *lanes, const char *router, uint64_t generation,
        uint64_t bits_per_second)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        uint64_t found, rate;

        fake_root_mkdir(root, DEVICE "0-1.0");
        fake_root_mkdir(root, "sys/class/net/thunderbolt0");
        fake_root_link(root, "sys/class/net/thunderbolt0/device", "../../../devices/domain0/0-0/0-1/0-1.0");
        if (speed)
                fake_root_write(root, DEVICE "tx_speed", speed);
        if (lanes)
                fake_root_write(root, DEVICE "tx_lanes", lanes);
        if (router)
                fake_root_write(root, "sys/devices/domain0/0-0/generation", router);
        ald_thunderbolt_read(root->fd, "sys/class/net/thunderbolt0/device/..", &found, &rate);
        g_assert_cmpuint(found, ==, generation);
        g_assert_cmpuint(rate, ==, bits_per_second);
}

static void test_thunderbolt(void)
{
        assert_thunderbolt("20.0 Gb/s\n", "2\n", "3\n", 3, 40000000000);
        assert_thunderbolt("20.0 Gb/s\n", "2\n", "4\n", 4, 40000000000);
        assert_thunderbolt("40.0 Gb/s\n", "2\n", "4\n", 5, 80000000000);
        assert_thunderbolt("10.0 Gb/s\n", "2\n", "2\n", 2, 20000000000);
        assert_thunderbolt("20.0 Gb/s\n", NULL, NULL, 3, ALD_ABSENT_UINT64);
        assert_thunderbolt(NULL, "2\n", "3\n", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        assert_thunderbolt("fast", "2\n", "3\n", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        assert_thunderbolt("1e9 Gb/s", "2\n", "3\n", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        assert_thunderbolt("20.0 Gb/s", "9000", "3\n", 3, ALD_ABSENT_UINT64);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-medium/does-not-flicker", test_does_not_flicker);
        g_test_add_func("/link-probe-medium/generation-does-not-flicker", test_generation_does_not_flicker);
        g_test_add_func("/link-probe-medium/bond", test_bond);
        g_test_add_func("/link-probe-medium/thunderbolt", test_thunderbolt);
        return g_test_run();
}
