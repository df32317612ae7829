/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/shown-series.h"

/*
 * Finds the series with these names: a field, or one of a row, with or without the kind of its record before
 * it ("Node1.Memory.AvailableBytes", "Devices[cpu].GemmTflops"); or what several have in common, the
 * beginning or the field of the row ("Node1.Memory", "Devices[cpu]", "GemmTflops"). `peer` is NULL for a
 * node. Returns -ENOENT if a name matches none; *ret_problem then names it, and similar names. Returns -ENXIO
 * if there are no links between the two.
 */
int ald_series_choose(AldModel *model, const AldEntity *node, const AldEntity *peer, const char *const *names,
        double now_usec, GPtrArray **ret, char **ret_problem);
