/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* The model as JSON: the fields of a record under their D-Bus names, then Revision and UpdatedUSec if known,
 * then raw fields; absent fields are omitted. All functions return new references. */

/* {kind: fields}; known kinds first, in the order of AldKind. */
json_t *ald_entity_to_json(const AldEntity *entity);

/* {id: {kind: fields}} of an array of AldEntity. */
json_t *ald_entities_to_json(const GPtrArray *entities);

/* {id: friendly name} of the nodes that have one. */
json_t *ald_model_names_to_json(AldModel *model);

/* {"NodeId", "Totals", "Nodes", "Links", "Findings"} */
json_t *ald_model_to_json(AldModel *model);

/* All fields of an added record, the fields of a changed one that differ. NULL if it was removed. */
json_t *ald_change_fields_to_json(const AldChange *change);

/* The names of the fields that became absent; may be empty. */
json_t *ald_change_absent_to_json(const AldChange *change);
