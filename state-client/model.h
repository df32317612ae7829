/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "record/record.h"

/*
 * What a client of the state service knows of the cluster: nodes and links with their records, the totals and
 * the findings. Kinds and fields that this version does not know, those of a newer peer, are kept raw, as
 * JSON. Nothing here knows the bus. Times are CLOCK_REALTIME in µs, absent values those of record/field.h.
 */
typedef struct AldModel AldModel;

#define ALD_MODEL_ENTITIES_MAX 250000u
#define ALD_MODEL_RAW_KINDS_MAX 32u /* of one entity */

/* A node or a link. Only the model changes it. */
typedef struct AldEntity {
        char *id; /* node id, or "SOURCE/KEY" of a link */
        bool is_link;
        AldRecord *records[ALD_N_KINDS]; /* NULL: none */
        /* {kind: fields}: all fields of unknown kinds, and those of known kinds that are not in their table.
         * NULL where there are none. */
        json_t *raw;
        char *sort_key;
} AldEntity;

typedef enum AldChangeType {
        ALD_CHANGE_ADDED,
        ALD_CHANGE_CHANGED,
        ALD_CHANGE_REMOVED,
} AldChangeType;

/*
 * One record of an entity was added, changed or removed, or the totals changed. Of an unknown kind `record`
 * and `before` are NULL. All is valid during the call only; records may be referenced.
 */
typedef struct AldChange {
        AldChangeType type;
        const AldEntity *entity; /* NULL: the totals */
        const char *kind;        /* name of the kind, known or not; NULL: the totals */
        const AldRecord *record; /* as it is now; NULL where removed */
        const AldRecord *before; /* as it was; NULL where added */
        uint64_t fields;    /* where changed: ald_record_diff(); 0 if only the envelope did, or raw fields */
        json_t *raw;        /* raw fields and totals that are new or differ; NULL: none */
        json_t *raw_absent; /* names of raw fields and totals that went; NULL: none */
} AldChange;

/* Called after each change, but before an entity that lost its last record is freed. The model must not be
 * changed meanwhile. */
typedef void (*AldModelChanged)(AldModel *model, const AldChange *change, void *userdata);

AldModel *ald_model_new(void);
void ald_model_free(AldModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldModel, ald_model_free)

/* One watcher at a time; NULL: none. */
void ald_model_watch(AldModel *model, AldModelChanged changed, void *userdata);

/* Whether these are 32 lower-case hexadecimal digits. */
bool ald_is_node_id(const char *id);

/*
 * Replaces a record. `raw` holds the fields that are not in the table of the kind; NULL: none. Both are
 * referenced. -EINVAL for a bad id, or where the kind does not fit it; -E2BIG at a limit.
 */
int ald_model_put(AldModel *model, const char *id, AldRecord *record, json_t *raw);

/* The same for a kind that is not known, by its name. -EINVAL also for a name that no kind can have. */
int ald_model_put_raw(AldModel *model, const char *id, const char *kind, json_t *fields);

/* Removes a record of a kind, known or not, and the entity with its last one. */
void ald_model_remove(AldModel *model, const char *id, const char *kind);

/* NULL, or what is no node id: not known. */
void ald_model_set_node_id(AldModel *model, const char *id);

/* Changes some of the properties of org.alidade.State1, but for NodeId; `absent`, names, may be NULL. */
void ald_model_update_totals(AldModel *model, json_t *properties, json_t *absent);

/* The findings, as rows and as they arrived. Calls free_owned(owned) when the rows are needed no more; both
 * may be NULL. */
void ald_model_set_findings(
        AldModel *model, const AldRows *rows, json_t *json, void *owned, GDestroyNotify free_owned);

/* Makes the model equal to another, telling only what differs. The other is emptied. */
void ald_model_replace(AldModel *model, AldModel *other);

/* Id of this machine, or NULL while it is not known. */
const char *ald_model_node_id(AldModel *model);

/* Never NULL. Strings in it are valid until the totals change. */
const AldClusterTotals *ald_model_totals(AldModel *model);

/* All properties but NodeId as they arrived, those that a newer service added too. Never NULL. */
json_t *ald_model_totals_json(AldModel *model);

/* Rows of AldFindingRow, in the order of the service. Never NULL; valid until they are set again. */
const AldRows *ald_model_findings(AldModel *model);

/* The same rows as they arrived, with fields that a newer service added; an array of as many. Never NULL. */
json_t *ald_model_findings_json(AldModel *model);

/* A node or link by id, or NULL; NULL for NULL. */
const AldEntity *ald_model_get(AldModel *model, const char *id);

/* A record of an entity, or NULL; NULL for NULL. For ald_record_as(). */
const AldRecord *ald_entity_record(const AldEntity *entity, AldKind kind);

/* The fields of a record, or NULL: ald_entity_as(node, MEMORY, AldMemory). */
#define ald_entity_as(entity, KIND, Type) \
        ald_record_as(ald_entity_record((entity), ALD_KIND_##KIND), KIND, Type)

/* The raw fields of a kind, known or not; NULL: none. */
json_t *ald_entity_raw(const AldEntity *entity, const char *kind);

/* FriendlyName of a node, not made safe for a terminal; NULL where it has none, and for NULL. */
const char *ald_entity_name(const AldEntity *entity);

/* Newest time of the records that the node itself sent (all but Node1.Presence), or absent. */
uint64_t ald_entity_updated(const AldEntity *entity);

/* The nodes, sorted by name; the links, sorted by id. Valid until the model changes. */
const GPtrArray *ald_model_nodes(AldModel *model);
const GPtrArray *ald_model_links(AldModel *model);

/*
 * The node that a person means: its id, its friendly name, or a begin of its id that no other has. Returns
 * -ENOENT, or -ENOTUNIQ with those it may be, sorted.
 */
int ald_model_find(AldModel *model, const char *what, const AldEntity **ret, GPtrArray *ret_candidates);
