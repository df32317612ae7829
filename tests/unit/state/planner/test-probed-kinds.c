/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/json.h"
#include "state/planner/probed-kinds.h"
#include "tests/unit/state-maker.h"

#define MINUTE UINT64_C(60000000)
#define NOW (UINT64_C(1700000000) * 1000000)

static const AldPlannerInput input = { .now = MINUTE, .now_realtime = NOW, .started = MINUTE, .max = 8 };

/* A record written as JSON, with ' for ". */
static AldRecord *make(AldKind kind, const char *text)
{
        g_autofree char *json_text = g_strdelimit(g_strdup(text), "'", '"');
        json_t *json = NULL;
        AldRecord *record = NULL;

        g_assert_cmpint(ald_json_load(json_text, strlen(json_text), 4096, &json, NULL), ==, 0);
        g_assert_cmpint(ald_record_from_json(kind, json, &record, NULL), ==, 0);
        json_decref(json);
        return record;
}

static AldRecord *own_compute(AldStore *store)
{
        return ald_node_record(ald_store_local_node(store), ALD_KIND_COMPUTE);
}

static unsigned count_links(AldStore *store)
{
        return ald_store_local_node(store)->n_links;
}

/* Each kind that is measured again after some time is planned by one entry, and found by its name. */
static void test_each_measured_kind_has_one(void)
{
        const char *const *words = ald_struct_find(&ald_due_probe_options_struct, "Kinds")->words;

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                unsigned n = 0;

                for (const AldProbedKind *const *probed = ald_probed_kinds; *probed; probed++)
                        n += (*probed)->kinds[kind];
                g_assert_cmpuint(n, ==, ald_kind_ttl(kind) != 0);
                g_assert_cmpuint(n, ==, ald_probed_kind(kind) != NULL);
                g_assert_cmpuint(n, ==, g_strv_contains(words, ald_kinds[kind].name));
        }
        g_assert_true(ald_probed_kind(ALD_KIND_LINK_SOCKET) == ald_probed_kind(ALD_KIND_LINK_RDMA));
}

static void test_devices_that_are_gone(void)
{
        const AldProbedKind *probed = ald_probed_kind(ALD_KIND_COMPUTE);
        g_autoptr(AldStore) store = state_make();
        g_autoptr(AldRecord)
                reported = make(ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'gone', 'MeasuredUSec': 1}]}");
        g_autoptr(AldRecord) before = NULL, after = NULL;

        /* Which devices there are is not known yet. */
        before = probed->merge(store, &input, NULL, reported);
        g_assert_cmpuint(ald_record_as(before, COMPUTE, AldCompute)->devices.n, ==, 1);
        before->updated_usec = 1234;
        ald_store_put_local(store, ALD_KIND_COMPUTE, "", before, before->updated_usec, 0);
        probed->prune(store, &input, MINUTE);
        g_assert_true(own_compute(store) == before);
        state_put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [{'Id': 'cpu'}]}");
        after = probed->merge(store, &input, before, reported);
        g_assert_cmpuint(ald_record_as(after, COMPUTE, AldCompute)->devices.n, ==, 0);
        probed->prune(store, &input, MINUTE);
        g_assert_cmpuint(ald_record_as(own_compute(store), COMPUTE, AldCompute)->devices.n, ==, 0);
        g_assert_cmpuint(own_compute(store)->updated_usec, ==, 1234);
}

static AldRecord *report(const char *address)
{
        g_autofree char *source = state_id(1), *sink = state_id(2);
        g_autofree char *text = g_strdup_printf(
                "{'Source': '%s', 'Sink': '%s', 'SinkAddress': '%s', 'MeasuredUSec': 5}", source, sink,
                address);

        return make(ALD_KIND_LINK_SOCKET, text);
}

static void test_links_that_are_gone(void)
{
        const AldProbedKind *probed = ald_probed_kind(ALD_KIND_LINK_SOCKET);
        g_autoptr(AldStore) store = state_make();
        g_autoptr(AldRecord) known = report("10.0.0.2"), gone = report("10.0.0.3");
        g_autoptr(AldRecord) early = NULL, merged = NULL;

        /* Of a node that was not heard yet, any address may be there. */
        early = probed->merge(store, &input, NULL, gone);
        g_assert_nonnull(early);
        state_put(
                store, 2, ALD_KIND_NETWORK, "{'Interfaces': [{'Id': 'eth0', 'Addresses': ['10.0.0.2/24']}]}");
        g_assert_null(probed->merge(store, &input, early, gone));
        merged = probed->merge(store, &input, NULL, known);
        g_assert_cmpuint(ald_record_as(merged, LINK_SOCKET, AldLinkSocket)->measured_usec, ==, 5);
        state_put_path(store, 1, 2, "10.0.0.2", "{'MeasuredUSec': 5}");
        state_put_path(store, 1, 2, "10.0.0.3", "{'MeasuredUSec': 5}");
        g_assert_cmpuint(count_links(store), ==, 2);
        probed->prune(store, &input, MINUTE);
        g_assert_cmpuint(count_links(store), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probed-kinds/each", test_each_measured_kind_has_one);
        g_test_add_func("/probed-kinds/devices", test_devices_that_are_gone);
        g_test_add_func("/probed-kinds/links", test_links_that_are_gone);
        return g_test_run();
}
