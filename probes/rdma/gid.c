/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/rdma/gid.h"

enum { LINK_LOCAL = 1, IPV4, GLOBAL };

const char *ald_gid_type_to_string(AldGidType type)
{
        static const char *const names[_ALD_GID_TYPE_MAX] = { "ib", "rocev1", "rocev2" };

        return names[type];
}

int ald_gid_type_from_string(const char *text)
{
        for (int i = 0; i < _ALD_GID_TYPE_MAX; i++)
                if (strcmp(ald_gid_type_to_string((AldGidType) i), text) == 0)
                        return i;
        return -1;
}

static bool is_same_address(const struct in6_addr *a, const struct in6_addr *b)
{
        return memcmp(a, b, sizeof *a) == 0;
}

bool ald_gids_add(AldGids *gids, const AldGid *gid, const AldLocalAddress *addresses, size_t n)
{
        AldGid *next = &gids->gids[gids->n];
        bool found = gid->type == ALD_GID_IB;

        if (gids->n == ALD_GIDS_MAX || IN6_IS_ADDR_UNSPECIFIED(&gid->bytes))
                return false;
        *next = *gid;
        for (size_t i = 0; i < n && !found; i++) {
                found = addresses[i].interface == gid->interface &&
                        is_same_address(&addresses[i].bytes, &gid->bytes);
                next->prefix = addresses[i].prefix;
        }
        gids->n += found;
        return found;
}

static unsigned family_of(const struct in6_addr *bytes)
{
        if (IN6_IS_ADDR_V4MAPPED(bytes))
                return IPV4;
        return IN6_IS_ADDR_LINKLOCAL(bytes) ? LINK_LOCAL : GLOBAL;
}

static bool is_same_network(const struct in6_addr *a, const struct in6_addr *b, unsigned prefix)
{
        unsigned whole = prefix / 8, rest = prefix % 8;
        uint8_t mask = (uint8_t) (0xff00u >> rest);

        if (prefix == 0 || prefix > 128 || memcmp(a, b, whole) != 0)
                return false;
        return rest == 0 || ((a->s6_addr[whole] ^ b->s6_addr[whole]) & mask) == 0;
}

/* Returns the rank of a pair of GIDs, the higher the better; 0 if they cannot reach each other. */
static unsigned rank_pair(const AldGid *own, const AldGid *peer, const AldGidHint *hint)
{
        unsigned rank = own->type == ALD_GID_ROCE_V1 ? 1 : 10;

        if (own->type != peer->type)
                return 0;
        if (own->type == ALD_GID_IB)
                return rank;
        if (family_of(&own->bytes) != family_of(&peer->bytes))
                return 0;
        if (hint->own && hint->peer && is_same_address(hint->own, &own->bytes) &&
                is_same_address(hint->peer, &peer->bytes))
                return rank + 3;
        if (family_of(&own->bytes) == LINK_LOCAL)
                return rank + 1;
        return rank + (is_same_network(&own->bytes, &peer->bytes, own->prefix) ? 2 : 0);
}

bool ald_gids_match(const AldGids *own, const AldGids *peer, const AldGidHint *hint, const AldGid **ret_own,
        const AldGid **ret_peer)
{
        unsigned best = 0;

        for (size_t i = 0; i < own->n; i++)
                for (size_t j = 0; j < peer->n; j++) {
                        unsigned now = rank_pair(&own->gids[i], &peer->gids[j], hint);

                        if (now <= best)
                                continue;
                        best = now;
                        *ret_own = &own->gids[i];
                        *ret_peer = &peer->gids[j];
                }
        return best > 0;
}

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
