/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/past.h"
#include "services/common/timer.h"

struct AldPast {
        AldUpdate newest; /* epoch 0: none waits; the key and a reference of the record are its own */
        AldTimer *timer;
        AldPastMeet meet;
        void *userdata;
};

static void clear(AldPast *past)
{
        g_free((char *) past->newest.key);
        g_clear_pointer(&past->newest.record, ald_record_unref);
        past->newest = (AldUpdate){ 0 };
}

static void on_timer(void *userdata)
{
        AldPast *past = userdata;

        if (past->meet(&past->newest, past->userdata))
                clear(past);
        else
                ald_timer_set(past->timer, g_get_monotonic_time() + ALD_PAST_USEC);
}

AldPast *ald_past_new(AldPastMeet meet, void *userdata)
{
        AldPast *past = g_new0(AldPast, 1);

        past->timer = ald_timer_new("past", on_timer, past);
        past->meet = meet;
        past->userdata = userdata;
        return past;
}

void ald_past_free(AldPast *past)
{
        if (!past)
                return;
        clear(past);
        ald_timer_free(past->timer);
        g_free(past);
}

void ald_past_found(AldPast *past, const AldUpdate *update)
{
        if (update->stamp.epoch <= past->newest.stamp.epoch)
                return;
        if (past->newest.stamp.epoch == 0)
                ald_timer_set(past->timer, g_get_monotonic_time() + ALD_PAST_USEC);
        clear(past);
        past->newest = *update;
        past->newest.key = g_strdup(update->key);
        if (update->record)
                ald_record_ref(update->record);
}
