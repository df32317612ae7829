/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include <glib.h>

#include "state/link/link-quality.h"

#define ASYMMETRIC 2.0

bool ald_link_has_flag(const char *const *flags, const char *flag)
{
        for (; flags && *flags; flags++)
                if (strcmp(*flags, flag) == 0)
                        return true;
        return false;
}

bool ald_link_rate_is_disturbed(uint64_t rate, double interval, uint64_t other)
{
        double percent = isnan(interval) ? ALD_LINK_DISTURBED_PERCENT_LEAST : interval;

        if (rate == ALD_ABSENT_UINT64 || other == ALD_ABSENT_UINT64)
                return false;
        percent = CLAMP(percent, ALD_LINK_DISTURBED_PERCENT_LEAST, ALD_LINK_DISTURBED_PERCENT_MOST);
        return (double) other > (double) rate * percent / 100;
}

bool ald_link_has_rate(const AldLinkDirection directions[static 2])
{
        return directions[0].bits_per_second != ALD_ABSENT_UINT64 ||
               directions[1].bits_per_second != ALD_ABSENT_UINT64;
}

uint64_t ald_link_disturbance(const AldLinkSocket *link)
{
        bool whole = ald_link_has_rate(link->directions);
        uint64_t greatest = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(link->directions); i++) {
                const AldLinkDirection *direction = &link->directions[i];
                uint64_t rate = whole ? direction->bits_per_second : direction->spot_bits_per_second;

                if (ald_link_rate_is_disturbed(rate, direction->interval, direction->other_bits_per_second))
                        greatest = MAX(greatest, direction->other_bits_per_second);
        }
        return greatest > 0 ? greatest : ALD_ABSENT_UINT64;
}

bool ald_link_percent_is_unsteady(double interval, double spread)
{
        return interval > ALD_LINK_UNSTEADY_PERCENT || spread > ALD_LINK_UNSTEADY_SPREAD_PERCENT;
}

bool ald_link_is_unsteady(const AldLinkDirection *direction)
{
        return direction->bits_per_second != ALD_ABSENT_UINT64 &&
               ald_link_percent_is_unsteady(direction->interval, direction->spread);
}

bool ald_link_rate_is_suspect(uint64_t rate, uint64_t spot)
{
        return rate != ALD_ABSENT_UINT64 && spot != ALD_ABSENT_UINT64 && rate < spot / ALD_LINK_SUSPECT_SHARE;
}

bool ald_link_is_doubtful(const AldLinkSocket *link)
{
        return ald_link_has_flag(link->flags, ALD_LINK_UNSTEADY) ||
               ald_link_has_flag(link->flags, ALD_LINK_SUSPECT) || ald_link_is_unsteady(&link->upload) ||
               ald_link_is_unsteady(&link->download);
}

uint64_t ald_link_estimate(uint64_t rate, uint64_t spot, uint64_t last_spot)
{
        double estimate;

        if (rate == ALD_ABSENT_UINT64 || spot == ALD_ABSENT_UINT64 || spot == 0 ||
                last_spot == ALD_ABSENT_UINT64)
                return ALD_ABSENT_UINT64;
        estimate = (double) rate * ((double) last_spot / (double) spot);
        return estimate <= (double) ALD_INTEGER_MAX ? (uint64_t) estimate : ALD_ABSENT_UINT64;
}

static double interval_bound(uint64_t rate, double interval, int sign)
{
        return (double) rate * (isnan(interval) ? 1 : 1 + sign * interval / 100);
}

double ald_link_rate_least(uint64_t rate, double interval)
{
        return MAX(interval_bound(rate, interval, -1), 0);
}

double ald_link_rate_most(uint64_t rate, double interval)
{
        return interval_bound(rate, interval, 1);
}

static bool is_more_than_twice(uint64_t rate, double interval, uint64_t other, double other_interval)
{
        return ald_link_rate_least(rate, interval) > ASYMMETRIC * ald_link_rate_most(other, other_interval);
}

bool ald_link_rates_are_asymmetric(uint64_t rate, double interval, uint64_t other, double other_interval)
{
        return rate != ALD_ABSENT_UINT64 && other != ALD_ABSENT_UINT64 &&
               (is_more_than_twice(rate, interval, other, other_interval) ||
                       is_more_than_twice(other, other_interval, rate, interval));
}
