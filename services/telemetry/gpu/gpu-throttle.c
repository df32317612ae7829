/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "record/throttle.h"
#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-throttle.h"
#include "services/telemetry/host/kept-file.h"

/* A tile has a block for computing and one for video, and the largest card has two tiles. */
#define BLOCKS_MAX 8u

/* A block of engines. Only whether anything holds it down is read each time, from a file that stays open;
 * why, from the files beside it, only while it is. */
typedef struct Block {
        AldKeptFile status;
        char *folder;
} Block;

struct AldGpuThrottle {
        int root;
        unsigned n_blocks;
        Block blocks[BLOCKS_MAX];
};

static void try_block(AldGpuThrottle *throttle, const char *folder, const char *status)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, status);
        Block *block = &throttle->blocks[throttle->n_blocks];

        if (throttle->n_blocks == BLOCKS_MAX || !ald_sysroot_exists(throttle->root, path))
                return;
        ald_kept_file_init(&block->status, throttle->root, path);
        block->folder = g_strdup(folder);
        throttle->n_blocks++;
}

/* Looks into each subfolder gtN of the folder. */
static void find_blocks(AldGpuThrottle *throttle, const char *folder)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(throttle->root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *block = g_strdup_printf("%s/%s", folder, *name);
                g_autofree char *xe = g_strdup_printf("%s/freq0/throttle", block);

                if (!g_str_has_prefix(*name, "gt"))
                        continue;
                try_block(throttle, xe, "status");
                try_block(throttle, block, "throttle_reason_status");
        }
}

/* Looks into `below` of each subfolder whose name begins so. */
static void find_blocks_below(
        AldGpuThrottle *throttle, const char *folder, const char *prefix, const char *below)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(throttle->root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *path = g_strdup_printf("%s/%s%s", folder, *name, below);

                if (g_str_has_prefix(*name, prefix))
                        find_blocks(throttle, path);
        }
}

AldGpuThrottle *ald_gpu_throttle_new(int root, const char *device)
{
        AldGpuThrottle *throttle = g_new0(AldGpuThrottle, 1);
        g_autofree char *drm = g_strdup_printf("%s/drm", device);

        throttle->root = root;
        find_blocks_below(throttle, device, "tile", "");
        find_blocks_below(throttle, drm, "card", "/gt");
        if (throttle->n_blocks > 0)
                return throttle;
        ald_gpu_throttle_free(throttle);
        return NULL;
}

void ald_gpu_throttle_free(AldGpuThrottle *throttle)
{
        if (!throttle)
                return;
        for (unsigned i = 0; i < throttle->n_blocks; i++) {
                ald_kept_file_clear(&throttle->blocks[i].status);
                g_free(throttle->blocks[i].folder);
        }
        g_free(throttle);
}

static unsigned read_reasons(int root, const char *folder)
{
        g_auto(GStrv) names = NULL;
        unsigned ret = 0;

        if (ald_sysroot_list(root, folder, &names) < 0)
                return 0;
        for (char **name = names; *name; name++) {
                unsigned reason = ald_throttle_from_intel(*name);
                g_autofree char *path = NULL;
                int64_t on;

                if (reason == 0 || reason == (ret & reason))
                        continue;
                path = g_strdup_printf("%s/%s", folder, *name);
                if (ald_sysroot_read_int64(root, path, &on) >= 0 && on != 0)
                        ret |= reason;
        }
        return ret;
}

int ald_gpu_throttle_read(AldGpuThrottle *throttle)
{
        bool known = false;
        unsigned ret = 0;

        for (unsigned i = 0; i < throttle->n_blocks; i++) {
                Block *block = &throttle->blocks[i];
                int64_t held_down;

                if (ald_kept_file_read_int64(&block->status, &held_down) < 0)
                        continue;
                known = true;
                if (held_down != 0)
                        ret |= read_reasons(throttle->root, block->folder);
        }
        return known ? (int) ret : -ENODATA;
}
