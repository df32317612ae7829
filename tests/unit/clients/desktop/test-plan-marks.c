/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "clients/desktop/topology/plan-marks.h"

/* Three nodes, of which each two are joined over sockets, and the first two over RDMA as well. */
static const char *const ids[] = { "a", "b", "c" };

static void add_line(GPtrArray *lines, unsigned a, unsigned b, AldLineKind kind)
{
        AldDrawnLine *line = g_new0(AldDrawnLine, 1);

        line->a = a;
        line->b = b;
        line->kind = kind;
        for (size_t i = 0; i < ALD_N_LABEL_KINDS; i++)
                line->texts[i] = g_strdup("measured");
        line->words = g_strdup("a line");
        g_ptr_array_add(lines, line);
}

static GPtrArray *make_lines(void)
{
        GPtrArray *lines = g_ptr_array_new_with_free_func((GDestroyNotify) ald_drawn_line_free);

        add_line(lines, 0, 1, ALD_LINE_SOCKET);
        add_line(lines, 0, 1, ALD_LINE_RDMA);
        add_line(lines, 0, 2, ALD_LINE_SOCKET);
        add_line(lines, 1, 2, ALD_LINE_SOCKET);
        return lines;
}

static const AldDrawnLine *line_at(const GPtrArray *lines, guint i)
{
        return lines->pdata[i];
}

static void add_stage(
        AldPlanReport *report, uint64_t alternative, const char *node, uint64_t first, uint64_t n)
{
        AldPlanStageRow row = ALD_PLAN_STAGE_ROW_INIT;

        row.alternative = alternative;
        row.node = row.node_name = node;
        row.first_layer = first;
        row.layers = n;
        g_array_append_val(report->stages, row);
}

static void add_hop(AldPlanReport *report, uint64_t alternative, uint64_t stage, const char *source,
        const char *sink, const char *kind)
{
        AldPlanHopRow row = ALD_PLAN_HOP_ROW_INIT;

        row.alternative = alternative;
        row.stage = stage;
        row.source = source;
        row.sink = sink;
        row.kind = kind;
        row.nsec = 50000;
        g_array_append_val(report->hops, row);
}

static AldPlanReport *make_ring(void)
{
        AldPlanReport *report = ald_plan_report_new();

        report->plan.engine = "vllm";
        add_stage(report, 0, "b", 0, 10);
        add_stage(report, 0, "a", 10, 10);
        add_stage(report, 0, "a", 20, 1);
        add_stage(report, 1, "c", 0, 21);
        add_hop(report, 0, 0, "b", "a", "rdma");
        add_hop(report, 0, 1, "a", "a", "inner");
        add_hop(report, 0, 2, "a", "b", "rdma");
        add_hop(report, 1, 0, "b", "c", "socket");
        return report;
}

static void test_a_ring(void)
{
        g_autoptr(AldPlanReport) report = make_ring();
        g_autoptr(AldPlanMarks) marks = ald_plan_marks_new(report);
        g_autoptr(GPtrArray) lines = make_lines();
        const AldNodeMark *a = ald_plan_marks_node(marks, "a");

        g_assert_cmpstr(a->numbers, ==, "2, 3");
        g_assert_cmpstr(a->layers, ==, "layers 10–19, layers 20");
        g_assert_cmpstr(ald_plan_marks_node(marks, "b")->words, ==, "stage 1 of the plan with layers 0–9");
        g_assert_null(ald_plan_marks_node(marks, "c"));
        g_assert_null(ald_plan_marks_node(NULL, "a"));
        g_assert_cmpstr(ald_plan_marks_order(marks), ==, "1 b → 2 a → 3 a");
        ald_plan_marks_apply(marks, lines, ids);
        for (guint i = 0; i < lines->len; i++)
                g_assert_cmpint(line_at(lines, i)->planned, ==, i == 1);
        g_assert_cmpstr(line_at(lines, 1)->texts[ALD_LABEL_TO_A], ==, "1 → 2: 50.0 µs");
        g_assert_cmpstr(line_at(lines, 1)->texts[ALD_LABEL_TO_B], ==, "3 → 1: 50.0 µs");
        g_assert_null(line_at(lines, 1)->texts[ALD_LABEL_MIDDLE]);
        g_assert_cmpstr(line_at(lines, 0)->texts[ALD_LABEL_MIDDLE], ==, "measured");
        g_assert_cmpstr(line_at(lines, 1)->words, ==,
                "a line. In the plan, 1 → 2 takes 50.0 µs. In the plan, 3 → 1 takes 50.0 µs");
}

/* Two devices of a node, and a client of its own; the path was assumed. */
static void test_a_star(void)
{
        g_autoptr(AldPlanReport) report = ald_plan_report_new();
        g_autoptr(AldPlanMarks) marks = NULL;
        g_autoptr(GPtrArray) lines = make_lines();

        report->plan.engine = "llama.cpp";
        report->plan.client = "c";
        add_stage(report, 0, "b", 0, 10);
        add_stage(report, 0, "b", 10, 10);
        for (uint64_t stage = 0; stage < 2; stage++) {
                add_hop(report, 0, stage, "c", "b", "assumed");
                add_hop(report, 0, stage, "b", "c", "assumed");
        }
        marks = ald_plan_marks_new(report);
        g_assert_cmpstr(ald_plan_marks_node(marks, "c")->numbers, ==, "");
        g_assert_cmpstr(ald_plan_marks_node(marks, "c")->layers, ==, "client");
        ald_plan_marks_apply(marks, lines, ids);
        g_assert_cmpstr(
                line_at(lines, 3)->texts[ALD_LABEL_TO_A], ==, "client → 1: 50.0 µs, client → 2: 50.0 µs");
        g_assert_cmpstr(
                line_at(lines, 3)->texts[ALD_LABEL_TO_B], ==, "1 → client: 50.0 µs, 2 → client: 50.0 µs");
}

/* Ranks without layers; a node that has gone; and hops that make no sense. */
static void test_what_is_not_there_is_left_out(void)
{
        g_autoptr(AldPlanReport) report = ald_plan_report_new();
        g_autoptr(AldPlanMarks) marks = NULL;
        g_autoptr(GPtrArray) lines = make_lines();

        report->plan.engine = "nccl";
        add_stage(report, 0, "a", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        add_stage(report, 0, "gone", ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        add_stage(report, 0, NULL, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        add_hop(report, 0, 0, "a", "gone", "socket");
        add_hop(report, 0, 1, "gone", "a", "socket");
        add_hop(report, 0, 7, "a", "b", "socket");
        add_hop(report, 0, 0, NULL, "b", NULL);
        marks = ald_plan_marks_new(report);
        g_assert_cmpstr(ald_plan_marks_node(marks, "a")->layers, ==, "");
        g_assert_cmpstr(ald_plan_marks_node(marks, "a")->words, ==, "stage 1 of the plan");
        ald_plan_marks_apply(marks, lines, ids);
        for (guint i = 0; i < lines->len; i++)
                g_assert_false(line_at(lines, i)->planned);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-marks/a-ring", test_a_ring);
        g_test_add_func("/plan-marks/a-star", test_a_star);
        g_test_add_func("/plan-marks/what-is-not-there-is-left-out", test_what_is_not_there_is_left_out);
        return g_test_run();
}
