/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/planner/probed-kinds.h"

const AldProbedKind *const ald_probed_kinds[] = { &ald_probed_compute, &ald_probed_storage, &ald_probed_links,
        NULL };

const AldProbedKind *ald_probed_kind(AldKind kind)
{
        for (const AldProbedKind *const *probed = ald_probed_kinds; *probed; probed++)
                if ((*probed)->kinds[kind])
                        return *probed;
        return NULL;
}
