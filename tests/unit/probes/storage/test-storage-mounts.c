/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/storage/mounts.h"

static const char text[] =
        "22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n"
        "23 22 0:5 / /dev rw - devtmpfs udev rw\n"
        "31 22 259:1 / /srv rw,noatime shared:7 master:2 - xfs /dev/nvme0n1p1 rw,attr2\n"
        "32 31 0:40 / /srv/nas rw,relatime - nfs4 box:/models rw,vers=4.2\n"
        "33 22 0:41 / /mnt rw,relatime - autofs systemd-1 rw,fd=55,direct\n"
        "34 22 0:42 /@ /data\\040of\\134us ro,relatime - btrfs /dev/mapper/data rw,compress=zstd:3\n"
        "35 22 0:43 / /home rw,relatime - fuse.sshfs box: rw\n"
        "36 22 0:44 / /plain rw,relatime - btrfs /dev/sdb rw,nocompress\n"
        "37 22 8:3 / /srv rw,relatime - ext4 /dev/sda3 ro\n"
        "38 22 0:50 / /odd rw - newfs none rw\n"
        "broken\n"
        "39 22 8 / /no-device rw - ext4 /dev/sda4 rw\n"
        "40 22 8:4 / relative rw - ext4 /dev/sda4 rw\n"
        "41 22 8:4 / /short rw shared:1\n";

static void check_type(const GPtrArray *mounts, const char *path, const char *type)
{
        const AldMount *found = ald_mounts_find(mounts, path);

        g_assert_nonnull(found);
        g_assert_cmpstr(found->type, ==, type);
}

static void test_lines(void)
{
        g_autoptr(GPtrArray) mounts = ald_mounts_parse(text);
        const AldMount *root = mounts->pdata[0], *xfs = mounts->pdata[2], *btrfs = mounts->pdata[5],
                       *plain = mounts->pdata[7], *over = mounts->pdata[8];

        g_assert_cmpuint(mounts->len, ==, 10);
        g_assert_cmpuint(root->id, ==, 22);
        g_assert_cmpuint(root->major, ==, 8);
        g_assert_cmpuint(root->minor, ==, 2);
        g_assert_cmpstr(root->source, ==, "/dev/sda2");
        g_assert_false(root->keeps_access_times);
        g_assert_true(xfs->keeps_access_times);
        g_assert_cmpstr(btrfs->point, ==, "/data of\\us");
        g_assert_true(btrfs->keeps_access_times && btrfs->compresses);
        g_assert_false(plain->compresses);
        /* The file system is, though the mount is not. */
        g_assert_true(over->keeps_access_times);
}

static void test_classes(void)
{
        g_autoptr(GPtrArray) mounts = ald_mounts_parse(text);
        static const AldMountClass expected[] = {
                ALD_MOUNT_LOCAL,     /* ext4 */
                ALD_MOUNT_REMOTE,    /* devtmpfs: of no use, so not known here */
                ALD_MOUNT_LOCAL,     /* xfs */
                ALD_MOUNT_REMOTE,    /* nfs4 */
                ALD_MOUNT_AUTOMATIC, /* autofs */
                ALD_MOUNT_LOCAL,     /* btrfs, without a device of its own */
                ALD_MOUNT_REMOTE,    /* fuse */
                ALD_MOUNT_LOCAL,     /* btrfs */
                ALD_MOUNT_LOCAL,     /* ext4 */
                ALD_MOUNT_REMOTE,    /* unknown */
        };

        for (guint i = 0; i < mounts->len; i++) {
                const AldMount *mount = mounts->pdata[i];

                g_assert_cmpint(mount->class, ==, expected[i]);
                g_assert_cmpint(mount->is_network, ==, i == 3);
        }
}

static void test_find(void)
{
        g_autoptr(GPtrArray) mounts = ald_mounts_parse(text), none = ald_mounts_parse("");

        check_type(mounts, "/", "ext4");
        check_type(mounts, "/srvice", "ext4");
        check_type(mounts, "/srv/nas", "nfs4");
        check_type(mounts, "/srv/nas/deep", "nfs4");
        check_type(mounts, "/srv/nasty", "ext4");
        check_type(mounts, "/data of\\us/x", "btrfs");
        /* Two are mounted there: the last one covers the other. */
        g_assert_cmpuint(ald_mounts_find(mounts, "/srv/models")->id, ==, 37);
        g_assert_null(ald_mounts_find(none, "/"));
        g_assert_true(ald_mounts_is_point(mounts, "/srv/nas"));
        g_assert_false(ald_mounts_is_point(mounts, "/srv/nas/deep"));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/storage-mounts/lines", test_lines);
        g_test_add_func("/storage-mounts/classes", test_classes);
        g_test_add_func("/storage-mounts/find", test_find);
        return g_test_run();
}
