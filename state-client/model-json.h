/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* The model as JSON, for output and scripts: fields of a record by their D-Bus names, then Revision and
 * UpdatedUSec where known, then raw fields; what is absent is not there. All return new references. */

/* {field: value} of one record; NULL where there is none of that kind, known or not. */
json_t *ald_entity_fields_to_json(const AldEntity *entity, const char *kind);

/* {kind: fields}; known kinds first, in the order of AldKind. */
json_t *ald_entity_to_json(const AldEntity *entity);

/* {id: {kind: fields}} of an array of AldEntity. */
json_t *ald_entities_to_json(const GPtrArray *entities);

/* {"NodeId", "Totals", "Nodes", "Links", "Findings"} */
json_t *ald_model_to_json(AldModel *model);

/* What is new: all fields of an added record, those of a changed one that differ. NULL where removed. */
json_t *ald_change_fields_to_json(const AldChange *change);

/* The names of the fields that went; maybe empty. */
json_t *ald_change_absent_to_json(const AldChange *change);
