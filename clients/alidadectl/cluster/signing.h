/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/cluster/authority.h"
#include "clients/alidadectl/cluster/cluster.h"
#include "clients/alidadectl/cluster/exchange.h"

/* A request, read, and what comes of it. */
typedef struct AldSigning {
        AldHome *home;
        AldAuthority *authority;
        const AldRequest *request;
        GPtrArray *replaced;     /* serials of those of other keys, and of brokers that had the address */
        const AldIssued *node;   /* NULL until signed */
        const AldIssued *broker; /* the same */
        bool kept;               /* both were signed before */
} AldSigning;

/* Whether this request may be granted, and what is to be revoked for it. Complains, returns an exit code. */
int ald_signing_check(const AldClusterOrder *order, AldSigning *signing);
