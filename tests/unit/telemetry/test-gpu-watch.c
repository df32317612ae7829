/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A GPU that appears and goes, by the events of udev; to be run within umockdev-wrapper. */
#include <fcntl.h>
#include <string.h>

#include <umockdev.h>

#include "common/fd.h"
#include "record/record.h"
#include "services/telemetry/gpu/gpu.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define ID "0000:03:00.0"

typedef struct Seen {
        AldGpuCollector *collector;
        unsigned n_changed;
        bool wanted; /* whether the device is to be there */
} Seen;

static void on_changed(void *userdata)
{
        ((Seen *) userdata)->n_changed++;
}

static bool is_there(Seen *seen)
{
        AldBackends backends;

        ald_gpu_collector_backends(seen->collector, &backends);
        return ald_rows_find(&backends.devices, ID) != NULL;
}

static bool is_as_wanted(void *userdata)
{
        Seen *seen = userdata;

        return is_there(seen) == seen->wanted;
}

static void test_comes_and_goes(void)
{
        g_autoptr(UMockdevTestbed) bed = umockdev_testbed_new();
        g_autofree char *dir = umockdev_testbed_get_root_dir(bed);
        g_autofree char *path = NULL;
        ald_fd int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        Seen seen = {};

        g_assert_cmpint(root, >=, 0);
        seen.collector = ald_gpu_collector_new(root, "/nonexistent", on_changed, &seen);
        g_assert_false(is_there(&seen));

        path = umockdev_testbed_add_device(bed, "pci", ID, NULL, "class", "0x030000", "vendor", "0x1002",
                "device", "0x744c", NULL, NULL);
        g_assert_nonnull(path);
        /* umockdev has already told of it; another event is no news. */
        umockdev_testbed_uevent(bed, path, "add");
        seen.wanted = true;
        gpu_wait(is_as_wanted, &seen);
        g_assert_cmpuint(seen.n_changed, ==, 1);

        umockdev_testbed_uevent(bed, path, "remove");
        umockdev_testbed_remove_device(bed, path);
        seen.wanted = false;
        gpu_wait(is_as_wanted, &seen);
        g_assert_cmpuint(seen.n_changed, ==, 2);
        ald_gpu_collector_free(seen.collector);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        if (strstr(g_getenv("LD_PRELOAD") ?: "", "umockdev"))
                g_test_add_func("/gpu-watch/comes-and-goes", test_comes_and_goes);
        return g_test_run();
}
