/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state-client/model-json.h"
#include "record/json.h"

/* Fields of the envelope, which are not in the field table of a kind. */
#define REVISION "Revision"
#define UPDATED "UpdatedUSec"

static void set_integer(json_t *object, const char *name, uint64_t value)
{
        if (value > 0)
                json_object_set_new(object, name, json_integer((json_int_t) value));
}

/* Adds unknown fields of rows to the row with the same Id. */
static void merge_rows(json_t *rows, json_t *raw_rows)
{
        json_t *row, *raw;
        size_t i, k;

        json_array_foreach(raw_rows, i, raw) {
                json_t *id = json_object_get(raw, "Id");

                json_array_foreach(rows, k, row) {
                        if (id && json_equal(json_object_get(row, "Id"), id))
                                json_object_update(row, raw);
                }
        }
}

static void merge_raw(json_t *object, json_t *raw)
{
        const char *name;
        json_t *value, *known;

        json_object_foreach(raw, name, value) {
                known = json_object_get(object, name);
                if (!known)
                        json_object_set(object, name, value);
                else if (json_is_array(known))
                        merge_rows(known, value);
        }
}

static json_t *record_to_json(const AldRecord *record, json_t *raw)
{
        json_t *object = ald_record_to_json(record);

        set_integer(object, REVISION, record->revision);
        set_integer(object, UPDATED, record->updated_usec);
        merge_raw(object, raw);
        return object;
}

json_t *ald_entity_to_json(const AldEntity *entity)
{
        json_t *object = json_object(), *fields;
        const char *kind;

        for (size_t i = 0; i < ALD_N_KINDS; i++)
                if (entity->records[i])
                        json_object_set_new(object, ald_kinds[i].name,
                                record_to_json(
                                        entity->records[i], ald_entity_raw(entity, ald_kinds[i].name)));
        json_object_foreach(entity->raw, kind, fields) {
                if (ald_kind_from_name(kind) < 0)
                        json_object_set(object, kind, fields);
        }
        return object;
}

json_t *ald_entities_to_json(const GPtrArray *entities)
{
        json_t *object = json_object();

        for (guint i = 0; i < entities->len; i++) {
                const AldEntity *entity = entities->pdata[i];

                json_object_set_new(object, entity->id, ald_entity_to_json(entity));
        }
        return object;
}

json_t *ald_model_names_to_json(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        json_t *names = json_object();

        for (guint i = 0; i < nodes->len; i++) {
                const AldEntity *node = nodes->pdata[i];

                if (ald_entity_name(node))
                        json_object_set_new(names, node->id, json_string(ald_entity_name(node)));
        }
        return names;
}

json_t *ald_model_to_json(AldModel *model)
{
        json_t *object = json_object();

        if (ald_model_node_id(model))
                json_object_set_new(object, "NodeId", json_string(ald_model_node_id(model)));
        json_object_set(object, "Totals", ald_model_totals_json(model));
        json_object_set_new(object, "Nodes", ald_entities_to_json(ald_model_nodes(model)));
        json_object_set_new(object, "Links", ald_entities_to_json(ald_model_shown_links(model)));
        json_object_set(object, "Findings", ald_model_findings_json(model));
        return object;
}

/* Drops the fields of the table that have not changed. */
static void keep_changed(json_t *object, const AldChange *change)
{
        const AldStruct *type = ald_record_type(change->record);

        for (size_t i = 0; i < type->n_fields; i++)
                if (!(change->fields & (UINT64_C(1) << i)) &&
                        !json_object_get(change->raw, type->fields[i].name))
                        json_object_del(object, type->fields[i].name);
        if (change->record->revision == change->before->revision)
                json_object_del(object, REVISION);
        if (change->record->updated_usec == change->before->updated_usec)
                json_object_del(object, UPDATED);
}

json_t *ald_change_fields_to_json(const AldChange *change)
{
        json_t *object;

        if (change->type == ALD_CHANGE_REMOVED)
                return NULL;
        if (!change->record)
                return change->raw ? json_incref(change->raw) : json_object();
        object = record_to_json(change->record, change->raw);
        if (change->before)
                keep_changed(object, change);
        return object;
}

json_t *ald_change_absent_to_json(const AldChange *change)
{
        json_t *names = json_array();

        if (change->type == ALD_CHANGE_CHANGED && change->record) {
                const AldStruct *type = ald_record_type(change->record);

                for (size_t i = 0; i < type->n_fields; i++)
                        if ((change->fields & (UINT64_C(1) << i)) &&
                                ald_field_is_absent(
                                        &type->fields[i], ald_record_field(change->record, &type->fields[i])))
                                json_array_append_new(names, json_string(type->fields[i].name));
        }
        json_array_extend(names, change->raw_absent);
        return names;
}
