/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/identity/device-tree.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define BASE "sys/firmware/devicetree/base/"
#define WRITE(root, path, literal) fake_root_write_bytes(root, path, literal, sizeof literal)

static void check_strings(const char *data, size_t length, const char *expected)
{
        g_auto(GStrv) strings = ald_device_tree_strings(data, length);
        g_autofree char *joined = g_strjoinv("|", strings);

        g_assert_cmpstr(joined, ==, expected);
}

static void test_strings(void)
{
        g_autofree char *many = g_malloc(20000);

        check_strings("a\0b", 4, "a|b");
        check_strings("a\0b", 3, "a|b"); /* the last NUL is missing */
        check_strings("\0\0a\0\0b\0", 7, "a|b");
        check_strings("\xff\0good", 7, "good");
        check_strings("", 0, "");
        check_strings("", 1, "");
        for (size_t i = 0; i < 20000; i += 2) {
                many[i] = 'x';
                many[i + 1] = '\0';
        }
        g_auto(GStrv) strings = ald_device_tree_strings(many, 20000);
        g_assert_cmpuint(g_strv_length(strings), ==, 32);
}

static void test_raspberry_pi(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDeviceTree) tree = { 0 };
        g_autofree char *vendor = NULL;

        WRITE(root, BASE "model", "Raspberry Pi 5 Model B Rev 1.0");
        WRITE(root, BASE "compatible", "raspberrypi,5-model-b\0brcm,bcm2712");
        ald_device_tree_read(root->fd, &tree);
        vendor = ald_device_tree_vendor(&tree);
        g_assert_cmpstr(tree.model, ==, "Raspberry Pi 5 Model B Rev 1.0");
        g_assert_cmpstr(vendor, ==, "Raspberry Pi");
        g_assert_cmpstr(tree.compatible[1], ==, "brcm,bcm2712");
        g_assert_null(tree.compatible[2]);
        g_assert_null(tree.hypervisor);
        g_assert_null(tree.chassis_type);
}

static void check_vendor(const char *compatible, const char *expected)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDeviceTree) tree = { 0 };
        g_autofree char *vendor = NULL;

        fake_root_write(root, "proc/device-tree/compatible", compatible);
        ald_device_tree_read(root->fd, &tree);
        vendor = ald_device_tree_vendor(&tree);
        g_assert_cmpstr(vendor, ==, expected);
}

static void test_vendor(void)
{
        check_vendor("nvidia,p3737-0000+p3701-0005", "NVIDIA");
        check_vendor("newmaker,board", "newmaker");
        check_vendor("apples,board", "apples");
        check_vendor("linux,dummy-virt", NULL);
        check_vendor("nocomma", NULL);
        check_vendor(",board", NULL);
        check_vendor("", NULL);
}

static void test_absent(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDeviceTree) tree = { 0 };

        log_count_reset();
        ald_device_tree_read(root->fd, &tree);
        g_assert_null(tree.model);
        g_assert_nonnull(tree.compatible);
        g_assert_null(tree.compatible[0]);
        g_assert_null(ald_device_tree_vendor(&tree));
        g_assert_cmpuint(log_count(""), ==, 0);
}

static void test_chassis(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDeviceTree) tree = { 0 };
        g_auto(AldDeviceTree) absurd = { 0 };

        WRITE(root, BASE "chassis-type", "laptop");
        ald_device_tree_read(root->fd, &tree);
        g_assert_cmpstr(tree.chassis_type, ==, "laptop");
        WRITE(root, BASE "chassis-type", "spaceship");
        ald_device_tree_read(root->fd, &absurd);
        g_assert_null(absurd.chassis_type);
}

static void test_broken(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_auto(AldDeviceTree) tree = { 0 };
        g_autofree char *huge = g_strnfill(1024 * 1024, 'x');

        fake_root_mkdir(root, BASE "model");
        fake_root_write(root, BASE "compatible", huge);
        fake_root_fifo(root, BASE "chassis-type");
        log_count_reset();
        ald_device_tree_read(root->fd, &tree);
        g_assert_null(tree.model);
        g_assert_null(tree.compatible[0]);
        g_assert_null(tree.chassis_type);
        g_assert_cmpuint(log_count(""), ==, 3);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/identity/device-tree/strings", test_strings);
        g_test_add_func("/identity/device-tree/raspberry-pi", test_raspberry_pi);
        g_test_add_func("/identity/device-tree/vendor", test_vendor);
        g_test_add_func("/identity/device-tree/absent", test_absent);
        g_test_add_func("/identity/device-tree/chassis", test_chassis);
        g_test_add_func("/identity/device-tree/broken", test_broken);
        return g_test_run();
}
