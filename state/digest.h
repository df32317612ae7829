/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * A sum over what is there, by which two machines see whether they know the same: node, kind, key and fields
 * of each record, whatever its stamp and time and in whatever order it came. Deletions and kinds that never
 * travel are left out, these unless they are asked for by name.
 */
typedef struct AldDigest {
        uint64_t count;
        uint64_t sum;
} AldDigest;

/* Of one kind, or with -1 of all that travel. */
AldDigest ald_digest_compute(AldStore *store, int kind);
