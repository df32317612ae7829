/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "record/id.h"
#include "state-client/model-json.h"
#include "state-client/value.h"
#include "tests/unit/model-maker.h"

#define A "00000000000000000000000000000001"
#define B "00000000000000000000000000000002"
#define C "10000000000000000000000000000003"
#define LINK A "/" B ",192.0.2.2"

static void put_name(AldModel *model, const char *id, const char *name)
{
        json_t *fields = json_pack("{s:s}", "FriendlyName", name);

        g_assert_cmpint(model_put_json(model, id, "Node1.Identity", fields), ==, 0);
        json_decref(fields);
}

static char *dump(json_t *value)
{
        char *text = json_dumps(value, JSON_COMPACT), *copy = g_strdup(text ?: "-");

        free(text);
        json_decref(value);
        return copy;
}

/* The reported changes, as text: "changed ID KIND {fields} [absent]". */
static void record_change(AldModel *model, const AldChange *change, void *userdata)
{
        static const char *const names[] = { "added", "changed", "removed" };
        g_autofree char *fields = dump(ald_change_fields_to_json(change));
        g_autofree char *absent = dump(ald_change_absent_to_json(change));
        GString *log = userdata;

        g_string_append_printf(log, "%s %s %s %s %s\n", names[change->type],
                change->entity ? change->entity->id + ALD_ID_STRING_SIZE - 2 : "totals", change->kind ?: "-",
                fields, absent);
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

        ald_model_watch(model, record_change, log);
        model_put(model, A, "Node1.Memory", "{'TotalBytes':3,'AvailableBytes':1,'UpdatedUSec':7}");
        assert_told(
                log, "added 1 Node1.Memory {\"TotalBytes\":3,\"AvailableBytes\":1,\"UpdatedUSec\":7} []\n");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':4,'UpdatedUSec':7}");
        assert_told(log, "changed 1 Node1.Memory {\"TotalBytes\":4} [\"AvailableBytes\"]\n");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':4,'UpdatedUSec':7}");
        assert_told(log, "");
        /* The envelope alone. */
        model_put(model, A, "Node1.Memory", "{'TotalBytes':4,'UpdatedUSec':8}");
        assert_told(log, "changed 1 Node1.Memory {\"UpdatedUSec\":8} []\n");
        ald_model_remove(model, A, "Node1.Memory");
        assert_told(log, "removed 1 Node1.Memory - []\n");
        g_assert_null(ald_model_get(model, A));
        ald_model_remove(model, A, "Node1.Memory");
        assert_told(log, "");
}

static void check_types(AldModel *model, const AldChange *change, void *userdata)
{
        const AldMemory *now = ald_record_as(change->record, MEMORY, AldMemory);
        const AldMemory *before = ald_record_as(change->before, MEMORY, AldMemory);
        unsigned *calls = userdata;

        switch ((*calls)++) {
        case 0:
                g_assert_true(change->type == ALD_CHANGE_ADDED && !before);
                g_assert_cmpuint(now->total_bytes, ==, 3);
                g_assert_true(ald_entity_as(change->entity, MEMORY, AldMemory) == now);
                break;
        case 1:
                g_assert_true(change->type == ALD_CHANGE_CHANGED);
                g_assert_cmpuint(before->total_bytes, ==, 3);
                g_assert_cmpuint(now->total_bytes, ==, 4);
                g_assert_cmpuint(change->fields, ==, ald_record_diff(change->before, change->record));
                g_assert_cmpuint(change->fields, !=, 0);
                break;
        default:
                g_assert_true(change->type == ALD_CHANGE_REMOVED && !now);
                g_assert_cmpuint(before->total_bytes, ==, 4);
        }
}

static void test_typed_changes(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        unsigned calls = 0;

        ald_model_watch(model, check_types, &calls);
        model_put(model, A, "Node1.Memory", "{'TotalBytes':3}");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':4}");
        ald_model_remove(model, A, "Node1.Memory");
        g_assert_cmpuint(calls, ==, 3);
}

/* Kinds and fields of a newer peer. */
static void test_raw(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) log = g_string_new(NULL);

        ald_model_watch(model, record_change, log);
        model_put(model, A, "Node1.Future", "{'Colour':'red','UpdatedUSec':9}");
        assert_told(log, "added 1 Node1.Future {\"Colour\":\"red\",\"UpdatedUSec\":9} []\n");
        g_assert_cmpuint(ald_entity_updated(ald_model_get(model, A)), ==, 9);
        model_put(model, A, "Node1.Future", "{'Smell':'sweet','UpdatedUSec':9}");
        assert_told(log, "changed 1 Node1.Future {\"Smell\":\"sweet\"} [\"Colour\"]\n");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':3,'Colour':'red'}");
        assert_told(log, "added 1 Node1.Memory {\"TotalBytes\":3,\"Colour\":\"red\"} []\n");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':3,'Colour':'blue'}");
        assert_told(log, "changed 1 Node1.Memory {\"Colour\":\"blue\"} []\n");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':3}");
        assert_told(log, "changed 1 Node1.Memory {} [\"Colour\"]\n");
        ald_model_remove(model, A, "Node1.Memory");
        assert_told(log, "removed 1 Node1.Memory - []\n");
        ald_model_remove(model, A, "Node1.Future");
        assert_told(log, "removed 1 Node1.Future - []\n");
        g_assert_null(ald_model_get(model, A));
}

/* A field that was raw, with another type, is reported with its value in the record. */
static void test_raw_then_known(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) log = g_string_new(NULL);
        g_autoptr(AldRecord) record = NULL;
        json_t *raw = model_parse("{'AvailableBytes':'some','TotalBytes':'all'}");

        model_put(model, A, "Node1.Memory", "{}");
        record = ald_record_ref((AldRecord *) ald_entity_record(ald_model_get(model, A), ALD_KIND_MEMORY));
        g_assert_cmpint(ald_model_put(model, A, record, raw), ==, 0);
        json_decref(raw);
        ald_model_watch(model, record_change, log);
        model_put(model, A, "Node1.Memory", "{'TotalBytes':3}");
        assert_told(log, "changed 1 Node1.Memory {\"TotalBytes\":3} [\"AvailableBytes\"]\n");
}

static void test_raw_rows_as_json(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *text = NULL;
        g_autoptr(AldRecord) record = NULL;
        json_t *raw = model_parse("{'Interfaces':[{'Id':'eth1','Colour':'red'},{'Id':'gone','Colour':'x'}]}");

        model_put(model, A, "Node1.Network", "{'Interfaces':[{'Id':'eth0'},{'Id':'eth1'}]}");
        record = ald_record_ref((AldRecord *) ald_entity_record(ald_model_get(model, A), ALD_KIND_NETWORK));
        g_assert_cmpint(ald_model_put(model, A, record, raw), ==, 0);
        json_decref(raw);
        text = dump(ald_entity_to_json(ald_model_get(model, A)));
        g_assert_cmpstr(text, ==,
                "{\"Node1.Network\":{\"Interfaces\":[{\"Id\":\"eth0\"},{\"Id\":\"eth1\",\"Colour\":\"red\"}],"
                "\"Neighbours\":[]}}");
}

static void test_replace(void)
{
        g_autoptr(AldModel) model = ald_model_new(), fresh = ald_model_new();
        g_autoptr(GString) log = g_string_new(NULL);
        json_t *totals = json_pack("{s:i}", "Nodes", 2);

        put_name(model, A, "same");
        put_name(model, B, "goes");
        model_put(model, A, "Node1.Memory", "{'TotalBytes':1}");
        model_put(model, A, "Node1.Disk", "{}");
        model_put(model, A, "Node1.Future", "{'Colour':'red'}");
        put_name(fresh, A, "same");
        model_put(fresh, A, "Node1.Memory", "{'TotalBytes':2}");
        put_name(fresh, C, "comes");
        ald_model_set_node_id(fresh, A);
        ald_model_update_totals(fresh, totals, NULL);
        ald_model_watch(model, record_change, log);
        ald_model_replace(model, fresh);
        g_assert_cmpuint(ald_model_nodes(model)->len, ==, 2);
        g_assert_cmpstr(ald_model_node_id(model), ==, A);
        /* The order of what went is that of a hash table. */
        g_assert_nonnull(strstr(log->str, "removed 2 Node1.Identity - []\n"));
        g_assert_nonnull(strstr(log->str, "removed 1 Node1.Disk - []\n"));
        g_assert_nonnull(strstr(log->str, "removed 1 Node1.Future - []\n"));
        g_assert_true(g_str_has_suffix(log->str, "added 3 Node1.Identity {\"FriendlyName\":\"comes\"} []\n"
                                                 "changed 1 Node1.Memory {\"TotalBytes\":2} []\n"
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
                g_assert_cmpint(model_put_json(model, bad[i].id, bad[i].kind, fields), ==, -EINVAL);
        g_assert_cmpint(model_put_json(model, LINK, "Link1.Socket", fields), ==, 0);
        for (unsigned i = 0; i < ALD_MODEL_RAW_KINDS_MAX; i++) {
                g_autofree char *kind = g_strdup_printf("Node1.K%u", i);

                g_assert_cmpint(ald_model_put_raw(model, A, kind, fields), ==, 0);
        }
        g_assert_cmpint(ald_model_put_raw(model, A, "Node1.More", fields), ==, -E2BIG);
        g_assert_cmpint(ald_model_put_raw(model, A, "Node1.K0", fields), ==, 0);
        g_assert_cmpint(ald_model_put_raw(model, A, "Node1.Memory", fields), ==, -EINVAL);
        g_assert_cmpint(model_put_json(model, A, "Node1.Memory", fields), ==, 0);
        g_assert_cmpuint(ald_model_nodes(model)->len, ==, 1);
        g_assert_cmpuint(ald_model_links(model)->len, ==, 1);
        json_decref(fields);
}

/* What was added is no longer counted once it is removed. */
static void test_size(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        size_t empty = ald_model_size(model), one, two;
        json_t *few = json_pack("{s:i}", "AvailableBytes", 5), *none = json_object();
        json_t *many = json_pack(
                "{s:s, s:[{s:i}], s:{s:f}}", "More", "text", "Rows", "Id", 1, "Inner", "X", 1.5);

        g_assert_cmpint(model_put_json(model, A, "Node1.Memory", few), ==, 0);
        one = ald_model_size(model);
        g_assert_cmpuint(one, >, empty);
        g_assert_cmpint(model_put_json(model, A, "Node1.Memory", many), ==, 0);
        g_assert_cmpint(ald_model_put_raw(model, A, "Node1.New", many), ==, 0);
        g_assert_cmpint(ald_model_put_raw(model, LINK, "Link1.New", none), ==, 0);
        two = ald_model_size(model);
        g_assert_cmpuint(two, >, one + 2 * ald_value_size(many));
        g_assert_cmpint(ald_model_put_raw(model, A, "Node1.New", none), ==, 0);
        g_assert_cmpuint(ald_model_size(model), ==, two - ald_value_size(many) + ald_value_size(none));
        ald_model_remove(model, A, "Node1.New");
        ald_model_remove(model, A, "Node1.None");
        ald_model_remove(model, LINK, "Link1.New");
        g_assert_cmpint(model_put_json(model, A, "Node1.Memory", few), ==, 0);
        g_assert_cmpuint(ald_model_size(model), ==, one);
        ald_model_remove(model, A, "Node1.Memory");
        g_assert_cmpuint(ald_model_size(model), ==, empty);
        g_assert_cmpint(ald_model_update_totals(model, many, NULL), ==, 0);
        g_assert_cmpuint(ald_model_size(model), ==, empty + ald_value_size(many) - ald_value_size(none));
        json_decref(few);
        json_decref(many);
        json_decref(none);
}

static void test_limit(void)
{
        g_autoptr(AldModel) model = ald_model_new(), local = ald_model_new(), other = ald_model_new();
        g_autofree char *text = g_strnfill(1000, 'x');
        json_t *fields = json_pack("{s:s}", "More", text);
        unsigned accepted = 0;
        int r = 0;

        g_assert_cmpuint(ald_model_space(model), ==, SIZE_MAX);
        ald_model_limit(model, 100 * 1000);
        while (r == 0) {
                g_autofree char *id = g_strdup_printf("%032x", ++accepted);

                r = ald_model_put_raw(model, id, "Node1.New", fields);
                g_assert_cmpint(ald_model_put_raw(local, id, "Node1.New", fields), ==, 0);
        }
        g_assert_cmpint(r, ==, -EDQUOT);
        g_assert_cmpuint(accepted, >, 30);
        g_assert_cmpuint(accepted, <, 100);
        g_assert_cmpuint(ald_model_space(model), ==, 0);
        g_assert_cmpint(ald_model_update_totals(model, fields, NULL), ==, -EDQUOT);
        /* Once its contents are replaced there is space again. */
        ald_model_replace(model, other);
        g_assert_cmpuint(ald_model_size(model), ==, ald_model_size(other));
        g_assert_cmpint(ald_model_put_raw(model, A, "Node1.New", fields), ==, 0);
        json_decref(fields);
}

/* A node that was forgotten leaves links to it. */
static void test_links_to_nobody(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const char *link = "{'Sink':'" B "','SinkAddress':'192.0.2.2'}";

        model_put(model, A, "Node1.Memory", "{}");
        model_put(model, LINK, "Link1.Socket", link);
        g_assert_cmpuint(ald_model_links(model)->len, ==, 1);
        g_assert_cmpuint(ald_model_shown_links(model)->len, ==, 0);
        model_put(model, B, "Node1.Presence", "{}");
        g_assert_cmpuint(ald_model_shown_links(model)->len, ==, 1);
        ald_model_remove(model, B, "Node1.Presence");
        g_assert_cmpuint(ald_model_shown_links(model)->len, ==, 0);
        g_assert_nonnull(ald_model_get(model, LINK));
}

static const char *name_at(AldModel *model, unsigned i)
{
        return ald_entity_name(ald_model_nodes(model)->pdata[i]);
}

static void test_order(void)
{
        g_autoptr(AldModel) model = ald_model_new();

        model_put(model, A, "Node1.Memory", "{}");
        g_assert_null(ald_entity_name(ald_model_get(model, A)));
        put_name(model, A, "node-10");
        put_name(model, B, "Node-9");
        put_name(model, C, "node-\033[1m");
        g_assert_cmpstr(name_at(model, 0), ==, "Node-9");
        g_assert_cmpstr(name_at(model, 1), ==, "node-10");
        g_assert_cmpstr(name_at(model, 2), ==, "node-\xef\xbf\xbd[1m");
        /* Without a name it is where its id is. */
        put_name(model, A, "  ");
        g_assert_cmpstr(name_at(model, 0), ==, "  ");
        ald_model_remove(model, A, "Node1.Identity");
        g_assert_null(name_at(model, 0));
        ald_model_remove(model, B, "Node1.Identity");
        g_assert_null(ald_model_get(model, B));
        g_assert_null(ald_entity_name(NULL));
}

static void test_totals(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        json_t *properties = model_parse(
                "{'Nodes':3,'TflopsFp16':1.5,'MemoryBandwidthOf':'gpu','Links':'many',"
                "'Later':{'A':1}}");
        json_t *absent = model_parse("['TflopsFp16']"), *none = json_object();
        const AldClusterTotals *totals = ald_model_totals(model);

        g_assert_cmpuint(totals->nodes, ==, ALD_ABSENT_UINT64);
        ald_model_update_totals(model, properties, NULL);
        g_assert_cmpuint(totals->nodes, ==, 3);
        g_assert_cmpfloat(totals->tflops_fp16, ==, 1.5);
        g_assert_cmpstr(totals->memory_bandwidth_of, ==, "gpu");
        g_assert_cmpuint(totals->links, ==, ALD_ABSENT_UINT64);
        g_assert_nonnull(json_object_get(ald_model_totals_json(model), "Later"));
        ald_model_update_totals(model, none, absent);
        g_assert_true(isnan(ald_model_totals(model)->tflops_fp16));
        g_assert_cmpuint(ald_model_totals(model)->nodes, ==, 3);
        json_decref(properties);
        json_decref(absent);
        json_decref(none);
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
        model_put(model, LINK, "Link1.Socket", "{}");
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
        put_name(model, B, "ATLAS");
        g_assert_cmpint(find(model, "ATLAS", &id, &n), ==, 0);
        g_assert_cmpstr(id, ==, B);
        put_name(model, B, "Atlas"); /* sorted as before */
        g_assert_cmpint(find(model, "ATLAS", &id, &n), ==, -ENOENT);
        g_assert_cmpint(find(model, "Atlas", &id, &n), ==, 0);
}

/* A node that takes the first digits of the id of another one as its name is not taken for it, however few
 * they are. */
static void test_find_by_what_reads_like_an_id(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const char *id;
        unsigned n;

        for (size_t i = 0; i < 4; i++) {
                static const size_t lengths[] = { 1, 6, 8, 31 };
                g_autofree char *digits = g_strndup(C, lengths[i]);

                put_name(model, A, digits);
                put_name(model, C, "atlas");
                g_assert_cmpint(find(model, digits, &id, &n), ==, -ENOTUNIQ);
                g_assert_cmpuint(n, ==, 2);
                put_name(model, C, digits);
                put_name(model, A, "atlas");
                g_assert_cmpint(find(model, digits, &id, &n), ==, 0);
                g_assert_cmpstr(id, ==, C);
        }
        put_name(model, A, "deadbeef");
        g_assert_cmpint(find(model, "deadbeef", &id, &n), ==, 0);
        g_assert_cmpstr(id, ==, A);
}

static void test_updated(void)
{
        g_autoptr(AldModel) model = ald_model_new();

        model_put(model, A, "Node1.Memory", "{}");
        g_assert_cmpuint(ald_entity_updated(ald_model_get(model, A)), ==, ALD_ABSENT_UINT64);
        model_put(model, A, "Node1.System", "{'UpdatedUSec':7}");
        model_put(model, A, "Node1.Disk", "{'UpdatedUSec':5}");
        /* This machine says so, not the node. */
        model_put(model, A, "Node1.Presence", "{'UpdatedUSec':9}");
        g_assert_cmpuint(ald_entity_updated(ald_model_get(model, A)), ==, 7);
}

static void test_json(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        json_t *findings = json_pack("[{s:s}]", "Id", "loop");
        g_autofree char *text = NULL;

        ald_model_set_node_id(model, "no id");
        g_assert_null(ald_model_node_id(model));
        ald_model_set_node_id(model, A);
        model_put(model, A, "Node1.Future", "{'Colour':'red'}");
        put_name(model, A, "atlas");
        model_put(model, LINK, "Link1.Socket", "{'Streams':9007199254740992}");
        model_set_findings(model, findings);
        text = dump(ald_model_to_json(model));
        g_assert_cmpstr(text, ==,
                "{\"NodeId\":\"" A "\",\"Totals\":{},"
                "\"Nodes\":{\"" A "\":{\"Node1.Identity\":{\"FriendlyName\":\"atlas\"},"
                "\"Node1.Future\":{\"Colour\":\"red\"}}},"
                "\"Links\":{\"" LINK "\":{\"Link1.Socket\":{\"Streams\":9007199254740992}}},"
                "\"Findings\":[{\"Id\":\"loop\"}]}");
        json_decref(findings);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/client/model/changes", test_changes);
        g_test_add_func("/client/model/typed-changes", test_typed_changes);
        g_test_add_func("/client/model/raw", test_raw);
        g_test_add_func("/client/model/raw-then-known", test_raw_then_known);
        g_test_add_func("/client/model/raw-rows-as-json", test_raw_rows_as_json);
        g_test_add_func("/client/model/replace", test_replace);
        g_test_add_func("/client/model/bounds", test_bounds);
        g_test_add_func("/client/model/size", test_size);
        g_test_add_func("/client/model/limit", test_limit);
        g_test_add_func("/client/model/links-to-nobody", test_links_to_nobody);
        g_test_add_func("/client/model/order", test_order);
        g_test_add_func("/client/model/totals", test_totals);
        g_test_add_func("/client/model/find", test_find);
        g_test_add_func("/client/model/find-by-what-reads-like-an-id", test_find_by_what_reads_like_an_id);
        g_test_add_func("/client/model/updated", test_updated);
        g_test_add_func("/client/model/json", test_json);
        return g_test_run();
}
