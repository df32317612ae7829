/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "common/excerpt.h"
#include "services/common/state-directory.h"
#include "services/state/state-file.h"
#include "state/store/clock.h"
#include "state/store/saved.h"

struct AldStateFile {
        char *path;
        bool saving;   /* the directory is ours */
        char *damaged; /* why the file that was read is to be set aside; NULL: it is not */
        bool kept;     /* one that could be neither used nor set aside */
        bool failing;
};

AldStateFile *ald_state_file_new(void)
{
        AldStateFile *file = g_new0(AldStateFile, 1);

        file->path = g_build_filename(ald_state_directory("/var/lib/alidade/state"), "state.json", NULL);
        return file;
}

void ald_state_file_free(AldStateFile *file)
{
        g_free(file->path);
        g_free(file->damaged);
        g_free(file);
}

/* A file that cannot be set aside may still be valuable, so it is not overwritten. */
static void set_aside(AldStateFile *file, const char *reason)
{
        g_autofree char *aside = g_strconcat(file->path, ".damaged", NULL), *why = ald_excerpt_ends(reason);

        if (g_rename(file->path, aside) == 0) {
                g_warning("%s is damaged (%s); ignoring it and renaming it to %s", file->path, why, aside);
                return;
        }
        g_warning("%s is damaged (%s) and cannot be renamed to %s: %s. It is ignored but not overwritten: "
                  "results are not saved until it is moved away",
                file->path, why, aside, g_strerror(errno));
        file->kept = true;
}

static void keep_unread(AldStateFile *file, const char *reason)
{
        g_warning(
                "Failed to read the saved results: %s. %s is not overwritten: results are not saved until a "
                "restarted service can read it, or it is moved away",
                reason, file->path);
        file->kept = true;
}

static AldSaved *read_saved(AldStateFile *file, const AldId *local)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL, *reason = NULL;
        AldSaved *saved = NULL;
        gsize n;

        /* A FIFO would keep the service waiting, and a directory could never be replaced. */
        if (g_file_test(file->path, G_FILE_TEST_EXISTS) && !g_file_test(file->path, G_FILE_TEST_IS_REGULAR)) {
                file->damaged = g_strdup("not a regular file");
                return NULL;
        }
        if (!g_file_get_contents(file->path, &text, &n, &error)) {
                if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                        keep_unread(file, error->message);
                return NULL;
        }
        if (ald_saved_parse(text, n, local, &saved, &reason) < 0)
                file->damaged = g_strdup(reason ? reason : "no reason");
        return saved;
}

/* Greater than any before, even if the clock has gone back, and below 2^53. An epoch that is implausibly far
 * ahead was created while the clock was wrong and would be refused; unless the clock is wrong now. */
static uint64_t next_epoch(const AldSaved *saved)
{
        uint64_t now = (uint64_t) MAX(g_get_real_time(), 1);

        if (saved && ald_clock_is_set(now) && ald_clock_is_ahead(saved->epoch, now, 0))
                return now;
        return MIN(MAX(saved ? saved->epoch + 1 : 0, now), ALD_EPOCH_MAX);
}

AldStore *ald_state_file_load(
        AldStateFile *file, const AldId *local, const AldStoreLimits *limits, uint64_t now)
{
        g_autoptr(AldSaved) saved = read_saved(file, local);
        AldStore *store = ald_store_new(local, next_epoch(saved), limits);

        if (saved)
                ald_saved_restore(saved, store, now);
        return store;
}

/* Whether the file is there that is not to be overwritten. */
static bool is_kept(AldStateFile *file)
{
        file->kept = file->kept && (access(file->path, F_OK) == 0 || errno != ENOENT);
        return file->kept;
}

static void save(AldStateFile *file, AldStore *store)
{
        g_autofree char *text = ald_saved_format(store);
        g_autoptr(GError) error = NULL;
        bool ok = g_file_set_contents_full(file->path, text, -1,
                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600, &error);

        if (!ok && !file->failing)
                g_warning("Failed to save results: %s", error->message);
        if (ok && file->failing)
                g_message("%s is writable again", file->path);
        file->failing = !ok;
}

void ald_state_file_save(AldStateFile *file, AldStore *store)
{
        if (file->saving && !is_kept(file))
                save(file, store);
}

void ald_state_file_begin_saving(AldStateFile *file, AldStore *store)
{
        file->saving = true;
        ald_state_remove_leftovers(file->path);
        if (file->damaged)
                set_aside(file, file->damaged);
        g_clear_pointer(&file->damaged, g_free);
        ald_state_file_save(file, store);
}
