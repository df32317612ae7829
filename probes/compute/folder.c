/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "probes/compute/folder.h"

static FTS *walk(const char *folder)
{
        char *const roots[] = { (char *) folder, NULL };

        return fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
}

void ald_folder_empty(const char *folder, const char *spared)
{
        FTS *entries = walk(folder);

        for (FTSENT *entry; entries && (entry = fts_read(entries));) {
                if (entry->fts_level == 0 || entry->fts_info == FTS_D ||
                        (entry->fts_level == 1 && g_strcmp0(entry->fts_name, spared) == 0))
                        continue;
                if (entry->fts_info == FTS_DP)
                        (void) rmdir(entry->fts_accpath);
                else
                        (void) unlink(entry->fts_accpath);
        }
        if (entries)
                fts_close(entries);
}

void ald_folder_prune(const char *folder, uint64_t bytes_max, const char *spared)
{
        FTS *entries = walk(folder);
        uint64_t bytes = 0;

        for (FTSENT *entry; entries && (entry = fts_read(entries));) {
                if (entry->fts_info != FTS_F)
                        continue;
                bytes += (uint64_t) entry->fts_statp->st_size;
                if (entry->fts_statp->st_size == 0 && strncmp(entry->fts_name, "tempfile_", 9) == 0)
                        (void) unlink(entry->fts_accpath);
        }
        if (entries)
                fts_close(entries);
        if (bytes > bytes_max)
                ald_folder_empty(folder, spared);
}
