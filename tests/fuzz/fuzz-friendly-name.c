/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#include "services/identity/name-store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static GLogWriterOutput drop_log(GLogLevelFlags flags, const GLogField *fields, gsize n, gpointer userdata)
{
        return G_LOG_WRITER_HANDLED;
}

static char *directory;

static void remove_directory(void)
{
        rmdir(directory);
}

static void set_up(void)
{
        directory = g_dir_make_tmp("alidade-fuzz-XXXXXX", NULL);
        g_assert_nonnull(directory);
        atexit(remove_directory);
        g_log_set_writer_func(drop_log, NULL, NULL);
}

/* The file of the state directory, as a crash or a stray hand may have left it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (!directory)
                set_up();

        g_autofree char *path = g_build_filename(directory, "friendly-name", NULL);
        g_autofree char *damaged = g_strconcat(path, ".damaged", NULL);
        g_assert_true(g_file_set_contents(path, (const char *) data, (gssize) size, NULL));
        g_autofree char *name = ald_name_store_load(directory);
        g_assert_true(!name || (*name && !ald_name_refuse(name)));
        g_assert_true(unlink(name ? path : damaged) == 0);
        return 0;
}
