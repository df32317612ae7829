/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/jobs-link.h"
#include "services/link-probe/results.h"
#include "services/link-probe/state-query-bus.h"

/* Probes that somebody wishes: the paths to the node are looked up, and a job made of them. */
typedef struct AldWishes AldWishes;

typedef struct AldWish {
        uid_t uid;
        AldProbeTarget target; /* with an empty address: all paths to the node; see rdma-wish.h for RDMA */
} AldWish;

/* The job, or an error: -ENOENT no such node; -ENXIO no such address of it, or no path to it; -ENODEV no
 * such RDMA ports, or none that are active; -ENOSPC too many jobs of the user, -EUSERS in all; that of
 * AldWishAllowed; another where the state service did not answer. */
typedef void (*AldWishAnswer)(int error, AldJob *job, void *userdata);

/* Whether anything may be measured now, 0 or an error that the wish then has: asked before the node is looked
 * up and once more after it. */
typedef int (*AldWishAllowed)(AldTransport transport, void *userdata);

typedef struct AldWishParts {
        const char *own_id;
        AldStateQuery *nodes;
        AldLinkJobs *jobs;
        const AldResults *results;
        AldWishAllowed allowed;
        void *userdata;
} AldWishParts;

AldWishes *ald_wishes_new(const AldWishParts *parts);
/* Whoever waits is told that nothing comes of it. The query goes first. */
void ald_wishes_free(AldWishes *wishes);

/* `own` is the Node1.Network of this machine, or NULL to have it looked up. Returns the same errors where
 * they are known at once, and -EINVAL for this machine itself; then nobody is told. */
int ald_wishes_add(
        AldWishes *wishes, const AldWish *wish, AldRecord *own, AldWishAnswer answered, void *userdata);

/* Fills in the targets (AldProbeTarget) over sockets by what both ends say of their interfaces, and by what
 * became of earlier attempts; -ENXIO where there are none. Either network may be NULL. */
int ald_wish_resolve(const AldWish *wish, const AldNetwork *own, const AldNetwork *peer,
        const AldResults *results, GArray *targets);
