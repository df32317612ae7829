/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/time-share.h"

AldTimeShare ald_time_share_new(gint64 now)
{
        return (AldTimeShare){ ALD_TIME_SHARE_SAVED_USEC, now };
}

bool ald_time_share_has_any(AldTimeShare *share, gint64 now)
{
        gint64 earned = (now - share->at) / ALD_TIME_SHARE_PARTS;

        share->left = MIN(share->left + earned, ALD_TIME_SHARE_SAVED_USEC);
        /* A rest that is too small to be counted yet stays in the time. */
        share->at += earned * ALD_TIME_SHARE_PARTS;
        return share->left >= 0;
}

void ald_time_share_note_work(AldTimeShare *share, gint64 usec)
{
        share->left -= usec;
}

gint64 ald_time_share_next(const AldTimeShare *share)
{
        return share->at + MAX(0, -share->left) * ALD_TIME_SHARE_PARTS;
}
