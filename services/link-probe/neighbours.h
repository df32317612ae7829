/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "record/schema.h"

/* Which ports are neighbours of which, as GetFabric() of org.alidade.State1 tells: a port is in one segment
 * of its kind at the most, and in one candidate. */
typedef struct AldNeighbours AldNeighbours;

AldNeighbours *ald_neighbours_new(void);
void ald_neighbours_free(AldNeighbours *neighbours);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNeighbours, ald_neighbours_free)

/* By the segments that ports of a node are in (AldSegmentRow); of a large subnet only the ports of these two
 * nodes are kept. */
AldNeighbours *ald_neighbours_between(const AldRows *segments, const char *node, const char *other);

/* The ports of the next segment, "NODE PORT" each. */
void ald_neighbours_add(AldNeighbours *neighbours, const char *const *members, unsigned n, bool candidate);

/* 2 where the ports surely are neighbours, 1 where they perhaps are. */
unsigned ald_neighbours_rank(const AldNeighbours *neighbours, const char *node, const char *port,
        const char *other_node, const char *other_port);
