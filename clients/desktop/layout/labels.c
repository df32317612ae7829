/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/layout/label-candidates.h"
#include "clients/desktop/layout/labels.h"

/* The number of labels that may move for another one. */
#define MAX_MOVED 2u
/* Labels are moved until this many places were tried; 12 nodes need fewer. Trying all takes a few
 * milliseconds. */
#define MAX_TRIED 12000u
/* The number of rounds in which labels are moved to better places, and the least gain for which one is moved.
 */
#define ROUNDS 3u
#define WORTH_MOVING 10.0

/* A label that is shown. */
typedef struct PlacedLabel {
        size_t line;
        AldLabelKind kind;
        GArray *candidates; /* AldLabelCandidate */
        AldBox box;
        double cost;
} PlacedLabel;

typedef struct Placement {
        AldBoxGrid *grid; /* of shown labels, by their index in `labels` */
        GArray *labels;   /* PlacedLabel */
        unsigned n_tried;
} Placement;

typedef struct RankedLine {
        unsigned rank;
        size_t line;
} RankedLine;

static PlacedLabel *label_at(const Placement *placement, unsigned i)
{
        return &g_array_index(placement->labels, PlacedLabel, i);
}

static void show_label(Placement *placement, unsigned i, const AldBox *box, double cost)
{
        label_at(placement, i)->box = *box;
        label_at(placement, i)->cost = cost;
        ald_box_grid_add(placement->grid, box, i);
}

static void hide_label(Placement *placement, unsigned i)
{
        ald_box_grid_remove(placement->grid, &label_at(placement, i)->box, i);
}

/* Shows a label at the best of its places that is free. Returns false if none is. */
static bool show_where_free(Placement *placement, unsigned i, bool over_heads)
{
        const GArray *candidates = label_at(placement, i)->candidates;

        for (guint c = 0; c < candidates->len; c++) {
                const AldLabelCandidate *candidate = &g_array_index(candidates, AldLabelCandidate, c);
                unsigned other;

                if (candidate->covers_head != over_heads)
                        continue;
                placement->n_tried++;
                if (ald_box_grid_find(placement->grid, &candidate->box, ALD_LABEL_GAP, &other, 1) == 0) {
                        show_label(placement, i, &candidate->box, candidate->cost);
                        return true;
                }
        }
        return false;
}

/* The labels in the way of a hidden one, with their places before they are moved. */
typedef struct BlockingLabels {
        unsigned labels[MAX_MOVED + 1];
        PlacedLabel before[MAX_MOVED];
        size_t n;
        double cost; /* the sum of their costs */
} BlockingLabels;

static bool find_blocking_labels(const Placement *placement, const AldBox *box, BlockingLabels *ret)
{
        ret->n = ald_box_grid_find(placement->grid, box, ALD_LABEL_GAP, ret->labels, MAX_MOVED + 1);
        ret->cost = 0;
        for (size_t k = 0; k < ret->n && ret->n <= MAX_MOVED; k++) {
                ret->before[k] = *label_at(placement, ret->labels[k]);
                ret->cost += ret->before[k].cost;
        }
        return ret->n <= MAX_MOVED;
}

/*
 * Shows a label at this place if those in its way find another one, and all of them together then cost less
 * than `least_cost` and the previous cost of the others. Otherwise restores the places before.
 */
static bool show_instead(
        Placement *placement, unsigned i, const AldLabelCandidate *candidate, double least_cost)
{
        BlockingLabels blocking;
        double cost = candidate->cost;
        size_t moved = 0;

        if (!find_blocking_labels(placement, &candidate->box, &blocking))
                return false;
        for (size_t k = 0; k < blocking.n; k++)
                hide_label(placement, blocking.labels[k]);
        show_label(placement, i, &candidate->box, candidate->cost);
        while (moved < blocking.n && show_where_free(placement, blocking.labels[moved], false))
                cost += label_at(placement, blocking.labels[moved++])->cost;
        if (moved == blocking.n && cost < least_cost + blocking.cost)
                return true;
        hide_label(placement, i);
        for (size_t k = 0; k < moved; k++)
                hide_label(placement, blocking.labels[k]);
        for (size_t k = 0; k < blocking.n; k++)
                show_label(placement, blocking.labels[k], &blocking.before[k].box, blocking.before[k].cost);
        return false;
}

static bool show_by_moving(Placement *placement, unsigned i)
{
        const GArray *candidates = label_at(placement, i)->candidates;

        for (guint c = 0; c < candidates->len && placement->n_tried < MAX_TRIED; c++) {
                const AldLabelCandidate *candidate = &g_array_index(candidates, AldLabelCandidate, c);

                if (!candidate->covers_head && show_instead(placement, i, candidate, INFINITY))
                        return true;
        }
        return false;
}

static void place_label(Placement *placement, const AldLabelScene *scene, size_t line, AldLabelKind kind)
{
        PlacedLabel label = { line, kind, ald_label_candidates(scene, line, kind), { 0 }, 0 };
        unsigned i = placement->labels->len;

        g_array_append_val(placement->labels, label);
        if (show_where_free(placement, i, false) || show_by_moving(placement, i) ||
                show_where_free(placement, i, true))
                return;
        g_array_unref(label.candidates);
        g_array_set_size(placement->labels, i);
}

/* Finds a better place for a label, even if others have to move for it. */
static bool improve_label(Placement *placement, unsigned i)
{
        const PlacedLabel before = *label_at(placement, i);

        hide_label(placement, i);
        for (guint c = 0; c < before.candidates->len && placement->n_tried < MAX_TRIED; c++) {
                const AldLabelCandidate *candidate = &g_array_index(before.candidates, AldLabelCandidate, c);

                if (candidate->cost + WORTH_MOVING > before.cost)
                        break;
                if (!candidate->covers_head &&
                        show_instead(placement, i, candidate, before.cost - WORTH_MOVING))
                        return true;
        }
        show_label(placement, i, &before.box, before.cost);
        return false;
}

/* Improves the places of the shown labels. This comes after it is settled which labels are shown, since later
 * ones must not hide earlier ones. */
static void improve_labels(Placement *placement)
{
        bool improved = true;

        placement->n_tried = 0;
        for (unsigned round = 0; round < ROUNDS && improved; round++) {
                improved = false;
                for (unsigned i = 0; i < placement->labels->len; i++)
                        improved |= improve_label(placement, i);
        }
}

static int compare_ranks(gconstpointer a, gconstpointer b)
{
        const RankedLine *left = a, *right = b;

        if (left->rank != right->rank)
                return left->rank < right->rank ? -1 : 1;
        return left->line < right->line ? -1 : left->line > right->line;
}

static RankedLine *order_lines(const AldLabelsInput *input)
{
        RankedLine *order = g_new(RankedLine, input->n_lines);

        for (size_t i = 0; i < input->n_lines; i++)
                order[i] = (RankedLine){ input->ranks ? input->ranks[i] : 0, i };
        qsort(order, input->n_lines, sizeof(*order), compare_ranks);
        return order;
}

void ald_labels_place(const AldLabelsInput *input, AldLabel (*ret_labels)[ALD_N_LABEL_KINDS])
{
        g_autofree RankedLine *order = NULL;
        g_autoptr(AldLabelScene) scene = NULL;
        g_autoptr(AldBoxGrid) grid = NULL;
        g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(PlacedLabel));
        Placement placement = { .labels = labels };

        for (size_t i = 0; i < input->n_lines; i++)
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        ret_labels[i][kind] = (AldLabel){ 0 };
        if (input->n_lines == 0 || !ald_box_is_valid(&input->bounds))
                return;
        order = order_lines(input);
        scene = ald_label_scene_new(input);
        placement.grid = grid = ald_box_grid_new(&input->bounds);
        for (size_t i = 0; i < MIN(input->n_lines, ALD_LABELS_MAX_LINES); i++)
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        place_label(&placement, scene, order[i].line, kind);
        improve_labels(&placement);
        for (guint i = 0; i < labels->len; i++) {
                const PlacedLabel *label = &g_array_index(labels, PlacedLabel, i);

                ret_labels[label->line][label->kind] = (AldLabel){ label->box, true };
                g_array_unref(label->candidates);
        }
}
