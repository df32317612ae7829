/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/format.h"
#include "clients/common/plan-words.h"
#include "clients/desktop/topology/plan-marks.h"
#include "placement/plan/engine.h"
#include "placement/plan/method.h"

typedef struct PlanTransfer {
        char *source, *sink;
        char *steps; /* "1 → 2" */
        AldLineKind kind;
        double nsec;
} PlanTransfer;

struct AldPlanMarks {
        GHashTable *nodes;    /* id → AldNodeMark */
        GPtrArray *transfers; /* PlanTransfer */
        char *order;
};

static void node_mark_free(void *data)
{
        AldNodeMark *mark = data;

        g_free(mark->numbers);
        g_free(mark->layers);
        g_free(mark->words);
        g_free(mark);
}

static void transfer_free(void *data)
{
        PlanTransfer *transfer = data;

        g_free(transfer->source);
        g_free(transfer->sink);
        g_free(transfer->steps);
        g_free(transfer);
}

static AldNodeMark *find_mark(AldPlanMarks *marks, const char *node)
{
        AldNodeMark *mark = g_hash_table_lookup(marks->nodes, node);

        if (mark)
                return mark;
        mark = g_new(AldNodeMark, 1);
        *mark = (AldNodeMark){ g_strdup(""), g_strdup(""), g_strdup("") };
        g_hash_table_insert(marks->nodes, g_strdup(node), mark);
        return mark;
}

/* Takes ownership of the part. */
static void append_part(char **text, char *part)
{
        char *joined = **text == '\0' ? g_strdup(part) : g_strdup_printf("%s, %s", *text, part);

        g_free(*text);
        g_free(part);
        *text = joined;
}

static void add_stage(AldPlanMarks *marks, guint i, const AldPlanStageRow *stage)
{
        g_autofree char *layers = ald_plan_words_layers(stage);
        AldNodeMark *mark = find_mark(marks, stage->node);

        append_part(&mark->numbers, g_strdup_printf("%u", i + 1));
        if (stage->layers == ALD_ABSENT_UINT64) {
                append_part(&mark->words, g_strdup_printf(_("stage %u of the plan"), i + 1));
                return;
        }
        append_part(&mark->layers, g_strdup_printf(_("layers %s"), layers));
        append_part(&mark->words, g_strdup_printf(_("stage %u of the plan with layers %s"), i + 1, layers));
}

static void add_stages(AldPlanMarks *marks, const AldPlanReport *report)
{
        g_autoptr(GString) order = g_string_new(NULL);

        for (guint i = 0; i < ald_plan_report_n_stages(report); i++) {
                const AldPlanStageRow *stage = &g_array_index(report->stages, AldPlanStageRow, i);
                g_autofree char *name = ald_plan_words_node(stage->node_name, stage->node);

                g_string_append_printf(order, "%s%u %s", i > 0 ? " → " : "", i + 1, name);
                if (stage->node)
                        add_stage(marks, i, stage);
        }
        marks->order = g_strdup(order->str);
}

static void add_client(AldPlanMarks *marks, const char *node)
{
        AldNodeMark *mark = find_mark(marks, node);

        append_part(&mark->layers, g_strdup(_("client")));
        append_part(&mark->words, g_strdup(_("client of the plan")));
}

static AldLineKind hop_line_kind(const AldPlanHopRow *hop)
{
        return ald_plan_hop_row_kind_from_string(hop->kind) == ALD_PLAN_HOP_ROW_KIND_RDMA ? ALD_LINE_RDMA
                                                                                          : ALD_LINE_SOCKET;
}

/* Returns whether the stages talk to a client that is not itself a stage. The client of sliced layers is one
 * of the stages. */
static bool is_client_apart(const AldPlanReport *report)
{
        const AldPlanEngine *engine = report->plan.engine ? ald_plan_engine_find(report->plan.engine) : NULL;

        return engine && engine->method->is_client_apart;
}

static bool is_stage_on(const AldPlanReport *report, guint stage, const char *node)
{
        return g_strcmp0(g_array_index(report->stages, AldPlanStageRow, stage).node, node) == 0;
}

/* Names one end of a hop that counts for a stage: the stage itself, the client of a star, or another stage,
 * preferably the next. */
static char *describe_end(const AldPlanReport *report, const AldPlanHopRow *hop, const char *node)
{
        guint n = ald_plan_report_n_stages(report), stage = (guint) hop->stage;

        if (is_stage_on(report, stage, node))
                return g_strdup_printf("%u", stage + 1);
        if (is_client_apart(report))
                return g_strdup(_("client"));
        for (guint i = 1; i < n; i++)
                if (is_stage_on(report, (stage + i) % n, node))
                        return g_strdup_printf("%u", (stage + i) % n + 1);
        return g_strdup(ALD_ABSENT_TEXT);
}

static char *describe_steps(const AldPlanReport *report, const AldPlanHopRow *hop)
{
        g_autofree char *from = describe_end(report, hop, hop->source);
        g_autofree char *to = describe_end(report, hop, hop->sink);

        return g_strdup_printf("%s → %s", from, to);
}

static void add_hop(AldPlanMarks *marks, const AldPlanReport *report, const AldPlanHopRow *hop)
{
        PlanTransfer *transfer;

        if (hop->alternative != 0 || hop->stage >= ald_plan_report_n_stages(report) || !hop->source ||
                !hop->sink || g_str_equal(hop->source, hop->sink))
                return;
        transfer = g_new(PlanTransfer, 1);
        *transfer = (PlanTransfer){ g_strdup(hop->source), g_strdup(hop->sink), describe_steps(report, hop),
                hop_line_kind(hop), ald_uint64_to_double(hop->nsec) };
        g_ptr_array_add(marks->transfers, transfer);
}

AldPlanMarks *ald_plan_marks_new(const AldPlanReport *report)
{
        AldPlanMarks *marks = g_new0(AldPlanMarks, 1);

        marks->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, node_mark_free);
        marks->transfers = g_ptr_array_new_with_free_func(transfer_free);
        add_stages(marks, report);
        if (report->plan.client)
                add_client(marks, report->plan.client);
        for (guint i = 0; i < report->hops->len; i++)
                add_hop(marks, report, &g_array_index(report->hops, AldPlanHopRow, i));
        return marks;
}

void ald_plan_marks_free(AldPlanMarks *marks)
{
        if (!marks)
                return;
        g_hash_table_unref(marks->nodes);
        g_ptr_array_unref(marks->transfers);
        g_free(marks->order);
        g_free(marks);
}

const AldNodeMark *ald_plan_marks_node(const AldPlanMarks *marks, const char *node)
{
        return marks ? g_hash_table_lookup(marks->nodes, node) : NULL;
}

const char *ald_plan_marks_order(const AldPlanMarks *marks)
{
        return marks->order;
}

static bool joins_ends_of(const AldDrawnLine *line, const PlanTransfer *transfer, const char *const *ids)
{
        const char *a = ids[line->a], *b = ids[line->b];

        return (g_str_equal(a, transfer->source) && g_str_equal(b, transfer->sink)) ||
               (g_str_equal(b, transfer->source) && g_str_equal(a, transfer->sink));
}

/* Returns the line of the same kind, otherwise any between these nodes, or NULL. */
static AldDrawnLine *find_line(GPtrArray *lines, const PlanTransfer *transfer, const char *const *ids)
{
        AldDrawnLine *found = NULL;

        for (guint i = 0; i < lines->len; i++) {
                AldDrawnLine *line = lines->pdata[i];

                if (!joins_ends_of(line, transfer, ids))
                        continue;
                if (line->kind == transfer->kind)
                        return line;
                found = found ?: line;
        }
        return found;
}

/* Removes the labels of the line, whose figures would contradict those of the plan. */
static void clear_labels_for_plan(AldDrawnLine *line)
{
        if (line->planned)
                return;
        line->planned = true;
        for (size_t i = 0; i < ALD_N_LABEL_KINDS; i++) {
                g_clear_pointer(&line->texts[i], g_free);
                line->rulers[i] = ALD_RULER_WORDS;
        }
}

static void add_to_line(AldDrawnLine *line, const PlanTransfer *transfer, const char *const *ids)
{
        AldLabelKind kind = g_str_equal(ids[line->b], transfer->sink) ? ALD_LABEL_TO_B : ALD_LABEL_TO_A;
        g_autofree char *time = ald_format_nsec(transfer->nsec), *before = NULL, *words = line->words;

        clear_labels_for_plan(line);
        before = line->texts[kind];
        line->texts[kind] = before ? g_strdup_printf("%s, %s: %s", before, transfer->steps, time)
                                   : g_strdup_printf("%s: %s", transfer->steps, time);
        line->words = g_strdup_printf(_("%s. In the plan, %s takes %s"), words, transfer->steps, time);
}

void ald_plan_marks_apply(const AldPlanMarks *marks, GPtrArray *lines, const char *const *ids)
{
        for (guint i = 0; i < marks->transfers->len; i++) {
                const PlanTransfer *transfer = marks->transfers->pdata[i];
                AldDrawnLine *line = find_line(lines, transfer, ids);

                if (line)
                        add_to_line(line, transfer, ids);
        }
}
