/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

#define ALD_ADDRESS_STRING_SIZE 46

/* However many addresses a peer says it has, no more paths than this lead to it. */
#define ALD_CANDIDATES_MAX 16u

/* How many interfaces of the source a link-local address is looked for behind. */
#define ALD_SCOPES_MAX 8u

/* A path over sockets from one node to an address of another. Interfaces point into the records. */
typedef struct AldCandidate {
        char address[ALD_ADDRESS_STRING_SIZE]; /* RFC 5952, no prefix length, no zone */
        const AldInterface *interface;         /* of the source; NULL where a route decides */
        const AldInterface *sink_interface;
        bool link_local; /* means something on one interface of the source only */
        /* Of a link-local one: the interfaces behind which the address may be, the likeliest first, which is
         * also `interface`. */
        const AldInterface *scopes[ALD_SCOPES_MAX];
        unsigned n_scopes;
} AldCandidate;

/*
 * Which paths may lead from one node to another, by what both say of their interfaces, link-local
 * ones last.
 *
 * Interfaces count that lead out of the machine (state/network.h). A link-local address counts behind an
 * interface where LLDP says that this and the sink's are neighbours, and behind no other then; else where
 * both are Thunderbolt, or have another prefix in common. Where neither node has any other address, it counts
 * behind each interface that has such an address itself. Of the others those count whose prefix an interface
 * of the source has, and those of a family of which the source has any.
 */
GArray *ald_candidates_compute(const AldNetwork *source, const AldNetwork *sink);

/*
 * The interface to try: NULL where a route decides. Where a link-local address may be behind several, that
 * through which it was reached the last time, and after each failure the next one, so that all have their
 * turn. `row` is what is known of the path, or NULL.
 */
const AldInterface *ald_candidate_choose(const AldCandidate *candidate, const AldLinkSocket *row);

/*
 * Whether a path of another node to us goes over the same interfaces, in the same family, as one of ours to
 * it. Where an interface is not known it may be any; of several scopes any may be it.
 */
bool ald_candidate_mirrors(const AldCandidate *theirs, const AldCandidate *ours);
