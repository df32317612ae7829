/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

#define ALD_STATE_PATH "/org/alidade/State1"
#define ALD_STATE_NODE_PATH ALD_STATE_PATH "/node"
#define ALD_STATE_LINK_PATH ALD_STATE_PATH "/link"

/* Returns the path of the object of an entry, which is its node or the link itself. */
char *ald_path_of_entry(const AldEntry *entry);
char *ald_path_of_node(const AldNode *node);

/* Returns the node or link at a path; NULL if it is not known. */
AldNode *ald_path_find_node(AldStore *store, const char *path);
AldEntry *ald_path_find_link(AldStore *store, AldKind kind, const char *path);
