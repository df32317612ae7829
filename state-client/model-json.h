/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* Converts the model to JSON: the fields of a record under their D-Bus names, then Revision and UpdatedUSec
 * if known, then raw fields; absent fields are omitted. All functions return new references. */

/* Returns {kind: fields}, with known kinds first, in the order of AldKind. */
json_t *ald_entity_to_json(const AldEntity *entity);

/* Returns {id: {kind: fields}} for an array of AldEntity. */
json_t *ald_entities_to_json(const GPtrArray *entities);

/* Returns {id: friendly name} for the nodes that have one. */
json_t *ald_model_names_to_json(AldModel *model);

/* Returns {"NodeId", "Totals", "Nodes", "Links", "Findings"}. */
json_t *ald_model_to_json(AldModel *model);

/* Returns all fields of an added record, or the changed fields of a changed one. NULL if the record was
 * removed. */
json_t *ald_change_fields_to_json(const AldChange *change);

/* Returns the names of the fields that became absent; may be empty. */
json_t *ald_change_absent_to_json(const AldChange *change);
