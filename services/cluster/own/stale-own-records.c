/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/own/stale-own-records.h"
#include "services/common/timer.h"

struct AldStaleOwnRecords {
        AldUpdate newest; /* epoch 0: none waits; owns its key and a reference of its record */
        AldTimer *timer;
        AldStaleOwnRecordsHandle handle;
        void *userdata;
};

static void clear_newest(AldStaleOwnRecords *stale)
{
        g_free((char *) stale->newest.key);
        g_clear_pointer(&stale->newest.record, ald_record_unref);
        stale->newest = (AldUpdate){ 0 };
}

static void on_timer(void *userdata)
{
        AldStaleOwnRecords *stale = userdata;

        if (stale->handle(&stale->newest, stale->userdata))
                clear_newest(stale);
        else
                ald_timer_set(stale->timer, g_get_monotonic_time() + ALD_STALE_OWN_USEC);
}

AldStaleOwnRecords *ald_stale_own_records_new(AldStaleOwnRecordsHandle handle, void *userdata)
{
        AldStaleOwnRecords *stale = g_new0(AldStaleOwnRecords, 1);

        stale->timer = ald_timer_new("stale", on_timer, stale);
        stale->handle = handle;
        stale->userdata = userdata;
        return stale;
}

void ald_stale_own_records_free(AldStaleOwnRecords *stale)
{
        if (!stale)
                return;
        clear_newest(stale);
        ald_timer_free(stale->timer);
        g_free(stale);
}

void ald_stale_own_records_found(AldStaleOwnRecords *stale, const AldUpdate *update)
{
        if (update->stamp.epoch <= stale->newest.stamp.epoch)
                return;
        if (stale->newest.stamp.epoch == 0)
                ald_timer_set(stale->timer, g_get_monotonic_time() + ALD_STALE_OWN_USEC);
        clear_newest(stale);
        stale->newest = *update;
        stale->newest.key = g_strdup(update->key);
        if (update->record)
                ald_record_ref(update->record);
}
