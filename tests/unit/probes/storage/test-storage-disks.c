/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/storage/disks.h"
#include "record/field.h"
#include "tests/unit/fake-root.h"

#define PCI "sys/devices/pci0000:00/0000:00:01.0"
#define SATA PCI "/ata1/host0/target0:0:0/0:0:0:0/block"

/* A block device at a path below sys/, as sysfs links it. */
static void add_device(FakeRoot *root, const char *folder, const char *name, const char *number)
{
        g_autofree char *class = g_strdup_printf("sys/class/block/%s", name);
        g_autofree char *numbered = g_strdup_printf("sys/dev/block/%s", number);
        g_autofree char *target = g_strdup_printf("../../%s/%s", folder + strlen("sys/"), name);
        g_autofree char *own = g_strdup_printf("%s/%s", folder, name);

        fake_root_mkdir(root, own);
        fake_root_link(root, class, target);
        fake_root_link(root, numbered, target);
}

static void add_slave(FakeRoot *root, const char *device, const char *slave)
{
        g_autofree char *path = g_strdup_printf("sys/devices/virtual/block/%s/slaves/%s", device, slave);
        g_autofree char *target = g_strdup_printf("../../../../../class/block/%s", slave);

        fake_root_link(root, path, target);
}

/* A disk with a partition, another disk, and an encrypted volume over a RAID of both. */
static FakeRoot *make_root(void)
{
        FakeRoot *root = fake_root_new();

        add_device(root, SATA, "sda", "8:0");
        add_device(root, SATA "/sda", "sda1", "8:1");
        add_device(root, PCI "/nvme/nvme0", "nvme0n1", "259:0");
        add_device(root, "sys/devices/virtual/block", "md0", "9:0");
        add_device(root, "sys/devices/virtual/block", "dm-0", "254:0");
        add_device(root, "sys/devices/virtual/block", "loop3", "7:3");
        add_slave(root, "md0", "sda1");
        add_slave(root, "md0", "nvme0n1");
        add_slave(root, "dm-0", "md0");
        fake_root_write_all(root, SATA "/sda/sda1/partition", "1\n", SATA "/sda/queue/rotational", "1\n",
                PCI "/nvme/nvme0/nvme0n1/queue/rotational", "0\n",
                "sys/devices/virtual/block/loop3/queue/rotational", "1\n",
                "sys/devices/virtual/block/dm-0/dm/name", "models\n", PCI "/power/runtime_status", "active\n",
                PCI "/nvme/nvme0/power/runtime_status", "unsupported\n", NULL);
        return root;
}

static void check(FakeRoot *root, const char *line, const char *const *still, const char *names,
        int rotational, const char *asleep)
{
        g_autoptr(GPtrArray) mounts = ald_mounts_parse(line);
        g_autofree char *text = NULL;
        AldStorageDisks disks;

        g_test_message("%s", line);
        ald_storage_disks_read(root->dir, mounts->pdata[0], still, &disks);
        text = disks.names ? g_strjoinv(" ", disks.names) : NULL;
        g_assert_cmpstr(text, ==, names);
        g_assert_cmpint(disks.rotational, ==, rotational);
        g_assert_cmpstr(disks.asleep, ==, asleep);
        ald_storage_disks_clear(&disks);
}

static void test_names(void)
{
        g_autoptr(FakeRoot) root = make_root();

        check(root, "1 0 8:1 / /a rw - ext4 /dev/sda1 rw", NULL, "sda", 1, NULL);
        check(root, "1 0 8:0 / /a rw - ext4 /dev/sda rw", NULL, "sda", 1, NULL);
        check(root, "1 0 259:0 / /a rw - ext4 /dev/nvme0n1 rw", NULL, "nvme0n1", 0, NULL);
        check(root, "1 0 254:0 / /a rw - xfs /dev/mapper/models rw", NULL, "nvme0n1 sda", 1, NULL);
        check(root, "1 0 8:7 / /a rw - ext4 /dev/sda7 rw", NULL, NULL, ALD_ABSENT_BOOLEAN, NULL);
        check(root, "1 0 0:33 / /a rw - tmpfs tmpfs rw", NULL, NULL, ALD_ABSENT_BOOLEAN, NULL);
}

static void test_btrfs(void)
{
        g_autoptr(FakeRoot) root = make_root();

        check(root, "1 0 0:40 / /a rw - btrfs /dev/nvme0n1 rw", NULL, NULL, ALD_ABSENT_BOOLEAN, NULL);
        fake_root_link(root, "sys/fs/btrfs/0f0f/devices/dm-0", "../../../../devices/virtual/block/dm-0");
        fake_root_link(root, "sys/fs/btrfs/1e1e/devices/nvme0n1", "../../../../class/block/nvme0n1");
        fake_root_link(root, "sys/fs/btrfs/1e1e/devices/sda1", "../../../../class/block/sda1");
        check(root, "1 0 0:40 / /a rw - btrfs /dev/nvme0n1 rw", NULL, "nvme0n1 sda", 1, NULL);
        check(root, "1 0 0:41 / /a rw - btrfs /dev/mapper/models rw", NULL, "nvme0n1 sda", 1, NULL);
        check(root, "1 0 0:42 / /a rw - btrfs /dev/mapper/others rw", NULL, NULL, ALD_ABSENT_BOOLEAN, NULL);
}

static void test_memory(void)
{
        g_autoptr(FakeRoot) root = make_root();
        g_autoptr(GPtrArray) mounts = ald_mounts_parse("1 0 7:3 / /a rw - ext4 /dev/loop3 rw");
        AldStorageDisks disks;

        ald_storage_disks_read(root->dir, mounts->pdata[0], NULL, &disks);
        g_assert_true(disks.is_memory);
        ald_storage_disks_clear(&disks);
}

static void test_asleep(void)
{
        static const char *const still[] = { "nvme0n1", "sda", NULL };
        const char *sda = "1 0 8:1 / /a rw - ext4 /dev/sda1 rw";
        const char *nvme = "1 0 259:0 / /a rw - ext4 /dev/nvme0n1 rw";
        const char *both = "1 0 254:0 / /a rw - xfs /dev/mapper/models rw";
        g_autoptr(FakeRoot) root = make_root();

        /* Only one that rotates stops when it has nothing to do. */
        check(root, sda, still, "sda", 1, "sda may be asleep");
        check(root, nvme, still, "nvme0n1", 0, NULL);
        check(root, both, still, "nvme0n1 sda", 1, "sda may be asleep");
        fake_root_write(root, PCI "/ata1/host0/power/runtime_status", "suspending\n");
        check(root, sda, NULL, "sda", 1, "sda is suspended");
        check(root, both, NULL, "nvme0n1 sda", 1, "sda is suspended");
        check(root, nvme, NULL, "nvme0n1", 0, NULL);
        /* The PCI function is that of both. */
        fake_root_write(root, PCI "/power/runtime_status", "suspended\n");
        check(root, nvme, NULL, "nvme0n1", 0, "nvme0n1 is suspended");
}

/* A disk with several controllers is a device of none of them. */
static void test_nvme_subsystem(void)
{
        const char *line = "1 0 259:5 / /a rw - ext4 /dev/nvme1n1 rw";
        g_autoptr(FakeRoot) root = make_root();

        add_device(root, "sys/devices/virtual/nvme-subsystem/nvme-subsys1", "nvme1n1", "259:5");
        fake_root_mkdir(root, PCI "/nvme/nvme1");
        fake_root_link(root, "sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1",
                "../../../pci0000:00/0000:00:01.0/nvme/nvme1");
        check(root, line, NULL, "nvme1n1", ALD_ABSENT_BOOLEAN, NULL);
        fake_root_write(root, PCI "/power/runtime_status", "suspended\n");
        check(root, line, NULL, "nvme1n1", ALD_ABSENT_BOOLEAN, "nvme1n1 is suspended");
}

static void test_counters(void)
{
        static const char text[] = "   8       0 sda 100 5 2000 70 30 2 400 9 1 150 79 0 0 0 0 0 0\n"
                                   "   8       1 sda1 90 5 1900 70 30 2 400 9 0 140 79\n"
                                   " 259       0 nvme0n1 7 0 16 1 0 0 0 0 0 3 1\n"
                                   "short\n";
        static const char *const one[] = { "sda", NULL }, *const two[] = { "nvme0n1", "sda", NULL },
                                 *const gone[] = { "sda", "sdb", NULL };
        AldDiskCounters counters = { .read_bytes = 1 };

        g_assert_true(ald_disk_counters_parse(text, one, &counters));
        g_assert_cmpuint(counters.read_bytes, ==, 2000 * 512);
        g_assert_cmpuint(counters.written_bytes, ==, 400 * 512);
        g_assert_cmpuint(counters.in_flight, ==, 1);
        g_assert_cmpuint(counters.busy_msec, ==, 150);
        g_assert_true(ald_disk_counters_parse(text, two, &counters));
        g_assert_cmpuint(counters.read_bytes, ==, 2016 * 512);
        g_assert_cmpuint(counters.busy_msec, ==, 153);
        g_assert_false(ald_disk_counters_parse(text, gone, &counters));
        g_assert_false(ald_disk_counters_parse("", one, &counters));
        g_assert_cmpuint(counters.busy_msec, ==, 153);
}

static void test_busy(void)
{
        const AldDiskCounters idle = { .busy_msec = 1000 };
        AldDiskCounters after = { .busy_msec = 1100 };

        g_assert_false(ald_disk_counters_are_busy(&idle, &after));
        after.busy_msec = 1101;
        g_assert_true(ald_disk_counters_are_busy(&idle, &after));
        /* One request that takes long, as of a tape behind it. */
        after = (AldDiskCounters){ .busy_msec = 1000, .in_flight = 1 };
        g_assert_false(ald_disk_counters_are_busy(&idle, &after));
        g_assert_true(ald_disk_counters_are_busy(&after, &after));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/storage-disks/names", test_names);
        g_test_add_func("/storage-disks/btrfs", test_btrfs);
        g_test_add_func("/storage-disks/memory", test_memory);
        g_test_add_func("/storage-disks/asleep", test_asleep);
        g_test_add_func("/storage-disks/nvme-subsystem", test_nvme_subsystem);
        g_test_add_func("/storage-disks/counters", test_counters);
        g_test_add_func("/storage-disks/busy", test_busy);
        return g_test_run();
}
