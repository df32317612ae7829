/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/model.h"

/* The links that begin or end at a node; all of them for NULL. */
GPtrArray *ald_links_of(AldModel *model, const AldEntity *node);

/* {id: friendly name} of the nodes that have one. */
json_t *ald_names_to_json(AldModel *model);

/* The friendly name of a node as it is, or NULL. */
const char *ald_friendly_name(AldModel *model, const char *id);
