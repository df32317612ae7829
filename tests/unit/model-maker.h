/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

/* Models with records written as JSON, as if they had come from the state service: UpdatedUSec is the time of
 * the record, and fields that its kind does not have are kept raw. */

/* JSON with ' for "; aborts where it is none. */
json_t *model_parse(const char *text);

/* Puts a record of a node or link. Negative errno where the service could not have sent it. */
int model_put_json(AldModel *model, const char *id, const char *kind, const json_t *fields);

/* The same with ' for "; aborts on any error. */
void model_put(AldModel *model, const char *id, const char *kind, const char *text);

/* Puts all records of node number n: {kind: fields}, with ' for ". */
void model_put_node(AldModel *model, unsigned number, const char *records);

/* Records of a node with a value for most of what clients show, and three devices of different kinds. */
extern const char model_atlas[];

/* The node of this number, which must be known; its id. */
const AldEntity *model_node(AldModel *model, unsigned number);
char *model_id(unsigned number);

/* Sets the findings: an array of rows. Anything that is not a row, or of another type, is left out. */
void model_set_findings(AldModel *model, json_t *findings);
