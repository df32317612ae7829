/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* Chooses the GIDs of two ports for a connection. Pure. */

#define ALD_GIDS_MAX 16u

typedef enum AldGidType {
        ALD_GID_IB,
        ALD_GID_ROCE_V1,
        ALD_GID_ROCE_V2,
        _ALD_GID_TYPE_MAX,
} AldGidType;

const char *ald_gid_type_to_string(AldGidType type);

/* Returns -1 for any other text. */
int ald_gid_type_from_string(const char *text);

typedef struct AldGid {
        unsigned index;
        AldGidType type;
        struct in6_addr bytes;
        unsigned interface; /* its number; 0 if none */
        unsigned prefix;    /* bits of the network; 0 if unknown */
} AldGid;

typedef struct AldGids {
        AldGid gids[ALD_GIDS_MAX];
        size_t n;
} AldGids;

/* An address of an interface; IPv4 is mapped to IPv6. */
typedef struct AldLocalAddress {
        unsigned interface;
        struct in6_addr bytes;
        unsigned prefix;
} AldLocalAddress;

/*
 * Adds a GID if it can be used, and returns whether it did. With RoCE it must be an address of its interface.
 * The kernel also derives a GID from the MAC, with which nothing arrives and no error is reported.
 */
bool ald_gids_add(AldGids *gids, const AldGid *gid, const AldLocalAddress *addresses, size_t n);

/* The addresses of a connection that works already; both may be NULL. */
typedef struct AldGidHint {
        const struct in6_addr *own, *peer;
} AldGidHint;

/*
 * Finds the two GIDs that fit each other best: RoCE v2 before v1, then the addresses of the hint, those of
 * one network, of one link, and others. Returns false if none fit.
 */
bool ald_gids_match(const AldGids *own, const AldGids *peer, const AldGidHint *hint, const AldGid **ret_own,
        const AldGid **ret_peer);

/* GIDs as rows of RdmaOffer, with the texts that these point to. */
typedef struct AldGidRows {
        AldRdmaGid rows[ALD_GIDS_MAX];
        char ids[ALD_GIDS_MAX][3];
        char texts[ALD_GIDS_MAX][INET6_ADDRSTRLEN];
} AldGidRows;

/* Fills in the rows. The returned list points into them. */
AldRows ald_gid_rows_fill(AldGidRows *rows, const AldGids *gids);

/* Reads GIDs, and skips those of an unknown type, which a newer peer may have. Returns -EINVAL if one is not
 * an address, -E2BIG if there are too many. */
int ald_gid_rows_read(const AldRows *rows, AldGids *ret);
