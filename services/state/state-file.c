/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "services/common/state-directory.h"
#include "services/state/state-file.h"
#include "state/saved.h"

struct AldStateFile {
        char *path;
        bool failing;
};

AldStateFile *ald_state_file_new(void)
{
        AldStateFile *file = g_new0(AldStateFile, 1);

        file->path = g_build_filename(ald_state_directory("/var/lib/alidade/state"), "state.json", NULL);
        ald_state_remove_leftovers(file->path);
        return file;
}

void ald_state_file_free(AldStateFile *file)
{
        g_free(file->path);
        g_free(file);
}

static void set_aside(const char *path, const char *reason)
{
        g_autofree char *aside = g_strconcat(path, ".damaged", NULL);

        g_warning("%s is damaged (%s); it is set aside as %s and nothing of it is used", path, reason, aside);
        if (g_rename(path, aside) < 0)
                g_warning("Cannot rename %s: %m", path);
}

static AldSaved *read_saved(const char *path, const AldId *local)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL, *reason = NULL;
        AldSaved *saved = NULL;
        gsize n;

        /* A FIFO would keep the service waiting, and a directory could never be replaced. */
        if (g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
                set_aside(path, "not a regular file");
                return NULL;
        }
        if (!g_file_get_contents(path, &text, &n, &error)) {
                /* A new one will be written, but not over what may be worth something yet. */
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        set_aside(path, error->message);
                return NULL;
        }
        if (ald_saved_parse(text, n, local, &saved, &reason) < 0)
                set_aside(path, reason ? reason : "no reason");
        return saved;
}

/* Greater than any before, even where the clock has gone back, and below 2^53. */
static uint64_t next_epoch(const AldSaved *saved)
{
        uint64_t now = (uint64_t) MAX(g_get_real_time(), 1);

        return MIN(MAX(saved ? saved->epoch + 1 : 0, now), ALD_EPOCH_MAX);
}

AldStore *ald_state_file_load(
        AldStateFile *file, const AldId *local, const AldStoreLimits *limits, uint64_t now)
{
        g_autoptr(AldSaved) saved = read_saved(file->path, local);
        AldStore *store = ald_store_new(local, next_epoch(saved), limits);

        if (saved)
                ald_saved_restore(saved, store, now);
        ald_state_file_save(file, store);
        return store;
}

void ald_state_file_save(AldStateFile *file, AldStore *store)
{
        g_autofree char *text = ald_saved_format(store);
        g_autoptr(GError) error = NULL;
        bool ok = g_file_set_contents_full(file->path, text, -1,
                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600, &error);

        if (!ok && !file->failing)
                g_warning("Results will not outlive a restart: %s", error->message);
        if (ok && file->failing)
                g_message("%s can be written again", file->path);
        file->failing = !ok;
}
