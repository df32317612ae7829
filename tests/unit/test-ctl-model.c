/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "clients/alidadectl/model.h"

#define A "00000000000000000000000000000001"
#define B "00000000000000000000000000000002"
#define C "10000000000000000000000000000003"
#define LINK A "/" B ",192.0.2.2"

static void put(AldModel *model, const char *id, const char *kind, json_t *fields)
{
        g_assert_cmpint(ald_model_put(model, id, kind, fields), ==, 0);
        json_decref(fields);
}

static void put_name(AldModel *model, const char *id, const char *name)
{
        put(model, id, "Node1.Identity", json_pack("{s:s}", "FriendlyName", name));
}

/* What was told, as text: "changed ID KIND {fields} [absent]". */
static void record_change(AldModel *model, const AldChange *change, void *userdata)
{
        static const char *const names[] = { "added", "changed", "removed" };
        GString *log = userdata;
        char *fields = change->fields ? json_dumps(change->fields, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        char *absent = change->absent ? json_dumps(change->absent, JSON_COMPACT) : NULL;

        g_string_append_printf(log, "%s %s %s %s %s\n", names[change->type],
                change->entity ? change->entity->label : "totals", change->kind ? change->kind : "-",
                fields ? fields : "-", absent ? absent : "-");
        free(fields);
        free(absent);
}

static void assert_told(GString *log, const char *expected)
{
        g_assert_cmpstr(log->str, ==, expected);
        g_string_truncate(log, 0);
}

static void test_changes(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) log = g_string_new(NULL);
        json_t *absent = json_pack("[ss]", "Power", "Never");
        json_t *update = json_pack("{s:i,s:i}", "Usage", 4, "Same", 1);

        ald_model_watch(model, record_change, log);
        put(model, A, "Node1.System", json_pack("{s:i,s:i,s:i}", "Usage", 3, "Same", 1, "Power", 7));
        assert_told(log, "added 00000000 Node1.System {\"Power\":7,\"Same\":1,\"Usage\":3} -\n");
        g_assert_cmpint(ald_model_update(model, A, "Node1.System", update, absent), ==, 0);
        assert_told(log, "changed 00000000 Node1.System {\"Usage\":4} [\"Power\"]\n");
        g_assert_cmpint(ald_model_update(model, A, "Node1.System", update, absent), ==, 0);
        assert_told(log, "");
        /* A whole record that lacks a field takes it away. */
        put(model, A, "Node1.System", json_pack("{s:i}", "Same", 1));
        assert_told(log, "changed 00000000 Node1.System {} [\"Usage\"]\n");
        /* A signal for a record that was never announced. */
        g_assert_cmpint(ald_model_update(model, B, "Node1.System", update, absent), ==, 0);
        assert_told(log, "added 00000000 Node1.System {\"Same\":1,\"Usage\":4} -\n");
        ald_model_remove(model, A, "Node1.System");
        assert_told(log, "removed 00000000 Node1.System - -\n");
        g_assert_null(ald_model_get(model, A));
        ald_model_remove(model, A, "Node1.System");
        assert_told(log, "");
        json_decref(absent);
        json_decref(update);
}

static void test_replace(void)
{
        g_autoptr(AldModel) model = ald_model_new(), fresh = ald_model_new();
        g_autoptr(GString) log = g_string_new(NULL);
        json_t *totals = json_pack("{s:i}", "Nodes", 2);

        put_name(model, A, "same");
        put_name(model, B, "goes");
        put(model, A, "Node1.Memory", json_pack("{s:i}", "TotalBytes", 1));
        put(model, A, "Node1.Disk", json_pack("{s:i}", "X", 1));
        put_name(fresh, A, "same");
        put(fresh, A, "Node1.Memory", json_pack("{s:i}", "TotalBytes", 2));
        put_name(fresh, C, "comes");
        ald_model_set_node_id(fresh, A);
        ald_model_update_totals(fresh, totals, NULL);
        ald_model_watch(model, record_change, log);
        ald_model_replace(model, fresh);
        g_assert_cmpuint(ald_model_nodes(model)->len, ==, 2);
        g_assert_cmpstr(ald_model_node_id(model), ==, A);
        /* The order of what went is that of a hash table. */
        g_assert_nonnull(strstr(log->str, "removed goes Node1.Identity - -\n"));
        g_assert_nonnull(strstr(log->str, "removed same Node1.Disk - -\n"));
        g_assert_true(g_str_has_suffix(log->str, "added comes Node1.Identity {\"FriendlyName\":\"comes\"} -\n"
                                                 "changed same Node1.Memory {\"TotalBytes\":2} []\n"
                                                 "changed totals - {\"Nodes\":2} []\n"));
        g_assert_cmpuint(ald_model_nodes(fresh)->len, ==, 0);
        json_decref(totals);
}

static void test_bounds(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        static const struct {
                const char *id, *kind;
        } bad[] = {
                { "", "Node1.Memory" },
                { "zz", "Node1.Memory" },
                { A "0", "Node1.Memory" },
                { "0000000000000000000000000000000G", "Node1.Memory" },
                { A, "Link1.Socket" },
                { A, "Node1." },
                { A, "Node1.a b" },
                { A, "State1" },
                { A "/", "Link1.Socket" },
                { LINK, "Node1.Memory" },
                { A "/\xff", "Link1.Socket" },
        };
        json_t *fields = json_object();

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_cmpint(ald_model_put(model, bad[i].id, bad[i].kind, fields), ==, -EINVAL);
        g_assert_cmpint(ald_model_put(model, LINK, "Link1.Socket", fields), ==, 0);
        for (unsigned i = 0; i < ALD_MODEL_KINDS_MAX; i++) {
                g_autofree char *kind = g_strdup_printf("Node1.K%u", i);

                g_assert_cmpint(ald_model_put(model, A, kind, fields), ==, 0);
        }
        g_assert_cmpint(ald_model_put(model, A, "Node1.Memory", fields), ==, -E2BIG);
        g_assert_cmpint(ald_model_put(model, A, "Node1.K0", fields), ==, 0);
        g_assert_cmpuint(ald_model_nodes(model)->len, ==, 1);
        g_assert_cmpuint(ald_model_links(model)->len, ==, 1);
        json_decref(fields);
}

static void test_names(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const GPtrArray *nodes;

        put(model, A, "Node1.Memory", json_object());
        g_assert_cmpstr(ald_model_get(model, A)->label, ==, "00000000");
        put_name(model, A, "node-10");
        put_name(model, B, "Node-9");
        put_name(model, C, "node-\033[1m");
        nodes = ald_model_nodes(model);
        g_assert_cmpstr(((AldEntity *) nodes->pdata[0])->label, ==, "Node-9");
        g_assert_cmpstr(((AldEntity *) nodes->pdata[1])->label, ==, "node-10");
        g_assert_cmpstr(((AldEntity *) nodes->pdata[2])->label, ==, "node-�[1m");
        put_name(model, A, "  ");
        g_assert_cmpstr(ald_model_get(model, A)->label, ==, "00000000");
        ald_model_remove(model, B, "Node1.Identity");
        g_assert_null(ald_model_get(model, B));
}

static int find(AldModel *model, const char *what, const char **ret_id, unsigned *ret_n)
{
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        const AldEntity *node = NULL;
        int r = ald_model_find(model, what, &node, candidates);

        *ret_id = node ? node->id : NULL;
        *ret_n = candidates->len;
        return r;
}

static void test_find(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const char *id;
        unsigned n;

        put_name(model, A, "atlas");
        put_name(model, B, "twin");
        put_name(model, C, "twin");
        put(model, LINK, "Link1.Socket", json_object());
        g_assert_cmpint(find(model, A, &id, &n), ==, 0);
        g_assert_cmpstr(id, ==, A);
        g_assert_cmpint(find(model, "atlas", &id, &n), ==, 0);
        g_assert_cmpstr(id, ==, A);
        g_assert_cmpint(find(model, "1", &id, &n), ==, 0);
        g_assert_cmpstr(id, ==, C);
        g_assert_cmpint(find(model, "twin", &id, &n), ==, -ENOTUNIQ);
        g_assert_cmpuint(n, ==, 2);
        g_assert_cmpint(find(model, "000", &id, &n), ==, -ENOTUNIQ);
        g_assert_cmpint(find(model, "", &id, &n), ==, -ENOENT);
        g_assert_cmpint(find(model, "nobody", &id, &n), ==, -ENOENT);
        g_assert_cmpint(find(model, LINK, &id, &n), ==, -ENOENT);
        /* A name is meant before a begin of an id. */
        put_name(model, B, "1");
        g_assert_cmpint(find(model, "1", &id, &n), ==, 0);
        g_assert_cmpstr(id, ==, B);
}

static void test_updated(void)
{
        g_autoptr(AldModel) model = ald_model_new();

        put(model, A, "Node1.Memory", json_object());
        g_assert_true(isnan(ald_entity_updated(ald_model_get(model, A))));
        put(model, A, "Node1.System", json_pack("{s:i}", "UpdatedUSec", 7));
        put(model, A, "Node1.Disk", json_pack("{s:i}", "UpdatedUSec", 5));
        g_assert_cmpfloat(ald_entity_updated(ald_model_get(model, A)), ==, 7);
}

static void test_json(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        json_t *findings = json_pack("[{s:s}]", "Id", "loop"), *found;
        char *text;

        ald_model_set_node_id(model, "no id");
        g_assert_null(ald_model_node_id(model));
        ald_model_set_node_id(model, A);
        put_name(model, A, "atlas");
        put(model, LINK, "Link1.Socket", json_pack("{s:I}", "Streams", INT64_C(9007199254740992)));
        ald_model_set_findings(model, findings);
        found = ald_model_to_json(model);
        text = json_dumps(found, JSON_COMPACT);
        g_assert_cmpstr(text, ==,
                "{\"NodeId\":\"" A "\",\"Totals\":{},"
                "\"Nodes\":{\"" A "\":{\"Node1.Identity\":{\"FriendlyName\":\"atlas\"}}},"
                "\"Links\":{\"" LINK "\":{\"Link1.Socket\":{\"Streams\":9007199254740992}}},"
                "\"Findings\":[{\"Id\":\"loop\"}]}");
        free(text);
        json_decref(found);
        json_decref(findings);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl/model/changes", test_changes);
        g_test_add_func("/ctl/model/replace", test_replace);
        g_test_add_func("/ctl/model/bounds", test_bounds);
        g_test_add_func("/ctl/model/names", test_names);
        g_test_add_func("/ctl/model/find", test_find);
        g_test_add_func("/ctl/model/updated", test_updated);
        g_test_add_func("/ctl/model/json", test_json);
        return g_test_run();
}
