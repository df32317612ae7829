/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/ticker.h"
#include "services/common/timer.h"

typedef struct Entry {
        uint64_t interval_usec;
        uint64_t next_usec;
        AldTick tick;
        void *userdata;
} Entry;

struct AldTicker {
        AldTimer *timer;
        GArray *entries; /* of Entry */
};

uint64_t ald_ticker_next(uint64_t now_usec, uint64_t interval_usec)
{
        uint64_t next = now_usec - now_usec % interval_usec + interval_usec;

        return next - now_usec < interval_usec / 4 ? next + interval_usec : next;
}

static uint64_t monotonic_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static Entry *entry_at(const AldTicker *ticker, unsigned number)
{
        g_assert(number < ticker->entries->len);
        return &g_array_index(ticker->entries, Entry, number);
}

static void schedule_timer(AldTicker *ticker)
{
        uint64_t first = UINT64_MAX;

        for (guint i = 0; i < ticker->entries->len; i++)
                first = MIN(first, entry_at(ticker, i)->next_usec);
        ald_timer_set(ticker->timer, (gint64) MIN(first, (uint64_t) ALD_TIMER_NEVER));
}

static void on_ready(void *userdata)
{
        AldTicker *ticker = userdata;
        uint64_t now = monotonic_usec();

        for (guint i = 0; i < ticker->entries->len; i++) {
                Entry *entry = entry_at(ticker, i);

                if (entry->next_usec > now)
                        continue;
                entry->next_usec = ald_ticker_next(now, entry->interval_usec);
                entry->tick(entry->userdata);
        }
        schedule_timer(ticker);
}

AldTicker *ald_ticker_new(void)
{
        AldTicker *ticker = g_new(AldTicker, 1);

        *ticker = (AldTicker){
                .timer = ald_timer_new("ticker", on_ready, ticker),
                .entries = g_array_new(FALSE, FALSE, sizeof(Entry)),
        };
        return ticker;
}

void ald_ticker_free(AldTicker *ticker)
{
        ald_timer_free(ticker->timer);
        g_array_unref(ticker->entries);
        g_free(ticker);
}

unsigned ald_ticker_add(AldTicker *ticker, uint64_t interval_usec, AldTick tick, void *userdata)
{
        Entry entry = {
                .interval_usec = interval_usec,
                .next_usec = ald_ticker_next(monotonic_usec(), interval_usec),
                .tick = tick,
                .userdata = userdata,
        };

        g_array_append_val(ticker->entries, entry);
        schedule_timer(ticker);
        return ticker->entries->len - 1;
}

void ald_ticker_hasten(AldTicker *ticker, unsigned number, uint64_t delay_usec)
{
        entry_at(ticker, number)->next_usec = monotonic_usec() + delay_usec;
        schedule_timer(ticker);
}

uint64_t ald_ticker_interval(const AldTicker *ticker, unsigned number)
{
        return entry_at(ticker, number)->interval_usec;
}

void ald_ticker_set_interval(AldTicker *ticker, unsigned number, uint64_t interval_usec)
{
        Entry *entry = entry_at(ticker, number);

        entry->interval_usec = interval_usec;
        entry->next_usec = ald_ticker_next(monotonic_usec(), interval_usec);
        schedule_timer(ticker);
}
