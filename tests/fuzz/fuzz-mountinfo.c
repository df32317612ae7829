/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/storage/disks.h"

/* Mount points and sources are names that any user of a machine may have chosen. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const names[] = { "sda", "nvme0n1", NULL };
        g_autofree char *text = g_strndup((const char *) data, size);
        g_autoptr(GPtrArray) mounts = ald_mounts_parse(text);
        AldDiskCounters counters;

        for (guint i = 0; i < mounts->len; i++) {
                const AldMount *mount = mounts->pdata[i], *found = ald_mounts_find(mounts, mount->point);

                g_assert_cmpint(*mount->point, ==, '/');
                g_assert_true(mount->type && mount->source);
                g_assert_true(ald_mounts_is_point(mounts, mount->point));
                g_assert_true(found && strlen(found->point) <= strlen(mount->point));
        }
        (void) ald_disk_counters_parse(text, names, &counters);
        return 0;
}
