/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "record/record.h"
#include "state-client/topology.h"

/*
 * What a client of the state service knows about the cluster: nodes and links with their records, the totals
 * and the findings. Kinds and fields that this version does not know, from a newer peer, are kept raw, as
 * JSON. The model does not use the bus. Times are CLOCK_REALTIME in µs; absent values are those of
 * record/field.h.
 */
typedef struct AldModel AldModel;

#define ALD_MODEL_ENTITIES_MAX 400000u /* 10,000 nodes, each with 32 links or a little more */
#define ALD_MODEL_RAW_KINDS_MAX 32u    /* of one entity */

/* Bytes for ald_model_limit() where another machine fills the model. 10,000 nodes with 32 links each take 545
 * MiB with their graph (tests/bench/run state). */
#define ALD_MODEL_REMOTE_MAX ((size_t) 768 * 1024 * 1024)

/* A node or a link. Only the model changes it. */
typedef struct AldEntity {
        char *id; /* node id, or "SOURCE/KEY" of a link */
        bool is_link;
        AldRecord *records[ALD_N_KINDS]; /* NULL: none */
        /* {kind: fields}: all fields of unknown kinds, unknown fields of known kinds. NULL if there are none.
         */
        json_t *raw;
        char *sort_key;
} AldEntity;

typedef enum AldChangeType {
        ALD_CHANGE_ADDED,
        ALD_CHANGE_CHANGED,
        ALD_CHANGE_REMOVED,
} AldChangeType;

/*
 * Describes that one record of an entity was added, changed or removed, or that the totals changed. For an
 * unknown kind, `record` and `before` are NULL. The struct is valid during the call only, but records may be
 * referenced.
 */
typedef struct AldChange {
        AldChangeType type;
        const AldEntity *entity; /* NULL: the totals */
        const char *kind;        /* name of the kind, known or not; NULL: the totals */
        const AldRecord *record; /* NULL if removed */
        const AldRecord *before; /* NULL if added */
        uint64_t fields;    /* if changed: ald_record_diff(), and the fields that were raw before; may be 0 */
        json_t *raw;        /* new and changed raw fields or totals; NULL: none */
        json_t *raw_absent; /* names of removed raw fields or totals, but not of `fields`; NULL: none */
} AldChange;

/* Called after each change, before an entity without records is freed. It must not change the model. */
typedef void (*AldModelChanged)(AldModel *model, const AldChange *change, void *userdata);

AldModel *ald_model_new(void);
void ald_model_free(AldModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldModel, ald_model_free)

/* Sets the limit of the bytes that the model may take in memory, as ald_model_size() counts them; there is
 * none before. With a limit, exceeding ALD_MODEL_ENTITIES_MAX returns -EDQUOT, too. */
void ald_model_limit(AldModel *model, size_t max_bytes);
size_t ald_model_max(AldModel *model);

/* Sets the only watcher; NULL removes it. */
void ald_model_watch(AldModel *model, AldModelChanged changed, void *userdata);

/* Returns whether this is 32 lower-case hexadecimal digits. */
bool ald_is_node_id(const char *id);

/*
 * Adds or replaces a record. `raw` holds its unknown fields; NULL: none. Takes a reference to both. Returns
 * -EINVAL for an invalid id or a kind that does not belong to it; -E2BIG if a limit is reached, and nothing
 * changed; -EDQUOT if the model is larger than ald_model_limit() allows.
 */
int ald_model_put(AldModel *model, const char *id, AldRecord *record, json_t *raw);

/* Adds or replaces the fields of an unknown kind, with the same errors. Returns -EINVAL also for an invalid
 * name of a kind. */
int ald_model_put_raw(AldModel *model, const char *id, const char *kind, json_t *fields);

/* Removes the record of a known or unknown kind, and the entity if this was its last record. */
void ald_model_remove(AldModel *model, const char *id, const char *kind);

/* Sets the id of this machine. Anything but a node id, and NULL, means unknown. */
void ald_model_set_node_id(AldModel *model, const char *id);

/* Updates properties of org.alidade.State1 except NodeId. `absent` lists names and may be NULL. Returns
 * -EDQUOT as above. */
int ald_model_update_totals(AldModel *model, json_t *properties, json_t *absent);

/* Sets the findings, as rows and as received. Calls free_owned(owned) when the rows are no longer used; both
 * may be NULL. */
void ald_model_set_findings(
        AldModel *model, const AldRows *rows, json_t *json, void *owned, GDestroyNotify free_owned);

/* Makes the model equal to another and reports only what differs. The other one is emptied. */
void ald_model_replace(AldModel *model, AldModel *other);

/* Return the bytes in memory, estimated high rather than low, and the bytes that the limit leaves, SIZE_MAX
 * without one. Both include the graph. */
size_t ald_model_size(AldModel *model);
size_t ald_model_space(AldModel *model);

/* Returns the id of this machine, or NULL if unknown. */
const char *ald_model_node_id(AldModel *model);

/* Returns the totals, never NULL. Strings in them are valid until the totals change. */
const AldClusterTotals *ald_model_totals(AldModel *model);

/* Returns all properties except NodeId as received, including those of a newer service. Never NULL. */
json_t *ald_model_totals_json(AldModel *model);

/* Returns rows of AldFindingRow in the order of the service. Never NULL; valid until the findings are set
 * again. */
const AldRows *ald_model_findings(AldModel *model);

/* Returns the same rows as received, including fields of a newer service: an array of equal length. Never
 * NULL. */
json_t *ald_model_findings_json(AldModel *model);

/* Makes the model hold the connection graph as well, which is then followed (state-client/follow.h). Without
 * pairs it can be read only once. */
void ald_model_add_topology(AldModel *model, bool with_pairs);
/* Returns the graph; NULL unless it was added. */
AldTopology *ald_model_topology(AldModel *model);

/* Returns a node or link by id, or NULL. The id may be NULL. */
const AldEntity *ald_model_get(AldModel *model, const char *id);

/* Returns a record of an entity, or NULL, for ald_record_as(). The entity may be NULL. */
const AldRecord *ald_entity_record(const AldEntity *entity, AldKind kind);

/* Returns the fields of a record, or NULL: ald_entity_as(node, MEMORY, AldMemory). */
#define ald_entity_as(entity, KIND, Type) \
        ald_record_as(ald_entity_record((entity), ALD_KIND_##KIND), KIND, Type)

/* Returns the raw fields of a known or unknown kind; NULL: none. */
json_t *ald_entity_raw(const AldEntity *entity, const char *kind);

/* Returns the FriendlyName of a node as received, which is not safe for a terminal; NULL if it has none. The
 * node may be NULL. */
const char *ald_entity_name(const AldEntity *entity);

/* Returns the newest time of the records that the node itself sent (not Node1.Presence and Node1.Doubts), or
 * absent. */
uint64_t ald_entity_updated(const AldEntity *entity);

/* Return the nodes, sorted by name, and the links, sorted by id. Valid until the model changes. */
const GPtrArray *ald_model_nodes(AldModel *model);
const GPtrArray *ald_model_links(AldModel *model);

/*
 * Returns the links except those to a node of which nothing is known. A forgotten node leaves such links,
 * which other nodes keep in case it returns.
 */
const GPtrArray *ald_model_shown_links(AldModel *model);

/*
 * Finds a node by its id, its friendly name or a unique prefix of its id. A word that is both a name and a
 * prefix must mean the same node as both. Returns -ENOENT, or -ENOTUNIQ with the candidates, of which those
 * with that name come first.
 */
int ald_model_find(AldModel *model, const char *what, const AldEntity **ret, GPtrArray *ret_candidates);

/* Returns the name of a node that the user may have meant; NULL if none is close, or several are equally
 * close. */
const char *ald_model_closest_name(AldModel *model, const char *what);
