/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "record/record.h"
#include "state-client/topology.h"

/*
 * What a client of the state service knows about the cluster: nodes and links with their records, the totals
 * and the findings. Kinds and fields of a newer peer that this version does not know are kept raw, as JSON.
 * The model does not use the bus. Times are CLOCK_REALTIME in µs; absent values are those of record/field.h.
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
 * One record of an entity was added, changed or removed, or the totals changed. For an unknown kind, `record`
 * and `before` are NULL. The struct is valid during the call only; records may be referenced.
 */
typedef struct AldChange {
        AldChangeType type;
        const AldEntity *entity; /* NULL: the totals */
        const char *kind;        /* name of the kind, known or not; NULL: the totals */
        const AldRecord *record; /* NULL if removed */
        const AldRecord *before; /* NULL if added */
        uint64_t fields;         /* if changed: ald_record_diff(), and those that were raw before; may be 0 */
        json_t *raw;             /* new and changed raw fields or totals; NULL: none */
        json_t *raw_absent;      /* names of removed raw fields or totals, but not of `fields`; NULL: none */
} AldChange;

/* Called after each change, before an entity without records is freed. It must not change the model. */
typedef void (*AldModelChanged)(AldModel *model, const AldChange *change, void *userdata);

AldModel *ald_model_new(void);
void ald_model_free(AldModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldModel, ald_model_free)

/* Bytes that the model may take in memory, as ald_model_size() counts them; without end until this is called.
 * ALD_MODEL_ENTITIES_MAX is an error from then on. */
void ald_model_limit(AldModel *model, size_t max_bytes);
size_t ald_model_max(AldModel *model);

/* Sets the only watcher; NULL removes it. */
void ald_model_watch(AldModel *model, AldModelChanged changed, void *userdata);

/* Whether these are 32 lower-case hexadecimal digits. */
bool ald_is_node_id(const char *id);

/*
 * Adds or replaces a record. `raw` holds its unknown fields; NULL: none. Takes a reference to both. -EINVAL
 * for an invalid id or a kind that does not belong to it; -E2BIG if a limit is reached, and nothing changed;
 * -EDQUOT if the model is larger than ald_model_limit() allows.
 */
int ald_model_put(AldModel *model, const char *id, AldRecord *record, json_t *raw);

/* The same for an unknown kind. -EINVAL also for an invalid name of a kind. */
int ald_model_put_raw(AldModel *model, const char *id, const char *kind, json_t *fields);

/* Removes the record of a known or unknown kind, and the entity if this was its last record. */
void ald_model_remove(AldModel *model, const char *id, const char *kind);

/* Anything but a node id, and NULL, means unknown. */
void ald_model_set_node_id(AldModel *model, const char *id);

/* Updates properties of org.alidade.State1 except NodeId; `absent` lists names and may be NULL. -EDQUOT as
 * above. */
int ald_model_update_totals(AldModel *model, json_t *properties, json_t *absent);

/* Sets the findings, as rows and as received. Calls free_owned(owned) when the rows are no longer used; both
 * may be NULL. */
void ald_model_set_findings(
        AldModel *model, const AldRows *rows, json_t *json, void *owned, GDestroyNotify free_owned);

/* Makes the model equal to another and reports only what differs. The other one is emptied. */
void ald_model_replace(AldModel *model, AldModel *other);

/* Bytes in memory, rather too many than too few, and what the limit leaves, SIZE_MAX without one; both with
 * the graph. */
size_t ald_model_size(AldModel *model);
size_t ald_model_space(AldModel *model);

/* Id of this machine, or NULL if unknown. */
const char *ald_model_node_id(AldModel *model);

/* Never NULL. Strings in it are valid until the totals change. */
const AldClusterTotals *ald_model_totals(AldModel *model);

/* All properties except NodeId as received, including those of a newer service. Never NULL. */
json_t *ald_model_totals_json(AldModel *model);

/* Rows of AldFindingRow in the order of the service. Never NULL; valid until the findings are set again. */
const AldRows *ald_model_findings(AldModel *model);

/* The same rows as received, including fields of a newer service: an array of equal length. Never NULL. */
json_t *ald_model_findings_json(AldModel *model);

/* Makes the model hold the connection graph as well, which is then followed (state-client/follow.h). Without
 * pairs it can be read once only. */
void ald_model_add_topology(AldModel *model, bool with_pairs);
/* NULL unless it was added. */
AldTopology *ald_model_topology(AldModel *model);

/* A node or link by id, or NULL; NULL for NULL. */
const AldEntity *ald_model_get(AldModel *model, const char *id);

/* A record of an entity, or NULL; NULL for NULL. For ald_record_as(). */
const AldRecord *ald_entity_record(const AldEntity *entity, AldKind kind);

/* The fields of a record, or NULL: ald_entity_as(node, MEMORY, AldMemory). */
#define ald_entity_as(entity, KIND, Type) \
        ald_record_as(ald_entity_record((entity), ALD_KIND_##KIND), KIND, Type)

/* The raw fields of a known or unknown kind; NULL: none. */
json_t *ald_entity_raw(const AldEntity *entity, const char *kind);

/* FriendlyName of a node as received, not safe for a terminal; NULL if it has none, and for NULL. */
const char *ald_entity_name(const AldEntity *entity);

/* Newest time of the records that the node itself sent (not Node1.Presence and Node1.Doubts), or absent. */
uint64_t ald_entity_updated(const AldEntity *entity);

/* The nodes, sorted by name; the links, sorted by id. Valid until the model changes. */
const GPtrArray *ald_model_nodes(AldModel *model);
const GPtrArray *ald_model_links(AldModel *model);

/*
 * The links without those to a node of which nothing is known. A node that was forgotten leaves such links,
 * which other nodes keep in case it returns.
 */
const GPtrArray *ald_model_shown_links(AldModel *model);

/*
 * Finds a node by its id, its friendly name or a unique prefix of its id; a word that is a name and a prefix
 * must mean the same node as both. Returns -ENOENT, or -ENOTUNIQ with the candidates, the named ones first.
 */
int ald_model_find(AldModel *model, const char *what, const AldEntity **ret, GPtrArray *ret_candidates);

/* The name of a node that somebody may have meant; NULL if none is close, or several are equally close. */
const char *ald_model_closest_name(AldModel *model, const char *what);
