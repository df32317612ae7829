/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/field.h"
#include "services/telemetry/network/network-sysfs.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

static void read_facts(FakeRoot *root, AldLinkFacts *facts, const char *name, int index)
{
        ald_link_facts_init(facts);
        ald_link_facts_read(facts, root->fd, name, index, true);
}

static void test_ethernet(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldLinkFacts facts;

        fake_root_write_all(root, "sys/devices/pci/net/eth0/uevent", "INTERFACE=eth0\nIFINDEX=2\n",
                "sys/devices/pci/net/eth0/ifindex", "2\n", "sys/devices/pci/net/eth0/speed", "200000\n",
                NULL);
        fake_root_mkdir(root, "sys/bus/pci/drivers/mlx5_core");
        fake_root_link(root, "sys/devices/pci/driver", "../../bus/pci/drivers/mlx5_core");
        fake_root_link(root, "sys/devices/pci/net/eth0/device", "../..");
        fake_root_link(root, "sys/class/net/eth0", "../../devices/pci/net/eth0");

        read_facts(root, &facts, "eth0", 2);
        g_assert_cmpstr(facts.driver, ==, "mlx5_core");
        g_assert_null(facts.device_type);
        g_assert_false(facts.wireless);
        g_assert_cmpuint(facts.speed, ==, UINT64_C(200) * 1000 * 1000 * 1000);

        /* Not asked for while there is no carrier. */
        ald_link_facts_read(&facts, root->fd, "eth0", 2, false);
        g_assert_cmpuint(facts.speed, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(facts.driver, ==, "mlx5_core");
        ald_link_facts_clear(&facts);
}

static void test_wifi(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldLinkFacts facts;

        fake_root_write(root, "sys/class/net/wlan0/uevent", "DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n");
        fake_root_mkdir(root, "sys/class/net/wlan0/phy80211");
        read_facts(root, &facts, "wlan0", 3);
        g_assert_true(facts.wireless);
        g_assert_cmpstr(facts.device_type, ==, "wlan");
        g_assert_cmpuint(facts.speed, ==, ALD_ABSENT_UINT64);
        ald_link_facts_clear(&facts);

        fake_root_remove(root, "sys/class/net/wlan0/phy80211");
        read_facts(root, &facts, "wlan0", 3);
        g_assert_false(facts.wireless);
        ald_link_facts_clear(&facts);

        fake_root_mkdir(root, "sys/class/net/wlan0/wireless");
        read_facts(root, &facts, "wlan0", 3);
        g_assert_true(facts.wireless);
        ald_link_facts_clear(&facts);
}

static void test_thunderbolt(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldLinkFacts facts;

        fake_root_write(root, "sys/class/net/thunderbolt0/uevent", "INTERFACE=thunderbolt0\nIFINDEX=4\n");
        fake_root_link(root, "sys/class/net/thunderbolt0/device/driver",
                "../../../../bus/thunderbolt/drivers/thunderbolt-net");
        read_facts(root, &facts, "thunderbolt0", 4);
        g_assert_cmpstr(facts.driver, ==, "thunderbolt-net");
        ald_link_facts_clear(&facts);
}

/* What a speed file says, what is made of it, and how many lines of log it is worth. */
static void test_speeds(void)
{
        static const struct {
                const char *text;
                uint64_t speed;
                unsigned lines;
        } table[] = {
                { "10\n", UINT64_C(10000000), 0 },
                { "2500", UINT64_C(2500000000), 0 },
                { "800000\n", UINT64_C(800000000000), 0 },
                { "-1\n", ALD_ABSENT_UINT64, 0 },
                { "0\n", ALD_ABSENT_UINT64, 0 },
                { "65535\n", ALD_ABSENT_UINT64, 0 },
                { "4294967295\n", ALD_ABSENT_UINT64, 0 },
                { "-9223372036854775808\n", ALD_ABSENT_UINT64, 0 },
                { "", ALD_ABSENT_UINT64, 0 },
                { "fast\n", ALD_ABSENT_UINT64, 1 },
                { "1000 Mb/s\n", ALD_ABSENT_UINT64, 1 },
                { "99999999999999999999\n", ALD_ABSENT_UINT64, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                AldLinkFacts facts;

                g_test_message("row %zu", i);
                log_count_reset();
                fake_root_write(root, "sys/class/net/eth0/speed", table[i].text);
                read_facts(root, &facts, "eth0", 2);
                g_assert_cmpuint(facts.speed, ==, table[i].speed);
                /* Read at each event, told of once. */
                for (int k = 0; k < 10; k++)
                        ald_link_facts_read(&facts, root->fd, "eth0", 2, true);
                g_assert_cmpuint(log_count("sys/class/net/eth0/speed"), ==, table[i].lines);
                ald_link_facts_clear(&facts);
        }
}

/* Other facts survive a broken file, and it is seen again when it works again. */
static void test_broken_files(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldLinkFacts facts;

        log_count_reset();
        fake_root_mkdir(root, "sys/class/net/eth0/speed");
        fake_root_mkdir(root, "sys/class/net/eth0/uevent");
        fake_root_link(root, "sys/class/net/eth0/device/driver", "../../../bus/pci/drivers/e1000e");
        read_facts(root, &facts, "eth0", 2);
        g_assert_cmpstr(facts.driver, ==, "e1000e");
        g_assert_null(facts.device_type);
        g_assert_cmpuint(facts.speed, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(log_count("sys/class/net/eth0"), ==, 1);

        fake_root_remove(root, "sys/class/net/eth0/speed");
        fake_root_write(root, "sys/class/net/eth0/speed", "1000\n");
        ald_link_facts_read(&facts, root->fd, "eth0", 2, true);
        g_assert_cmpuint(facts.speed, ==, UINT64_C(1000000000));
        ald_link_facts_clear(&facts);
}

/* Renamed a moment ago, or a /sys of another network namespace. */
static void test_other_interface(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldLinkFacts facts;

        fake_root_write_all(root, "sys/class/net/eth0/ifindex", "17\n", "sys/class/net/eth0/speed", "1000\n",
                "sys/class/net/eth0/uevent", "DEVTYPE=wlan\n", NULL);
        fake_root_mkdir(root, "sys/class/net/eth0/phy80211");
        read_facts(root, &facts, "eth0", 2);
        g_assert_null(facts.device_type);
        g_assert_false(facts.wireless);
        g_assert_cmpuint(facts.speed, ==, ALD_ABSENT_UINT64);

        ald_link_facts_read(&facts, root->fd, "eth0", 17, true);
        g_assert_cmpuint(facts.speed, ==, UINT64_C(1000000000));
        ald_link_facts_clear(&facts);
}

static void test_nothing(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldLinkFacts facts;

        log_count_reset();
        read_facts(root, &facts, "eth0", 2);
        g_assert_null(facts.driver);
        g_assert_null(facts.device_type);
        g_assert_false(facts.wireless);
        g_assert_cmpuint(facts.speed, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(log_count(""), ==, 0);
        ald_link_facts_clear(&facts);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/network-sysfs/ethernet", test_ethernet);
        g_test_add_func("/network-sysfs/wifi", test_wifi);
        g_test_add_func("/network-sysfs/thunderbolt", test_thunderbolt);
        g_test_add_func("/network-sysfs/speeds", test_speeds);
        g_test_add_func("/network-sysfs/broken-files", test_broken_files);
        g_test_add_func("/network-sysfs/other-interface", test_other_interface);
        g_test_add_func("/network-sysfs/nothing", test_nothing);
        return g_test_run();
}
