/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* The names of the nodes of a model as users see them, in the form of Names in AldFindingRow. */
typedef struct AldNodeNames AldNodeNames;

AldNodeNames *ald_node_names_new(AldModel *model);
void ald_node_names_free(AldNodeNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNodeNames, ald_node_names_free)

/* Returns the name of a node, which need not exist; free with g_free(). */
char *ald_node_names_get(const AldNodeNames *names, const char *id);
