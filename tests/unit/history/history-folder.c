/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/stat.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "tests/unit/history/history-folder.h"

void history_folder_make(HistoryFolder *folder)
{
        /* In memory if possible: what is synchronized waits for no disk. */
        folder->folder = g_strdup("/dev/shm/alidade-history-XXXXXX");
        if (!g_mkdtemp_full(folder->folder, 0755)) {
                g_free(folder->folder);
                folder->folder = g_dir_make_tmp("alidade-history-XXXXXX", NULL);
        }
        g_assert_nonnull(folder->folder);
        folder->path = g_build_filename(folder->folder, "history.sqlite", NULL);
}

void history_folder_empty(HistoryFolder *folder)
{
        GDir *dir = g_dir_open(folder->folder, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder->folder, name, NULL);

                g_unlink(path);
        }
        g_clear_pointer(&dir, g_dir_close);
}

void history_folder_remove(HistoryFolder *folder)
{
        history_folder_empty(folder);
        g_rmdir(folder->folder);
        g_free(folder->folder);
        g_free(folder->path);
}

uint64_t history_folder_bytes(const HistoryFolder *folder)
{
        g_autofree char *log = g_strconcat(folder->path, "-wal", NULL);
        struct stat file, of_log;

        return (stat(folder->path, &file) == 0 ? (uint64_t) file.st_size : 0) +
               (stat(log, &of_log) == 0 ? (uint64_t) of_log.st_size : 0);
}
