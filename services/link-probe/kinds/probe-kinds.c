/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/link-probe/kinds/probe-kinds.h"

const AldProbeKind *const ald_probe_kinds[] = { &ald_probe_socket, &ald_probe_rdma, &ald_probe_compute,
        &ald_probe_storage, NULL };
G_STATIC_ASSERT(G_N_ELEMENTS(ald_probe_kinds) - 1 <= ALD_PROBE_KINDS_MAX);

void ald_probe_kinds_need(bool ret[static ALD_N_KINDS])
{
        memset(ret, 0, ALD_N_KINDS * sizeof *ret);
        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                for (const AldKind *needed = (*kind)->needs; *needed < ALD_N_KINDS; needed++)
                        ret[*needed] = true;
}

const AldProbeKind *ald_probe_kind_of_name(const char *name)
{
        for (const AldProbeKind *const *kind = ald_probe_kinds; *kind; kind++)
                if (g_str_equal(ald_kinds[(*kind)->kind].name, name))
                        return *kind;
        return NULL;
}
