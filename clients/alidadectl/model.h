/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/*
 * What the client knows of the cluster: nodes and links, each with a record (an object of fields) per kind.
 * It is generic: kinds and fields are those that arrive. Nothing here knows the bus.
 */
typedef struct AldModel AldModel;

/* What this machine says of each node, by its own clock; all other kinds come from the node itself. */
#define ALD_KIND_OF_PRESENCE "Node1.Presence"

#define ALD_MODEL_ENTITIES_MAX 250000u
#define ALD_MODEL_KINDS_MAX 32u /* of one entity */

/* A node or a link. */
typedef struct AldEntity {
        char *id;        /* node id, or "SOURCE/KEY" of a link */
        json_t *records; /* kind → fields */
        char *label;     /* safe text: friendly name of a node, else the begin of its id */
        char *sort_key;
        bool is_link;
} AldEntity;

typedef enum AldChangeType {
        ALD_CHANGE_ADDED,   /* fields: all of them */
        ALD_CHANGE_CHANGED, /* fields: those that changed; absent: the names of those that went */
        ALD_CHANGE_REMOVED,
} AldChangeType;

typedef struct AldChange {
        AldChangeType type;
        const AldEntity *entity; /* NULL: the totals of the cluster */
        const char *kind;        /* NULL: the totals of the cluster */
        json_t *fields;          /* NULL where removed */
        json_t *absent;          /* NULL where added or removed */
} AldChange;

/* Called after each change, but before a removed entity is freed. */
typedef void (*AldModelChanged)(AldModel *model, const AldChange *change, void *userdata);

AldModel *ald_model_new(void);
void ald_model_free(AldModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldModel, ald_model_free)

void ald_model_watch(AldModel *model, AldModelChanged changed, void *userdata);

/* Whether these are 32 lower-case hexadecimal digits. */
bool ald_is_node_id(const char *id);

/* Replaces a record; keeps a reference to the fields. Returns -EINVAL for a bad id or kind, -E2BIG at a
 * limit. */
int ald_model_put(AldModel *model, const char *id, const char *kind, json_t *fields);

/* Changes some fields of a record; makes the record where there is none. */
int ald_model_update(AldModel *model, const char *id, const char *kind, json_t *fields, json_t *absent);

/* Removes a record, and the entity with its last one. */
void ald_model_remove(AldModel *model, const char *id, const char *kind);

void ald_model_set_node_id(AldModel *model, const char *id);
void ald_model_update_totals(AldModel *model, json_t *fields, json_t *absent);
void ald_model_set_findings(AldModel *model, json_t *findings);

/* Makes the model equal to another, telling only what differs. The other is emptied. */
void ald_model_replace(AldModel *model, AldModel *other);

/* Id of this machine, or NULL while it is not known. */
const char *ald_model_node_id(AldModel *model);

/* Never NULL. */
json_t *ald_model_totals(AldModel *model);
json_t *ald_model_findings(AldModel *model);

/* A node or link by id, or NULL. */
const AldEntity *ald_model_get(AldModel *model, const char *id);

/* A record of an entity, or NULL; NULL for NULL. */
json_t *ald_entity_record(const AldEntity *entity, const char *kind);

/* Newest UpdatedUSec of the records that the node itself sent, or NaN. */
double ald_entity_updated(const AldEntity *entity);

/* The nodes, sorted by name; the links, sorted by id. Valid until the model changes. */
const GPtrArray *ald_model_nodes(AldModel *model);
const GPtrArray *ald_model_links(AldModel *model);

/*
 * The node that a person means: its id, its friendly name, or a begin of its id that no other has. Returns
 * -ENOENT, or -ENOTUNIQ with those it may be, sorted.
 */
int ald_model_find(AldModel *model, const char *what, const AldEntity **ret, GPtrArray *ret_candidates);

/* {"NodeId", "Totals", "Nodes", "Links", "Findings"} */
json_t *ald_model_to_json(AldModel *model);

/* {id: {kind: fields}} */
json_t *ald_entities_to_json(const GPtrArray *entities);
