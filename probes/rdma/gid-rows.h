/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <netinet/in.h>

#include "probes/rdma/gid.h"
#include "record/record.h"

/* GIDs as rows of RdmaOffer. Pure. */

/* The rows, and the texts that they point to. */
typedef struct AldGidRows {
        AldRdmaGid rows[ALD_GIDS_MAX];
        char ids[ALD_GIDS_MAX][3];
        char texts[ALD_GIDS_MAX][INET6_ADDRSTRLEN];
} AldGidRows;

/* The returned list points into *rows. */
AldRows ald_gid_rows_fill(AldGidRows *rows, const AldGids *gids);

/* Skips GIDs of an unknown type, which a newer peer may have. -EINVAL if one is not an address, -E2BIG if
 * they are too many. */
int ald_gid_rows_read(const AldRows *rows, AldGids *ret);
