/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/json.h"
#include "state-client/value.h"
#include "tests/unit/model-maker.h"

const char model_atlas[] =
        "{'Node1.Identity':{'FriendlyName':'atlas'},"
        "'Node1.Memory':{'TotalBytes':68719476736,'AvailableBytes':17179869184,'UpdatedUSec':"
        "1699999997000000},"
        "'Node1.System':{'CpuUsage':12.0,'Devices':[{'Id':'gpu0','Usage':20.0,'MemoryUsedBytes':1},"
        "  {'Id':'gpu1','PowerState':'asleep'},{'Id':'gpu2','Usage':40.0}]},"
        "'Node1.Backends':{'Devices':[{'Id':'gpu0','Class':'gpu','Name':'Big','MemoryTotalBytes':1073741824},"
        "  {'Id':'gpu1','Class':'gpu','Unified':true},{'Id':'cpu','Class':'cpu'}]},"
        "'Node1.Compute':{'Devices':[{'Id':'gpu0','TflopsFp16':10.0,'MemoryBandwidthBytesPerSecond':100},"
        "  {'Id':'gpu1','TflopsFp16':5.0},{'Id':'cpu','MemoryBandwidthBytesPerSecond':7}]},"
        "'Node1.Network':{'Interfaces':[{'Id':'lo','Type':'loopback','Addresses':['192.0.2.9/8']},"
        "  {'Id':'e','Addresses':['192.0.2.1/24','fe80::1/64','169.254.1.1/16']},{'Id':'v','Type':'veth',"
        "  'Addresses':['192.0.2.7/24']}]}}";

json_t *model_parse(const char *text)
{
        g_autofree char *quoted = g_strdelimit(g_strdup(text), "'", '"');
        json_error_t error;
        json_t *value = json_loads(quoted, 0, &error);

        if (!value)
                g_error("%s: %s", error.text, quoted);
        return value;
}

/* As messages are read: what cannot name a field is not there. */
static void drop_bad_names(json_t *value)
{
        const char *name;
        json_t *inner;
        void *next;
        size_t i;

        json_object_foreach_safe(value, next, name, inner)
        {
                if (ald_value_is_name(name))
                        drop_bad_names(inner);
                else
                        json_object_del(value, name);
        }
        json_array_foreach(value, i, inner) {
                drop_bad_names(inner);
        }
}

/* The fields that the kind does not have, or NULL. */
static json_t *raw_fields(AldKind kind, json_t *fields)
{
        json_t *raw = json_object(), *value;
        const char *name;

        json_object_foreach(fields, name, value) {
                if (!ald_struct_find(ald_kinds[kind].type, name) && !g_str_equal(name, "UpdatedUSec") &&
                        !g_str_equal(name, "Revision"))
                        json_object_set(raw, name, value);
        }
        if (json_object_size(raw) > 0)
                return raw;
        json_decref(raw);
        return NULL;
}

static int put_known(AldModel *model, const char *id, AldKind kind, json_t *fields)
{
        json_int_t updated = json_integer_value(json_object_get(fields, "UpdatedUSec"));
        g_autoptr(AldRecord) record = NULL;
        json_t *raw;
        int r;

        r = ald_record_from_json(kind, fields, &record, NULL);
        if (r < 0)
                return r;
        record->updated_usec = updated > 0 ? (uint64_t) updated : 0;
        raw = raw_fields(kind, fields);
        r = ald_model_put(model, id, record, raw);
        json_decref(raw);
        return r;
}

int model_put_json(AldModel *model, const char *id, const char *kind, const json_t *fields)
{
        json_t *copy = json_deep_copy(fields);
        int known = ald_kind_from_name(kind), r;

        drop_bad_names(copy);
        r = known >= 0 ? put_known(model, id, (AldKind) known, copy)
                       : ald_model_put_raw(model, id, kind, copy);
        json_decref(copy);
        return r;
}

void model_put(AldModel *model, const char *id, const char *kind, const char *text)
{
        json_t *fields = model_parse(text);

        g_assert_cmpint(model_put_json(model, id, kind, fields), ==, 0);
        json_decref(fields);
}

char *model_id(unsigned number)
{
        return g_strdup_printf("%032x", number);
}

void model_put_node(AldModel *model, unsigned number, const char *records)
{
        json_t *object = model_parse(records), *fields;
        g_autofree char *id = model_id(number);
        const char *kind;

        json_object_foreach(object, kind, fields) {
                g_assert_cmpint(model_put_json(model, id, kind, fields), ==, 0);
        }
        json_decref(object);
}

const AldEntity *model_node(AldModel *model, unsigned number)
{
        g_autofree char *id = model_id(number);
        const AldEntity *node = ald_model_get(model, id);

        g_assert_nonnull(node);
        return node;
}

/* Findings with the JSON into which their strings point. */
typedef struct Findings {
        GArray *rows;
        GPtrArray *lists;
        json_t *json;
} Findings;

static void findings_free(void *data)
{
        Findings *findings = data;

        g_array_unref(findings->rows);
        g_ptr_array_unref(findings->lists);
        json_decref(findings->json);
        g_free(findings);
}

static const char *text_of(const json_t *row, const char *name)
{
        const char *text = json_string_value(json_object_get(row, name));

        return text && text[0] ? text : NULL;
}

static const char *const *list_of(Findings *findings, const json_t *list)
{
        GPtrArray *strings = g_ptr_array_new();
        json_t *item;
        size_t i;

        json_array_foreach(list, i, item)
                if (json_is_string(item))
                        g_ptr_array_add(strings, (gpointer) json_string_value(item));
        g_ptr_array_add(strings, NULL);
        g_ptr_array_add(findings->lists, strings);
        return (const char *const *) strings->pdata;
}

static void add_row(Findings *findings, json_t *object)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        const json_t *left_out = json_object_get(object, "LeftOut");

        row.id = text_of(object, "Id");
        row.severity = text_of(object, "Severity");
        row.text = text_of(object, "Text");
        row.remedy = text_of(object, "Remedy");
        row.nodes = list_of(findings, json_object_get(object, "Nodes"));
        if (json_is_integer(left_out))
                row.left_out = (uint64_t) json_integer_value(left_out);
        g_array_append_val(findings->rows, row);
        json_array_append(findings->json, object);
}

void model_set_findings(AldModel *model, json_t *findings)
{
        Findings *made = g_new0(Findings, 1);
        json_t *object;
        AldRows rows;
        size_t i;

        made->rows = g_array_new(FALSE, FALSE, sizeof(AldFindingRow));
        made->lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
        made->json = json_array();
        json_array_foreach(findings, i, object)
                if (json_is_object(object))
                        add_row(made, object);
        rows = (AldRows){ &ald_finding_row_struct, made->rows->data, made->rows->len };
        ald_model_set_findings(model, &rows, made->json, made, findings_free);
}
