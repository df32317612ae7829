/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/burst.h"

gint64 ald_burst_note(AldBurst *burst, gint64 now)
{
        if (burst->first == 0)
                burst->first = now;
        return MIN(now + burst->pause, burst->first + ALD_BURST_USEC);
}

void ald_burst_end(AldBurst *burst)
{
        burst->first = 0;
}
