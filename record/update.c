/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/update.h"

int ald_stamp_compare(const AldStamp *a, const AldStamp *b)
{
        if (a->epoch != b->epoch)
                return a->epoch < b->epoch ? -1 : 1;
        return a->seq < b->seq ? -1 : a->seq > b->seq;
}
