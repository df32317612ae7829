/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

#define ALD_ADDRESS_STRING_SIZE 46

/* The maximum number of paths to a peer, however many addresses it reports. */
#define ALD_CANDIDATES_MAX 16u

/* The maximum number of interfaces of the source through which a link-local address is tried. */
#define ALD_SCOPES_MAX 8u

/* A path over sockets from one node to an address of another. Interfaces point into the records. */
typedef struct AldCandidate {
        char address[ALD_ADDRESS_STRING_SIZE]; /* RFC 5952, no prefix length, no zone */
        const AldInterface *interface;         /* of the source; NULL if the route decides */
        const AldInterface *sink_interface;
        bool link_local; /* valid on one interface of the source only */
        bool on_link;    /* link-local, or an interface of the source has its prefix */
        /* The interfaces through which a link-local address may be reached, the most likely first, which is
         * also `interface`. */
        const AldInterface *scopes[ALD_SCOPES_MAX];
        unsigned n_scopes;
} AldCandidate;

/*
 * Returns the paths that may lead from one node to another, according to the interfaces that both report,
 * link-local ones last.
 *
 * Only interfaces that lead out of the machine are used (state/link/interface-roles.h). A link-local address
 * is tried through the interface that LLDP reports as a neighbour of the sink's interface; without LLDP,
 * through interfaces if both are Thunderbolt or have another prefix in common. If neither node has any other
 * address, it is tried through each interface that has a link-local address itself. Other addresses are used
 * if an interface of the source has their prefix, or if the source has any address of their family.
 */
GArray *ald_candidates_compute(const AldNetwork *source, const AldNetwork *sink);

/*
 * Returns the interface to try, or NULL if the route decides. If a link-local address may be reached through
 * several, it is the one through which it was reached last, and after each failure the next one. `row` is the
 * record of the path, or NULL.
 */
const AldInterface *ald_candidate_choose(const AldCandidate *candidate, const AldLinkSocket *row);

/*
 * Returns whether a path of another node to us goes over the same interfaces, in the same family, as one of
 * ours to it. An unknown interface matches any; of several scopes, each may match.
 */
bool ald_candidate_mirrors(const AldCandidate *theirs, const AldCandidate *ours);
