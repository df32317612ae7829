/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/state-file.h"
#include "services/common/saved-file.h"
#include "services/common/state-directory.h"
#include "state/store/clock.h"
#include "state/store/saved.h"

struct AldStateFile {
        AldSavedFile *file;
        bool saving; /* this process owns the directory */
};

AldStateFile *ald_state_file_new(void)
{
        AldStateFile *file = g_new0(AldStateFile, 1);

        file->file = ald_saved_file_new(
                ald_state_directory("/var/lib/alidade/state"), "state.json", "results");
        return file;
}

void ald_state_file_free(AldStateFile *file)
{
        ald_saved_file_free(file->file);
        g_free(file);
}

static AldSaved *read_saved(AldStateFile *file, const AldId *local)
{
        g_autofree char *text = NULL, *reason = NULL;
        AldSaved *saved = NULL;
        gsize n;

        text = ald_saved_file_read(file->file, &n);
        if (text && ald_saved_parse(text, n, local, &saved, &reason) < 0)
                ald_saved_file_refuse(file->file, reason ? reason : "no reason");
        return saved;
}

/* Returns an epoch that is greater than any before, even if the clock was set back, and below 2^53. A saved
 * epoch that is implausibly far ahead was created while the clock was wrong, and would be refused, so it is
 * not exceeded unless the clock is wrong now. */
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

void ald_state_file_save(AldStateFile *file, AldStore *store)
{
        g_autofree char *text = NULL;

        if (!file->saving)
                return;
        text = ald_saved_format(store);
        ald_saved_file_write(file->file, text);
}

void ald_state_file_begin_saving(AldStateFile *file, AldStore *store)
{
        file->saving = true;
        ald_saved_file_begin(file->file);
        ald_state_file_save(file, store);
}
