/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/format.h"
#include "clients/common/plan-words.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/details/rows/figure-row.h"
#include "clients/desktop/details/rows/sentence-row.h"
#include "clients/desktop/placement/plan-rows.h"

#define NODE_KEY "ald-node" /* set on a row: its node, and the other end of a path */
#define PEER_KEY "ald-peer"
#define LEFT_OUT_MAX 100u /* rows; a cluster may have thousands of devices */

static GtkWidget *activatable_row_new(void)
{
        GtkWidget *row = ald_figure_row_new();

        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), TRUE);
        return row;
}

static void set_ends(GtkWidget *row, const char *node, const char *peer)
{
        g_object_set_data_full(G_OBJECT(row), NODE_KEY, g_strdup(node), g_free);
        g_object_set_data_full(G_OBJECT(row), PEER_KEY, g_strdup(peer), g_free);
}

void ald_plan_row_open(GtkListBoxRow *row)
{
        const char *node = g_object_get_data(G_OBJECT(row), NODE_KEY),
                   *peer = g_object_get_data(G_OBJECT(row), PEER_KEY);

        if (node && peer)
                gtk_widget_activate_action(GTK_WIDGET(row), "win.show-pair", "(ss)", node, peer);
        else if (node)
                gtk_widget_activate_action(GTK_WIDGET(row), "win.show-node", "s", node);
}

static char *describe_age(uint64_t measured_usec, double now_usec)
{
        g_autofree char *age = NULL;

        if (measured_usec == ALD_ABSENT_UINT64)
                return NULL;
        age = ald_format_age((double) measured_usec, now_usec);
        return g_strdup_printf(_("measured %s"), age);
}

/* Returns the next row, whose key is its rank in the plan. */
static GtkWidget *next_row(AldKeyedRows *rows, guint number, AldRowMaker make)
{
        g_autofree char *key = g_strdup_printf("%u", number);

        return ald_keyed_rows_next(rows, key, make);
}

static void show_stage(GtkWidget *row, guint number, const AldPlanStageRow *stage, double now_usec)
{
        g_autofree char *device = ald_plan_words_device(stage), *layers = ald_plan_words_layers(stage);
        g_autofree char *title = g_strdup_printf("%u. %s", number, device);
        g_autofree char *detail = ald_text_safe_or_null(stage->device_name);
        g_autofree char *memory = ald_format_bytes_of(
                ald_uint64_to_double(stage->needs_bytes), ald_uint64_to_double(stage->free_bytes));
        g_autofree char *time = ald_format_nsec(ald_uint64_to_double(stage->nsec));
        g_autofree char *hop = ald_format_nsec(ald_uint64_to_double(stage->hop_nsec));
        g_autofree char *age = describe_age(stage->measured_usec, now_usec);
        g_autofree char *limiter = ald_plan_words_limiter(stage);
        const AldFigureSet figures = { .title = title,
                .detail = detail,
                .figures = { { _("Layers"), layers, NULL }, { _("Of Free Memory"), memory, NULL },
                        { _("Time"), time, NULL }, { _("Transfers"), hop, NULL } },
                .n = 4,
                .age = age,
                .state = limiter,
                .tone = ALD_TONE_PLAIN };

        ald_figure_row_show(ALD_FIGURE_ROW(row), &figures);
        set_ends(row, stage->node, NULL);
}

void ald_plan_rows_stages(AldKeyedRows *rows, const AldPlanReport *report, double now_usec)
{
        for (guint i = 0; i < ald_plan_report_n_stages(report); i++)
                show_stage(next_row(rows, i, activatable_row_new), i + 1,
                        &g_array_index(report->stages, AldPlanStageRow, i), now_usec);
}

static bool is_assumed(const AldPlanHopRow *hop)
{
        return g_strcmp0(hop->kind, ald_plan_hop_row_kind_to_string(ALD_PLAN_HOP_ROW_KIND_ASSUMED)) == 0;
}

static void show_hop(GtkWidget *row, const AldPlanHopRow *hop, double now_usec)
{
        g_autofree char *title = ald_plan_words_hop(hop), *path = ald_plan_words_path(hop);
        g_autofree char *payload = ald_plan_words_payload(hop);
        g_autofree char *detail = payload ? g_strdup_printf("%s · %s", payload, path) : NULL;
        g_autofree char *time = ald_format_nsec(ald_uint64_to_double(hop->nsec));
        g_autofree char *bytes = ald_format_bytes(ald_uint64_to_double(hop->bytes));
        g_autofree char *rate = ald_format_bits_per_second(ald_uint64_to_double(hop->bits_per_second));
        g_autofree char *delay = ald_format_nsec(ald_uint64_to_double(hop->rtt_nsec) / 2);
        g_autofree char *age = describe_age(hop->measured_usec, now_usec);
        const AldFigureSet figures = { .title = title,
                .detail = detail ? detail : path,
                .figures = { { _("Time"), time, NULL }, { _("Size"), bytes, NULL }, { _("Rate"), rate, NULL },
                        { _("RTT/2"), delay, NULL } },
                .n = 4,
                .age = age,
                .state = is_assumed(hop) ? _("never measured") : NULL,
                .tone = ALD_TONE_WARNING };

        ald_figure_row_show(ALD_FIGURE_ROW(row), &figures);
        set_ends(row, hop->source, g_strcmp0(hop->source, hop->sink) == 0 ? NULL : hop->sink);
}

void ald_plan_rows_hops(AldKeyedRows *rows, const AldPlanReport *report, double now_usec)
{
        for (guint i = 0; i < report->hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(report->hops, AldPlanHopRow, i);

                if (hop->alternative == 0)
                        show_hop(next_row(rows, i, activatable_row_new), hop, now_usec);
        }
}

void ald_plan_rows_alternatives(AldKeyedRows *rows, const AldPlanReport *report, double now_usec)
{
        for (guint i = 0; i < report->alternatives->len; i++) {
                const AldPlanAlternativeRow *row = &g_array_index(
                        report->alternatives, AldPlanAlternativeRow, i);
                g_autofree char *text = ald_plan_words_alternative(report, row);
                g_autofree char *word = g_strdup_printf("%u", i + 1);

                ald_sentence_row_show(ALD_SENTENCE_ROW(next_row(rows, i, ald_sentence_row_new)),
                        "alidade-placement-symbolic", word, ALD_TONE_FAINT, text, NULL);
        }
}

static void show_left_out(GtkWidget *row, const AldPlanLeftOutRow *left_out)
{
        g_autofree char *title = ald_plan_words_left_out(left_out);
        g_autofree char *detail = ald_text_safe_or_null(left_out->device_name);
        g_autofree char *reason = ald_plan_words_reason(left_out);
        g_autofree char *text = ald_text_safe_or_null(left_out->text);
        const AldFigureSet figures = {
                .title = title, .detail = detail, .state = reason, .tone = ALD_TONE_PLAIN, .remedy = text
        };

        ald_figure_row_show(ALD_FIGURE_ROW(row), &figures);
        set_ends(row, left_out->node, NULL);
}

static void show_rest(GtkWidget *row, guint n)
{
        g_autofree char *text = g_strdup_printf(
                ngettext("%u more is left out; alidadectl place lists all",
                        "%u more are left out; alidadectl place lists all", n),
                n);

        ald_sentence_row_show(
                ALD_SENTENCE_ROW(row), "view-more-symbolic", _("Left Out"), ALD_TONE_FAINT, text, NULL);
}

void ald_plan_rows_left_out(AldKeyedRows *rows, const AldPlanReport *report, double now_usec)
{
        guint n = MIN(report->left_out->len, LEFT_OUT_MAX);

        for (guint i = 0; i < n; i++)
                show_left_out(next_row(rows, i, activatable_row_new),
                        &g_array_index(report->left_out, AldPlanLeftOutRow, i));
        if (report->left_out->len > n)
                show_rest(ald_keyed_rows_next(rows, "rest", ald_sentence_row_new), report->left_out->len - n);
}

void ald_plan_rows_sensitivities(AldKeyedRows *rows, const AldPlanReport *report, double now_usec)
{
        for (guint i = 0; i < report->sensitivities->len; i++) {
                const AldPlanSensitivityRow *row = &g_array_index(
                        report->sensitivities, AldPlanSensitivityRow, i);
                g_autofree char *text = ald_text_safe_or_null(row->text);
                g_autofree char *name = ald_plan_words_node(row->node_name, row->node);
                GtkWidget *shown;

                if (!ald_plan_is_notable(report, row))
                        continue;
                shown = next_row(rows, i, ald_sentence_row_new);
                gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(shown), TRUE);
                ald_sentence_row_show(
                        ALD_SENTENCE_ROW(shown), "alidade-links-symbolic", name, ALD_TONE_FAINT, text, NULL);
                set_ends(shown, row->node, NULL);
        }
}
