/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/model.h"
#include "clients/alidadectl/text.h"
#include "clients/alidadectl/value.h"

#define NODE_ID_LENGTH 32
#define SHORT_ID_LENGTH 8
#define KEY_MAX 512
#define IDENTITY "Node1.Identity" /* the kind of record that holds a node's name */

struct AldModel {
        char *node_id;
        json_t *totals;
        json_t *findings;
        GHashTable *entities; /* id → AldEntity */
        GPtrArray *nodes;     /* sorted, or NULL while that is to be done */
        GPtrArray *links;
        AldModelChanged changed;
        void *userdata;
};

static void entity_free(void *data)
{
        AldEntity *entity = data;

        json_decref(entity->records);
        g_free(entity->id);
        g_free(entity->label);
        g_free(entity->sort_key);
        g_free(entity);
}

AldModel *ald_model_new(void)
{
        AldModel *model = g_new0(AldModel, 1);

        model->totals = json_object();
        model->findings = json_array();
        model->entities = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entity_free);
        return model;
}

static void forget_order(AldModel *model)
{
        g_clear_pointer(&model->nodes, g_ptr_array_unref);
        g_clear_pointer(&model->links, g_ptr_array_unref);
}

void ald_model_free(AldModel *model)
{
        if (!model)
                return;
        forget_order(model);
        g_hash_table_unref(model->entities);
        json_decref(model->totals);
        json_decref(model->findings);
        g_free(model->node_id);
        g_free(model);
}

void ald_model_watch(AldModel *model, AldModelChanged changed, void *userdata)
{
        model->changed = changed;
        model->userdata = userdata;
}

static void tell(AldModel *model, const AldChange *change)
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

/* Whether this names a kind of record of such an entity. */
static bool is_kind(const char *kind, bool is_link)
{
        const char *prefix = is_link ? "Link1." : "Node1.";

        return g_str_has_prefix(kind, prefix) && ald_value_is_name(kind + strlen(prefix));
}

static char *make_label(const AldEntity *entity)
{
        const char *name = ald_field_text(ald_entity_record(entity, IDENTITY), "FriendlyName");
        g_autofree char *label = name ? g_strstrip(ald_text_safe(name)) : NULL;

        if (entity->is_link)
                return ald_text_safe(entity->id);
        return label && label[0] ? g_steal_pointer(&label) : g_strndup(entity->id, SHORT_ID_LENGTH);
}

static void name_entity(AldModel *model, AldEntity *entity)
{
        g_autofree char *folded = NULL, *key = NULL, *label = make_label(entity);

        if (g_strcmp0(entity->label, label) == 0)
                return;
        folded = g_utf8_casefold(label, -1);
        g_free(entity->sort_key);
        key = g_utf8_collate_key_for_filename(folded, -1); /* node-9 comes before node-10 */
        entity->sort_key = g_strconcat(key, "\n", entity->id, NULL);
        g_free(entity->label);
        entity->label = g_steal_pointer(&label);
        forget_order(model);
}

static int ensure_entity(AldModel *model, const char *id, const char *kind, AldEntity **ret)
{
        AldEntity *entity = g_hash_table_lookup(model->entities, id);
        bool is_link = is_link_id(id);

        if ((!is_link && !ald_is_node_id(id)) || !is_kind(kind, is_link))
                return -EINVAL;
        if (!entity) {
                if (g_hash_table_size(model->entities) >= ALD_MODEL_ENTITIES_MAX)
                        return -E2BIG;
                entity = g_new0(AldEntity, 1);
                entity->id = g_strdup(id);
                entity->is_link = is_link;
                entity->records = json_object();
                g_hash_table_insert(model->entities, entity->id, entity);
                name_entity(model, entity);
                forget_order(model);
        } else if (!json_object_get(entity->records, kind) &&
                   json_object_size(entity->records) >= ALD_MODEL_KINDS_MAX)
                return -E2BIG;
        *ret = entity;
        return 0;
}

/* Changes the fields in place and leaves in `changed` and `gone` what is different now. */
static void merge_fields(json_t *into, json_t *fields, json_t *absent, json_t *changed, json_t *gone)
{
        const char *name;
        json_t *value;
        size_t i;

        json_object_foreach(fields, name, value) {
                if (json_equal(json_object_get(into, name), value))
                        continue;
                json_object_set(into, name, value);
                json_object_set(changed, name, value);
        }
        json_array_foreach(absent, i, value) {
                if (json_object_del(into, json_string_value(value)) == 0)
                        json_array_append(gone, value);
        }
}

/* Merges into a record, or into the totals where there is no entity, and tells what changed. */
static void merge_and_tell(AldModel *model, const AldEntity *entity, const char *kind, json_t *into,
        json_t *fields, json_t *absent)
{
        json_t *changed = json_object(), *gone = json_array();

        merge_fields(into, fields, absent, changed, gone);
        if (json_object_size(changed) > 0 || json_array_size(gone) > 0)
                tell(model, &(AldChange){ .type = ALD_CHANGE_CHANGED,
                                    .entity = entity,
                                    .kind = kind,
                                    .fields = changed,
                                    .absent = gone });
        json_decref(changed);
        json_decref(gone);
}

/* The names of those fields of a that b lacks. */
static json_t *names_missing(json_t *a, json_t *b)
{
        json_t *missing = json_array(), *value;
        const char *name;

        json_object_foreach(a, name, value) {
                if (!json_object_get(b, name))
                        json_array_append_new(missing, json_string(name));
        }
        return missing;
}

static int add_record(AldModel *model, AldEntity *entity, const char *kind, json_t *fields)
{
        json_object_set(entity->records, kind, fields);
        if (strcmp(kind, IDENTITY) == 0)
                name_entity(model, entity);
        tell(model,
                &(AldChange){ .type = ALD_CHANGE_ADDED, .entity = entity, .kind = kind, .fields = fields });
        return 0;
}

int ald_model_put(AldModel *model, const char *id, const char *kind, json_t *fields)
{
        AldEntity *entity;
        json_t *old, *absent;
        int r;

        r = ensure_entity(model, id, kind, &entity);
        if (r < 0)
                return r;
        old = json_object_get(entity->records, kind);
        if (!old)
                return add_record(model, entity, kind, fields);
        absent = names_missing(old, fields);
        r = ald_model_update(model, id, kind, fields, absent);
        json_decref(absent);
        return r;
}

int ald_model_update(AldModel *model, const char *id, const char *kind, json_t *fields, json_t *absent)
{
        AldEntity *entity;
        json_t *record;
        int r;

        r = ensure_entity(model, id, kind, &entity);
        if (r < 0)
                return r;
        record = json_object_get(entity->records, kind);
        if (!record)
                return add_record(model, entity, kind, fields);
        merge_and_tell(model, entity, kind, record, fields, absent);
        if (strcmp(kind, IDENTITY) == 0)
                name_entity(model, entity);
        return 0;
}

void ald_model_remove(AldModel *model, const char *id, const char *kind)
{
        AldEntity *entity = g_hash_table_lookup(model->entities, id);
        g_autofree char *name = g_strdup(kind); /* the caller's may be the key that goes */

        if (!entity || json_object_del(entity->records, name) < 0)
                return;
        tell(model, &(AldChange){ .type = ALD_CHANGE_REMOVED, .entity = entity, .kind = name });
        if (json_object_size(entity->records) == 0) {
                forget_order(model);
                g_hash_table_remove(model->entities, id);
        } else if (strcmp(name, IDENTITY) == 0)
                name_entity(model, entity);
}

void ald_model_set_node_id(AldModel *model, const char *id)
{
        g_free(model->node_id);
        model->node_id = g_strdup(id && ald_is_node_id(id) ? id : NULL);
}

void ald_model_update_totals(AldModel *model, json_t *fields, json_t *absent)
{
        merge_and_tell(model, NULL, NULL, model->totals, fields, absent);
}

void ald_model_set_findings(AldModel *model, json_t *findings)
{
        json_incref(findings);
        json_decref(model->findings);
        model->findings = findings;
}

/* Removes what another model does not have. */
static void remove_missing(AldModel *model, AldModel *other)
{
        g_autofree char **ids = (char **) g_hash_table_get_keys_as_array(model->entities, NULL);

        for (char **id = ids; *id; id++) {
                const AldEntity *mine = g_hash_table_lookup(model->entities, *id);
                const AldEntity *theirs = g_hash_table_lookup(other->entities, *id);
                g_autofree char *copy = g_strdup(*id);
                json_t *missing = names_missing(mine->records, theirs ? theirs->records : NULL);
                json_t *kind;
                size_t i;

                json_array_foreach(missing, i, kind)
                        ald_model_remove(model, copy, json_string_value(kind));
                json_decref(missing);
        }
}

void ald_model_replace(AldModel *model, AldModel *other)
{
        const GPtrArray *lists[] = { ald_model_nodes(other), ald_model_links(other) };
        json_t *absent = names_missing(model->totals, other->totals);

        ald_model_set_node_id(model, other->node_id);
        remove_missing(model, other);
        for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
                for (guint i = 0; i < lists[l]->len; i++) {
                        const AldEntity *entity = lists[l]->pdata[i];
                        const char *kind;
                        json_t *fields;

                        json_object_foreach(entity->records, kind, fields) {
                                ald_model_put(model, entity->id, kind, fields);
                        }
                }
        ald_model_update_totals(model, other->totals, absent);
        ald_model_set_findings(model, other->findings);
        json_decref(absent);
        forget_order(other);
        g_hash_table_remove_all(other->entities);
}

const char *ald_model_node_id(AldModel *model)
{
        return model->node_id;
}

json_t *ald_model_totals(AldModel *model)
{
        return model->totals;
}

json_t *ald_model_findings(AldModel *model)
{
        return model->findings;
}

const AldEntity *ald_model_get(AldModel *model, const char *id)
{
        return id ? g_hash_table_lookup(model->entities, id) : NULL;
}

json_t *ald_entity_record(const AldEntity *entity, const char *kind)
{
        return entity ? json_object_get(entity->records, kind) : NULL;
}

double ald_entity_updated(const AldEntity *entity)
{
        double newest = NAN;
        const char *kind;
        json_t *fields;

        json_object_foreach(entity->records, kind, fields) {
                if (strcmp(kind, ALD_KIND_OF_PRESENCE) != 0)
                        newest = fmax(newest, ald_field_number(fields, "UpdatedUSec"));
        }
        return newest;
}

static int compare_entities(const void *a, const void *b)
{
        const AldEntity *const *x = a, *const *y = b;

        return strcmp((*x)->sort_key, (*y)->sort_key);
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

static bool has_name(const AldEntity *entity, const char *name)
{
        const char *own = ald_field_text(ald_entity_record(entity, IDENTITY), "FriendlyName");

        return own && strcmp(own, name) == 0;
}

static bool has_prefix(const AldEntity *entity, const char *prefix)
{
        return prefix[0] && g_str_has_prefix(entity->id, prefix);
}

int ald_model_find(AldModel *model, const char *what, const AldEntity **ret, GPtrArray *ret_candidates)
{
        bool (*const tests[])(const AldEntity *entity, const char *what) = { has_name, has_prefix };
        const GPtrArray *nodes = ald_model_nodes(model);

        if (ald_is_node_id(what)) {
                *ret = ald_model_get(model, what);
                return *ret ? 0 : -ENOENT;
        }
        for (size_t t = 0; t < G_N_ELEMENTS(tests); t++) {
                for (guint i = 0; i < nodes->len; i++)
                        if (tests[t](nodes->pdata[i], what))
                                g_ptr_array_add(ret_candidates, nodes->pdata[i]);
                if (ret_candidates->len > 1)
                        return -ENOTUNIQ;
                if (ret_candidates->len == 1) {
                        *ret = ret_candidates->pdata[0];
                        return 0;
                }
        }
        return -ENOENT;
}

json_t *ald_entities_to_json(const GPtrArray *entities)
{
        json_t *object = json_object();

        for (guint i = 0; i < entities->len; i++) {
                const AldEntity *entity = entities->pdata[i];

                json_object_set(object, entity->id, entity->records);
        }
        return object;
}

json_t *ald_model_to_json(AldModel *model)
{
        json_t *object = json_object();

        if (model->node_id)
                json_object_set_new(object, "NodeId", json_string(model->node_id));
        json_object_set(object, "Totals", model->totals);
        json_object_set_new(object, "Nodes", ald_entities_to_json(ald_model_nodes(model)));
        json_object_set_new(object, "Links", ald_entities_to_json(ald_model_links(model)));
        json_object_set(object, "Findings", model->findings);
        return object;
}
