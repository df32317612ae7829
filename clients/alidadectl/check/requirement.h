/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/columns/column.h"
#include "state-client/model.h"

/* A property that a node must have: "rdma", "compute>=5", "memory>=64G". */
typedef struct AldRequirement {
        const AldListColumn *column; /* of an AldNodeRow */
        double least;
        char *text; /* as it was given */
} AldRequirement;

void ald_requirement_free(gpointer requirement);

/* Adds the requirements of a comma-separated list. Returns -EINVAL with *ret_reason set if one is unknown or
 * has no valid figure. */
int ald_requirements_parse(const char *list, GPtrArray *requirements, char **ret_reason);

/* Lists what can be required, one per line, for --require=help. */
char *ald_requirements_help(void);

/* Returns NULL if the node (NULL: nothing is known about it) meets the requirement, else why not: the figure
 * with its age, or that it is unknown or too old. Free with g_free(). */
char *ald_requirement_judge(
        const AldRequirement *requirement, AldModel *model, const AldEntity *node, double now_usec);
