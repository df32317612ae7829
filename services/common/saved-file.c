/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "common/excerpt.h"
#include "services/common/saved-file.h"
#include "services/common/state-directory.h"

struct AldSavedFile {
        char *path, *what;
        bool ours;     /* the directory belongs to this process */
        char *damaged; /* why the file that was read must be set aside; NULL: it need not be */
        bool kept;     /* the file could be neither used nor set aside */
        bool failing;
};

AldSavedFile *ald_saved_file_new(const char *directory, const char *name, const char *what)
{
        AldSavedFile *file = g_new0(AldSavedFile, 1);

        file->path = g_build_filename(directory, name, NULL);
        file->what = g_strdup(what);
        return file;
}

void ald_saved_file_free(AldSavedFile *file)
{
        if (!file)
                return;
        g_free(file->path);
        g_free(file->what);
        g_free(file->damaged);
        g_free(file);
}

/* Renames a damaged file. If that fails, it may still be valuable, so it is not overwritten. */
static void set_aside(AldSavedFile *file, const char *reason)
{
        g_autofree char *aside = g_strconcat(file->path, ".damaged", NULL), *why = ald_excerpt_ends(reason);

        if (g_rename(file->path, aside) == 0) {
                g_warning("%s is damaged (%s); ignoring it and renaming it to %s", file->path, why, aside);
                return;
        }
        g_warning("%s is damaged (%s) and cannot be renamed to %s: %s. It is ignored but not overwritten: "
                  "%s are not saved until it is moved away",
                file->path, why, aside, g_strerror(errno), file->what);
        file->kept = true;
}

static void keep_unread(AldSavedFile *file, const char *reason)
{
        g_warning("Failed to read the saved %s: %s. %s is not overwritten: %s are not saved until a "
                  "restarted service can read it, or it is moved away",
                file->what, reason, file->path, file->what);
        file->kept = true;
}

char *ald_saved_file_read(AldSavedFile *file, gsize *ret_n)
{
        g_autoptr(GError) error = NULL;
        char *text = NULL;

        /* A FIFO would keep the service waiting, and a directory could never be replaced. */
        if (g_file_test(file->path, G_FILE_TEST_EXISTS) && !g_file_test(file->path, G_FILE_TEST_IS_REGULAR)) {
                ald_saved_file_refuse(file, "not a regular file");
                return NULL;
        }
        if (!g_file_get_contents(file->path, &text, ret_n, &error) &&
                !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                keep_unread(file, error->message);
        return text;
}

void ald_saved_file_refuse(AldSavedFile *file, const char *reason)
{
        g_free(file->damaged);
        file->damaged = g_strdup(reason);
}

void ald_saved_file_begin(AldSavedFile *file)
{
        file->ours = true;
        ald_state_remove_leftovers(file->path);
        if (file->damaged)
                set_aside(file, file->damaged);
        g_clear_pointer(&file->damaged, g_free);
}

bool ald_saved_file_write(AldSavedFile *file, const char *text)
{
        g_autoptr(GError) error = NULL;
        bool ok;

        if (!file->ours)
                return false;
        /* The file that must not be overwritten may have been moved away. */
        file->kept = file->kept && (access(file->path, F_OK) == 0 || errno != ENOENT);
        if (file->kept)
                return false;
        ok = g_file_set_contents_full(file->path, text, -1,
                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600, &error);
        if (!ok && !file->failing)
                g_warning("Failed to save %s: %s", file->what, error->message);
        if (ok && file->failing)
                g_message("%s is writable again", file->path);
        file->failing = !ok;
        return ok;
}
