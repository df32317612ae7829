/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/* What a probe of this node tells of a path, put together with what was known. */

/* The key of a record of a link by its own fields; NULL where they make none. Free with g_free(). */
char *ald_link_result_key(const AldRecord *told);

/*
 * A success takes the place of what was. A failure never does: the figures stay, and it is put beside them
 * and counted. The same failure told again counts once. `before` may be NULL, else it is
 * of the same kind. Returns a new reference.
 */
AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *told);
