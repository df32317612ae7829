/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "state/schema.h"

#define ALD_ADDRESS_STRING_SIZE 46

/* However many addresses a peer says it has, no more paths than this lead to it. */
#define ALD_CANDIDATES_MAX 16u

/* A path over sockets from one node to an address of another. Interfaces point into the records. */
typedef struct AldCandidate {
        char address[ALD_ADDRESS_STRING_SIZE]; /* RFC 5952, no prefix length, no zone */
        const AldInterface *interface;         /* of the source; NULL where a route decides */
        const AldInterface *sink_interface;
        bool link_local; /* means something on the source's interface only, which is then known */
} AldCandidate;

/*
 * Which paths may lead from one node to another, by what both say of their interfaces, link-local
 * ones last.
 *
 * Interfaces count that lead out of the machine (state/network.h). A link-local address counts where both
 * interfaces are on one link: where they have another prefix in common or are both Thunderbolt. Where neither
 * node has any other address, that is tried where the source has one on one interface alone. Of the others
 * those count whose prefix an interface of the source has, and those of a family of which the source has any.
 */
GArray *ald_candidates_compute(const AldNetwork *source, const AldNetwork *sink);

/*
 * Whether a path of another node to us goes over the same interfaces, in the same family, as one of ours to
 * it. Where an interface is not known it may be any.
 */
bool ald_candidate_mirrors(const AldCandidate *theirs, const AldCandidate *ours);
