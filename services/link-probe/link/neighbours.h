/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "record/schema.h"

/* Which ports are neighbours, as GetFabric() of org.alidade.State1 reports: a port is in at most one segment
 * of its kind, and in at most one candidate. */
typedef struct AldNeighbours AldNeighbours;

AldNeighbours *ald_neighbours_new(void);
void ald_neighbours_free(AldNeighbours *neighbours);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNeighbours, ald_neighbours_free)

/* Creates it from the segments that contain ports of a node (AldSegmentRow); of a large subnet only the ports
 * of these two nodes are kept. */
AldNeighbours *ald_neighbours_between(const AldRows *segments, const char *node, const char *other);

/* Adds the ports of the next segment, each as "NODE PORT". */
void ald_neighbours_add(AldNeighbours *neighbours, const char *const *members, unsigned n, bool candidate);

/* 2 if the ports are certainly neighbours, 1 if they may be, 0 otherwise. */
unsigned ald_neighbours_rank(const AldNeighbours *neighbours, const char *node, const char *port,
        const char *other_node, const char *other_port);
