/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "probes/rdma/gid-rows.h"

AldRows ald_gid_rows_fill(AldGidRows *rows, const AldGids *gids)
{
        for (size_t i = 0; i < gids->n; i++) {
                const AldGid *gid = &gids->gids[i];

                (void) snprintf(rows->ids[i], sizeof rows->ids[i], "%02u", (unsigned) i % 100);
                rows->rows[i] = (AldRdmaGid){ .id = rows->ids[i],
                        .index = gid->index,
                        .type = ald_gid_type_to_string(gid->type),
                        .gid = inet_ntop(AF_INET6, &gid->bytes, rows->texts[i], sizeof rows->texts[i]) };
        }
        return (AldRows){ .type = &ald_rdma_gid_struct, .items = rows->rows, .n = gids->n };
}

int ald_gid_rows_read(const AldRows *rows, AldGids *ret)
{
        AldGids gids = {};

        if (rows->n > ALD_GIDS_MAX)
                return -E2BIG;
        for (size_t i = 0; i < rows->n; i++) {
                const AldRdmaGid *row = ald_rows_at(rows, i);
                AldGid gid = { .index = (unsigned) row->index };
                int type = ald_gid_type_from_string(row->type);

                if (inet_pton(AF_INET6, row->gid, &gid.bytes) != 1)
                        return -EINVAL;
                if (type < 0)
                        continue;
                gid.type = (AldGidType) type;
                gids.gids[gids.n++] = gid;
        }
        *ret = gids;
        return 0;
}
