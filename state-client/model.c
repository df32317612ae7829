/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/closest-name.h"
#include "record/field.h"
#include "record/id.h"
#include "state-client/model.h"
#include "state-client/value.h"
#include "state/link/link.h"

#define NODE_ID_LENGTH 32
#define KEY_MAX 512

/* Bytes of an entity beside its records and texts, with its places in the tables and in the sorted lists. */
#define ENTITY_BYTES (sizeof(AldEntity) + 160u)
#define RECORD_BYTES 16u /* overhead of the allocator */
#define RAW_BYTES 400u   /* the object of raw fields, and its member for one kind */

struct AldModel {
        char *node_id;
        AldClusterTotals totals; /* strings in it belong to totals_json */
        json_t *totals_json;
        AldRows findings;
        json_t *findings_json;
        void *findings_owned;
        GDestroyNotify free_findings_owned;
        AldTopology *topology; /* NULL: not wanted */
        GHashTable *entities;  /* id → AldEntity */
        GPtrArray *nodes;      /* sorted; NULL until needed, like the next four */
        GPtrArray *by_id;      /* the nodes, sorted by id */
        GHashTable *by_name;   /* friendly name → the nodes that have it */
        GPtrArray *links;
        GPtrArray *shown_links;
        size_t max_bytes;
        size_t bytes;          /* of entities and totals, estimated */
        size_t findings_bytes; /* estimated when the findings are set */
        AldModelChanged changed;
        void *userdata;
};

static void entity_free(void *data)
{
        AldEntity *entity = data;

        for (size_t kind = 0; kind < ALD_N_KINDS; kind++)
                g_clear_pointer(&entity->records[kind], ald_record_unref);
        json_decref(entity->raw);
        g_free(entity->id);
        g_free(entity->sort_key);
        g_free(entity);
}

static void clear_findings(AldModel *model)
{
        if (model->free_findings_owned)
                model->free_findings_owned(model->findings_owned);
        json_decref(model->findings_json);
}

AldModel *ald_model_new(void)
{
        AldModel *model = g_new0(AldModel, 1);

        model->totals = *(const AldClusterTotals *) ald_cluster_totals_struct.absent;
        model->totals_json = json_object();
        model->max_bytes = SIZE_MAX;
        model->findings.type = &ald_finding_row_struct;
        model->findings_json = json_array();
        model->entities = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entity_free);
        model->bytes = ald_value_size(model->totals_json);
        model->findings_bytes = ald_value_size(model->findings_json);
        return model;
}

static void forget_order(AldModel *model)
{
        g_clear_pointer(&model->nodes, g_ptr_array_unref);
        g_clear_pointer(&model->by_id, g_ptr_array_unref);
        g_clear_pointer(&model->by_name, g_hash_table_unref);
        g_clear_pointer(&model->links, g_ptr_array_unref);
        g_clear_pointer(&model->shown_links, g_ptr_array_unref);
}

void ald_model_free(AldModel *model)
{
        if (!model)
                return;
        forget_order(model);
        g_hash_table_unref(model->entities);
        json_decref(model->totals_json);
        clear_findings(model);
        ald_topology_free(model->topology);
        g_free(model->node_id);
        g_free(model);
}

void ald_model_limit(AldModel *model, size_t max_bytes)
{
        model->max_bytes = max_bytes;
}

size_t ald_model_max(AldModel *model)
{
        return model->max_bytes;
}

size_t ald_model_size(AldModel *model)
{
        return model->bytes + model->findings_bytes + (model->topology ? model->topology->bytes : 0);
}

size_t ald_model_space(AldModel *model)
{
        size_t size = ald_model_size(model);

        if (model->max_bytes == SIZE_MAX)
                return SIZE_MAX;
        return size < model->max_bytes ? model->max_bytes - size : 0;
}

static int check_size(AldModel *model)
{
        return ald_model_size(model) > model->max_bytes ? -EDQUOT : 0;
}

void ald_model_watch(AldModel *model, AldModelChanged changed, void *userdata)
{
        model->changed = changed;
        model->userdata = userdata;
}

static void notify(AldModel *model, const AldChange *change)
{
        if (model->changed)
                model->changed(model, change, model->userdata);
}

static bool begins_with_node_id(const char *id)
{
        return strspn(id, "0123456789abcdef") == NODE_ID_LENGTH;
}

bool ald_is_node_id(const char *id)
{
        return begins_with_node_id(id) && id[NODE_ID_LENGTH] == '\0';
}

static bool is_link_id(const char *id)
{
        size_t length = strnlen(id, NODE_ID_LENGTH + 1 + KEY_MAX + 1);

        return begins_with_node_id(id) && id[NODE_ID_LENGTH] == '/' && length > NODE_ID_LENGTH + 1 &&
               length <= NODE_ID_LENGTH + 1 + KEY_MAX && g_utf8_validate(id, -1, NULL);
}

/* Returns whether this is a valid name of a kind for nodes or links. */
static bool is_kind(const char *kind, bool is_link)
{
        const char *prefix = is_link ? "Link1." : "Node1.";

        return g_str_has_prefix(kind, prefix) && ald_value_is_name(kind + strlen(prefix));
}

/* Updates the sort key, which sorts node-9 before node-10, and a node without a name by its id. */
static void update_sort_key(AldModel *model, AldEntity *entity)
{
        const char *name = ald_entity_name(entity);
        g_autofree char *label = g_strstrip(g_strdup(name ?: ""));
        g_autofree char *folded = NULL, *collated = NULL, *key = NULL;

        if (entity->is_link)
                key = g_strdup(entity->id);
        else {
                g_clear_pointer(&model->by_name, g_hash_table_unref);
                if (!label[0]) {
                        g_free(label);
                        label = g_strndup(entity->id, ALD_SHORT_ID_DIGITS);
                }
                folded = g_utf8_casefold(label, -1);
                collated = g_utf8_collate_key_for_filename(folded, -1);
                key = g_strconcat(collated, "\n", entity->id, NULL);
        }
        if (g_strcmp0(entity->sort_key, key) == 0)
                return;
        model->bytes += strlen(key) - (entity->sort_key ? strlen(entity->sort_key) : 0);
        g_free(entity->sort_key);
        entity->sort_key = g_steal_pointer(&key);
        forget_order(model);
}

static bool is_bare(const AldEntity *entity)
{
        for (size_t kind = 0; kind < ALD_N_KINDS; kind++)
                if (entity->records[kind])
                        return false;
        return !entity->raw;
}

static int ensure_entity(AldModel *model, const char *id, const char *kind, AldEntity **ret)
{
        AldEntity *entity = g_hash_table_lookup(model->entities, id);
        bool is_link = is_link_id(id);

        if ((!is_link && !ald_is_node_id(id)) || !is_kind(kind, is_link))
                return -EINVAL;
        if (!entity) {
                if (g_hash_table_size(model->entities) >= ALD_MODEL_ENTITIES_MAX)
                        return model->max_bytes < SIZE_MAX ? -EDQUOT : -E2BIG;
                entity = g_new0(AldEntity, 1);
                entity->id = g_strdup(id);
                entity->is_link = is_link;
                g_hash_table_insert(model->entities, entity->id, entity);
                model->bytes += ENTITY_BYTES + strlen(id);
                update_sort_key(model, entity);
        }
        *ret = entity;
        return 0;
}

static void remove_entity(AldModel *model, AldEntity *entity)
{
        model->bytes -= ENTITY_BYTES + strlen(entity->id) + strlen(entity->sort_key);
        forget_order(model);
        g_hash_table_remove(model->entities, entity->id);
}

static size_t record_size(const AldRecord *record)
{
        return record ? RECORD_BYTES + record->size : 0;
}

static size_t raw_size(const AldEntity *entity, const char *kind)
{
        json_t *fields = ald_entity_raw(entity, kind);

        return fields ? RAW_BYTES + strlen(kind) + ald_value_size(fields) : 0;
}

/* Sets the raw fields of a kind. A known kind without raw fields has no member, and an entity without any has
 * no object. */
static void set_raw(AldModel *model, AldEntity *entity, const char *kind, json_t *fields)
{
        size_t before = raw_size(entity, kind);

        if (json_object_size(fields) > 0 || ald_kind_from_name(kind) < 0) {
                if (!entity->raw)
                        entity->raw = json_object();
                json_object_set(entity->raw, kind, fields);
        } else {
                json_object_del(entity->raw, kind);
                if (entity->raw && json_object_size(entity->raw) == 0)
                        g_clear_pointer(&entity->raw, json_decref);
        }
        model->bytes += raw_size(entity, kind) - before;
}

/* Sets what differs between two objects: new and changed fields, and the names of removed ones. */
static void compare_raw(json_t *before, json_t *now, AldChange *change)
{
        const char *name;
        json_t *value;

        change->raw = json_object();
        change->raw_absent = json_array();
        json_object_foreach(now, name, value) {
                if (!json_equal(json_object_get(before, name), value))
                        json_object_set(change->raw, name, value);
        }
        json_object_foreach(before, name, value) {
                if (!json_object_get(now, name))
                        json_array_append_new(change->raw_absent, json_string(name));
        }
        if (json_object_size(change->raw) == 0)
                g_clear_pointer(&change->raw, json_decref);
        if (json_array_size(change->raw_absent) == 0)
                g_clear_pointer(&change->raw_absent, json_decref);
}

/* Moves fields of the table that are no longer raw from `raw_absent` to `fields`: the record has their
 * present value. */
static void move_known_fields(AldChange *change)
{
        const AldStruct *type = ald_record_type(change->record);

        for (size_t i = json_array_size(change->raw_absent); i-- > 0;) {
                const AldField *field = ald_struct_find(
                        type, json_string_value(json_array_get(change->raw_absent, i)));

                if (!field)
                        continue;
                change->fields |= UINT64_C(1) << (field - type->fields);
                json_array_remove(change->raw_absent, i);
        }
        if (json_array_size(change->raw_absent) == 0)
                g_clear_pointer(&change->raw_absent, json_decref);
}

/* Reports a change if anything differs. Frees the results of compare_raw(). */
static void notify_if_changed(AldModel *model, AldChange *change)
{
        bool differs = change->type != ALD_CHANGE_CHANGED || change->raw || change->raw_absent;

        if (change->before) {
                change->fields = ald_record_diff(change->before, change->record);
                differs = differs || change->fields != 0 ||
                          change->before->revision != change->record->revision ||
                          change->before->updated_usec != change->record->updated_usec;
                move_known_fields(change);
        }
        if (differs)
                notify(model, change);
        json_decref(change->raw);
        json_decref(change->raw_absent);
}

int ald_model_put(AldModel *model, const char *id, AldRecord *record, json_t *raw)
{
        const char *kind = ald_kinds[record->kind].name;
        g_autoptr(AldRecord) before = NULL;
        AldChange change = { .kind = kind };
        AldEntity *entity;
        int r;

        r = ensure_entity(model, id, kind, &entity);
        if (r < 0)
                return r;
        before = entity->records[record->kind];
        entity->records[record->kind] = ald_record_ref(record);
        compare_raw(ald_entity_raw(entity, kind), raw, &change);
        set_raw(model, entity, kind, raw);
        model->bytes += record_size(record) - record_size(before);
        if (record->kind == ALD_KIND_IDENTITY)
                update_sort_key(model, entity);
        change.type = before ? ALD_CHANGE_CHANGED : ALD_CHANGE_ADDED;
        change.entity = entity;
        change.record = record;
        change.before = before;
        notify_if_changed(model, &change);
        return check_size(model);
}

int ald_model_put_raw(AldModel *model, const char *id, const char *kind, json_t *fields)
{
        AldChange change = { .kind = kind };
        AldEntity *entity;
        json_t *before;
        int r;

        if (ald_kind_from_name(kind) >= 0)
                return -EINVAL;
        r = ensure_entity(model, id, kind, &entity);
        if (r < 0)
                return r;
        before = ald_entity_raw(entity, kind);
        if (!before && entity->raw && json_object_size(entity->raw) >= ALD_MODEL_RAW_KINDS_MAX)
                return -E2BIG;
        change.type = before ? ALD_CHANGE_CHANGED : ALD_CHANGE_ADDED;
        change.entity = entity;
        compare_raw(before, fields, &change);
        set_raw(model, entity, kind, fields);
        notify_if_changed(model, &change);
        return check_size(model);
}

void ald_model_remove(AldModel *model, const char *id, const char *kind)
{
        AldEntity *entity = g_hash_table_lookup(model->entities, id);
        g_autofree char *name = g_strdup(kind); /* the caller's string may be the key that is freed */
        g_autoptr(AldRecord) before = NULL;
        int known = ald_kind_from_name(kind);
        bool had_raw;

        if (!entity)
                return;
        if (known >= 0)
                before = g_steal_pointer(&entity->records[known]);
        model->bytes -= record_size(before) + raw_size(entity, name);
        had_raw = json_object_del(entity->raw, name) == 0;
        if (entity->raw && json_object_size(entity->raw) == 0)
                g_clear_pointer(&entity->raw, json_decref);
        if (!before && !had_raw)
                return;
        notify(model,
                &(AldChange){ .type = ALD_CHANGE_REMOVED, .entity = entity, .kind = name, .before = before });
        if (is_bare(entity))
                remove_entity(model, entity);
        else if (known == ALD_KIND_IDENTITY)
                update_sort_key(model, entity);
}

void ald_model_set_node_id(AldModel *model, const char *id)
{
        g_free(model->node_id);
        model->node_id = g_strdup(id && ald_is_node_id(id) ? id : NULL);
}

/* Takes ownership of the totals. */
static void replace_totals(AldModel *model, json_t *totals)
{
        json_t *before = model->totals_json;
        AldChange change = { .type = ALD_CHANGE_CHANGED };

        model->totals_json = totals;
        model->bytes += ald_value_size(totals) - ald_value_size(before);
        ald_value_to_struct(model->totals_json, &ald_cluster_totals_struct, &model->totals);
        compare_raw(before, totals, &change);
        notify_if_changed(model, &change);
        json_decref(before);
}

int ald_model_update_totals(AldModel *model, json_t *properties, json_t *absent)
{
        json_t *totals = json_copy(model->totals_json), *name;
        size_t i;

        json_object_update(totals, properties);
        json_array_foreach(absent, i, name)
                json_object_del(totals, json_string_value(name));
        replace_totals(model, totals);
        return check_size(model);
}

void ald_model_set_findings(
        AldModel *model, const AldRows *rows, json_t *json, void *owned, GDestroyNotify free_owned)
{
        clear_findings(model);
        model->findings = *rows;
        model->findings_bytes = ald_value_size(json);
        for (size_t i = 0; i < rows->n; i++)
                model->findings_bytes += ald_struct_size(rows->type, ald_rows_at(rows, i));
        model->findings_json = json_incref(json);
        model->findings_owned = owned;
        model->free_findings_owned = free_owned;
}

/* Returns the kinds that only the first of two entities has, or all its kinds if there is no second. */
static GPtrArray *kinds_missing(const AldEntity *mine, const AldEntity *theirs)
{
        GPtrArray *missing = g_ptr_array_new_with_free_func(g_free);
        const char *kind;
        json_t *fields;

        for (size_t i = 0; i < ALD_N_KINDS; i++)
                if (mine->records[i] && (!theirs || !theirs->records[i]))
                        g_ptr_array_add(missing, g_strdup(ald_kinds[i].name));
        json_object_foreach(mine->raw, kind, fields) {
                if (ald_kind_from_name(kind) < 0 && !(theirs && ald_entity_raw(theirs, kind)))
                        g_ptr_array_add(missing, g_strdup(kind));
        }
        return missing;
}

/* Removes the records that another model does not have. */
static void remove_missing(AldModel *model, AldModel *other)
{
        g_autofree char **ids = (char **) g_hash_table_get_keys_as_array(model->entities, NULL);

        for (char **id = ids; *id; id++) {
                g_autofree char *copy = g_strdup(*id);
                g_autoptr(GPtrArray) missing = kinds_missing(g_hash_table_lookup(model->entities, copy),
                        g_hash_table_lookup(other->entities, copy));

                for (guint i = 0; i < missing->len; i++)
                        ald_model_remove(model, copy, missing->pdata[i]);
        }
}

static void put_all(AldModel *model, const GPtrArray *entities)
{
        for (guint i = 0; i < entities->len; i++) {
                const AldEntity *entity = entities->pdata[i];
                const char *kind;
                json_t *fields;

                for (size_t k = 0; k < ALD_N_KINDS; k++)
                        if (entity->records[k])
                                ald_model_put(model, entity->id, entity->records[k],
                                        ald_entity_raw(entity, ald_kinds[k].name));
                json_object_foreach(entity->raw, kind, fields) {
                        if (ald_kind_from_name(kind) < 0)
                                ald_model_put_raw(model, entity->id, kind, fields);
                }
        }
}

void ald_model_replace(AldModel *model, AldModel *other)
{
        ald_model_set_node_id(model, other->node_id);
        remove_missing(model, other);
        put_all(model, ald_model_nodes(other));
        put_all(model, ald_model_links(other));
        replace_totals(model, json_incref(other->totals_json));
        ald_model_set_findings(model, &other->findings, other->findings_json,
                g_steal_pointer(&other->findings_owned), other->free_findings_owned);
        other->free_findings_owned = NULL;
        other->findings.n = 0;
        other->findings_bytes = ald_value_size(other->findings_json);
        forget_order(other);
        g_hash_table_remove_all(other->entities);
        other->bytes = ald_value_size(other->totals_json);
}

const char *ald_model_node_id(AldModel *model)
{
        return model->node_id;
}

const AldClusterTotals *ald_model_totals(AldModel *model)
{
        return &model->totals;
}

json_t *ald_model_totals_json(AldModel *model)
{
        return model->totals_json;
}

void ald_model_add_topology(AldModel *model, bool with_pairs)
{
        if (!model->topology)
                model->topology = ald_topology_new();
        model->topology->with_pairs |= with_pairs;
}

AldTopology *ald_model_topology(AldModel *model)
{
        return model->topology;
}

const AldRows *ald_model_findings(AldModel *model)
{
        return &model->findings;
}

json_t *ald_model_findings_json(AldModel *model)
{
        return model->findings_json;
}

const AldEntity *ald_model_get(AldModel *model, const char *id)
{
        return id ? g_hash_table_lookup(model->entities, id) : NULL;
}

const AldRecord *ald_entity_record(const AldEntity *entity, AldKind kind)
{
        return entity ? entity->records[kind] : NULL;
}

json_t *ald_entity_raw(const AldEntity *entity, const char *kind)
{
        return entity ? json_object_get(entity->raw, kind) : NULL;
}

const char *ald_entity_name(const AldEntity *entity)
{
        const AldIdentity *identity = ald_record_as(
                ald_entity_record(entity, ALD_KIND_IDENTITY), IDENTITY, AldIdentity);

        return identity && identity->friendly_name && identity->friendly_name[0] ? identity->friendly_name
                                                                                 : NULL;
}

static void raise_newest(uint64_t *newest, uint64_t usec)
{
        if (usec > 0 && (*newest == ALD_ABSENT_UINT64 || usec > *newest))
                *newest = usec;
}

uint64_t ald_entity_updated(const AldEntity *entity)
{
        uint64_t newest = ALD_ABSENT_UINT64;
        const char *kind;
        json_t *fields;

        for (size_t i = 0; i < ALD_N_KINDS; i++)
                if (entity->records[i] && !ald_kinds[i].local)
                        raise_newest(&newest, entity->records[i]->updated_usec);
        json_object_foreach(entity->raw, kind, fields)
                raise_newest(&newest,
                        (uint64_t) MAX(json_integer_value(json_object_get(fields, "UpdatedUSec")), 0));
        return newest;
}

static int compare_entities(const void *a, const void *b)
{
        const AldEntity *const *x = a, *const *y = b;

        return strcmp((*x)->sort_key, (*y)->sort_key);
}

static bool leads_to_known_node(AldModel *model, const AldEntity *link)
{
        static const AldId unknown;

        for (size_t kind = 0; kind < ALD_N_KINDS; kind++) {
                char sink[ALD_ID_STRING_SIZE];
                AldLink ends;

                if (!link->records[kind])
                        continue;
                ends = ald_link_of_record(link->records[kind]);
                return ald_id_equal(&ends.sink, &unknown) ||
                       ald_model_get(model, ald_id_format(&ends.sink, sink));
        }
        return true; /* a kind that only a newer version can read */
}

static void sort_entities(AldModel *model)
{
        GHashTableIter iter;
        void *entity;

        if (model->nodes)
                return;
        model->nodes = g_ptr_array_new();
        model->links = g_ptr_array_new();
        g_hash_table_iter_init(&iter, model->entities);
        while (g_hash_table_iter_next(&iter, NULL, &entity))
                g_ptr_array_add(((AldEntity *) entity)->is_link ? model->links : model->nodes, entity);
        g_ptr_array_sort(model->nodes, compare_entities);
        g_ptr_array_sort(model->links, compare_entities);
        model->shown_links = g_ptr_array_new();
        for (guint i = 0; i < model->links->len; i++)
                if (leads_to_known_node(model, model->links->pdata[i]))
                        g_ptr_array_add(model->shown_links, model->links->pdata[i]);
}

const GPtrArray *ald_model_nodes(AldModel *model)
{
        sort_entities(model);
        return model->nodes;
}

const GPtrArray *ald_model_links(AldModel *model)
{
        sort_entities(model);
        return model->links;
}

const GPtrArray *ald_model_shown_links(AldModel *model)
{
        sort_entities(model);
        return model->shown_links;
}

static int compare_ids(const void *a, const void *b)
{
        const AldEntity *const *x = a, *const *y = b;

        return strcmp((*x)->id, (*y)->id);
}

/* Builds the indexes of nodes, since a request may name as many nodes as it has pins. */
static void index_nodes(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);

        if (!model->by_id) {
                model->by_id = g_ptr_array_copy((GPtrArray *) nodes, NULL, NULL);
                g_ptr_array_sort(model->by_id, compare_ids);
        }
        if (model->by_name)
                return;
        model->by_name = g_hash_table_new_full(
                g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
        for (guint i = 0; i < nodes->len; i++) {
                const char *name = ald_entity_name(nodes->pdata[i]);
                GPtrArray *named = name ? g_hash_table_lookup(model->by_name, name) : NULL;

                if (!name)
                        continue;
                if (!named) {
                        named = g_ptr_array_new();
                        g_hash_table_insert(model->by_name, g_strdup(name), named);
                }
                g_ptr_array_add(named, nodes->pdata[i]);
        }
}

static void add_named(AldModel *model, const char *name, GPtrArray *candidates)
{
        const GPtrArray *named = g_hash_table_lookup(model->by_name, name);

        for (guint i = 0; named && i < named->len; i++)
                g_ptr_array_add(candidates, named->pdata[i]);
}

static void add_with_prefix(AldModel *model, const char *prefix, GPtrArray *candidates)
{
        guint low = 0, high = prefix[0] ? model->by_id->len : 0;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (strcmp(((const AldEntity *) model->by_id->pdata[middle])->id, prefix) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; prefix[0] && low < model->by_id->len; low++) {
                AldEntity *node = model->by_id->pdata[low];

                if (!g_str_has_prefix(node->id, prefix))
                        return;
                if (!g_ptr_array_find(candidates, node, NULL))
                        g_ptr_array_add(candidates, node);
        }
}

int ald_model_find(AldModel *model, const char *what, const AldEntity **ret, GPtrArray *ret_candidates)
{
        if (ald_is_node_id(what)) {
                *ret = ald_model_get(model, what);
                return *ret ? 0 : -ENOENT;
        }
        index_nodes(model);
        add_named(model, what, ret_candidates);
        /* Another node may be named like the first digits of a node's id. */
        add_with_prefix(model, what, ret_candidates);
        if (ret_candidates->len != 1)
                return ret_candidates->len == 0 ? -ENOENT : -ENOTUNIQ;
        *ret = ret_candidates->pdata[0];
        return 0;
}

const char *ald_model_closest_name(AldModel *model, const char *what)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        const GPtrArray *nodes = ald_model_nodes(model);

        for (guint i = 0; i < nodes->len; i++) {
                const char *name = ald_entity_name(nodes->pdata[i]);

                if (name)
                        g_ptr_array_add(names, (gpointer) name);
        }
        g_ptr_array_add(names, NULL);
        return ald_closest_name(what, (const char *const *) names->pdata);
}
