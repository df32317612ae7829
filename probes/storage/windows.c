/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/probe-clock.h"
#include "probes/common/series.h"
#include "probes/storage/read.h"

struct AldStorageWindows {
        uint64_t start_bytes; /* from here on bytes count */
        bool started;
        uint64_t first_bytes, first;   /* bytes and time at the start */
        uint64_t last_bytes, last;     /* bytes and time so far */
        uint64_t window_bytes, window; /* bytes and time where the window began */
        AldSeries series;
};

AldStorageWindows *ald_storage_windows_new(uint64_t total)
{
        AldStorageWindows *windows = g_new0(AldStorageWindows, 1);

        windows->start_bytes = total / ALD_STORAGE_START_PART;
        return windows;
}

void ald_storage_windows_free(AldStorageWindows *windows)
{
        g_free(windows);
}

static double rate(uint64_t bytes, uint64_t nsec)
{
        return (double) bytes * (double) ALD_NSEC_PER_SEC / (double) nsec;
}

bool ald_storage_windows_add(AldStorageWindows *windows, uint64_t bytes, uint64_t now)
{
        if (!windows->started && bytes < windows->start_bytes)
                return false;
        windows->last_bytes = bytes;
        windows->last = now;
        if (!windows->started) {
                windows->started = true;
                windows->first_bytes = windows->window_bytes = bytes;
                windows->first = windows->window = now;
                return false;
        }
        if (bytes - windows->window_bytes < ALD_STORAGE_WINDOW || now <= windows->window)
                return false;
        (void) ald_series_add(&windows->series, rate(bytes - windows->window_bytes, now - windows->window));
        windows->window_bytes = bytes;
        windows->window = now;
        return true;
}

bool ald_storage_windows_figures(const AldStorageWindows *windows, AldStorageMeasure *ret)
{
        AldSeriesFigures figures;

        if (!windows->started || windows->last_bytes == windows->first_bytes ||
                windows->last <= windows->first)
                return false;
        ret->bytes = windows->last_bytes - windows->first_bytes;
        ret->rate = rate(ret->bytes, windows->last - windows->first);
        ret->median = ret->interval = ret->spread = NAN;
        if (windows->series.n < ALD_STORAGE_WINDOWS_MIN || !ald_series_figures(&windows->series, &figures))
                return true;
        ret->median = figures.median;
        ret->interval = figures.interval;
        ret->spread = figures.interval / ald_student_factor(windows->series.n) *
                      sqrt((double) windows->series.n);
        return true;
}
