/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* The label of a node or link: the friendly name of a node, else the first digits of its id; the id of a
 * link. Safe text, to be freed. */
char *ald_entity_label(const AldEntity *entity);

/* The label of the node with this id, even if the model does not know it. Safe text, to be freed; NULL for
 * NULL. */
char *ald_node_name(AldModel *model, const char *id);
