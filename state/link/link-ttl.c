/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "record/field.h"
#include "state/link/link-ttl.h"

uint64_t ald_kind_ttl(AldKind kind)
{
        return ald_kinds[kind].ttl_usec;
}

/* Returns a number from 0 to 1 that depends only on the arguments. */
static double fraction_of(uint64_t seed, uint64_t time)
{
        uint64_t hash = ald_hash_mix(seed ^ time * UINT64_C(0x9e3779b97f4a7c15));

        return (double) (hash >> 11) * 0x1p-53;
}

static double shift_factor(uint64_t seed, uint64_t measured)
{
        return 0.8 + 0.4 * fraction_of(seed, measured);
}

uint64_t ald_link_ttl_next(uint64_t before, uint64_t least, bool changed, bool doubtful)
{
        uint64_t most = doubtful ? ALD_LINK_TTL_DOUBTFUL_USEC : ALD_LINK_TTL_MAX_USEC;

        return CLAMP(changed ? before : 2 * before, least, MAX(least, most));
}

uint64_t ald_link_ttl_shift(uint64_t interval, uint64_t seed, uint64_t measured)
{
        return (uint64_t) llround((double) interval * shift_factor(seed, measured));
}

uint64_t ald_link_ttl_interval(uint64_t shown, uint64_t seed, uint64_t measured)
{
        return (uint64_t) llround((double) shown / shift_factor(seed, measured));
}

uint64_t ald_link_ttl_bound(
        uint64_t shown, uint64_t fallback, uint64_t seed, uint64_t measured, const AldTtlBounds *bounds)
{
        uint64_t interval = shown == ALD_ABSENT_UINT64 ? fallback
                                                       : ald_link_ttl_interval(shown, seed, measured);

        if (shown != ALD_ABSENT_UINT64 && interval >= bounds->least && interval <= bounds->most)
                return shown;
        return ald_link_ttl_shift(CLAMP(interval, bounds->least, bounds->most), seed, measured);
}

uint64_t ald_link_check_due(uint64_t checked, uint64_t seed)
{
        double early = (double) ALD_LINK_CHECK_USEC / 5 * fraction_of(seed, checked);

        return checked + ALD_LINK_CHECK_USEC - (uint64_t) early;
}
