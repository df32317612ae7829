/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * A digest that shows whether two machines hold the same records. It covers node, kind, key and fields of
 * each record, independent of stamps, times and the order of arrival. Deletions are left out, and so are
 * kinds that never travel, unless requested by name.
 */
typedef struct AldDigest {
        uint64_t count;
        uint64_t sum;
} AldDigest;

/* Computes the digest over one kind, or with -1 over all kinds that travel. */
AldDigest ald_digest_compute(AldStore *store, int kind);
