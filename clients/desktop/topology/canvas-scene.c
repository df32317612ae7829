/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/desktop/topology/canvas-scene.h"

#define SEARCH_STEPS 24u /* samples along a line */
#define MARGIN 24.0

AldCanvasScene *ald_canvas_scene_new(void)
{
        AldCanvasScene *scene = g_new0(AldCanvasScene, 1);

        scene->lines = g_ptr_array_new();
        return scene;
}

void ald_canvas_scene_free(AldCanvasScene *scene)
{
        if (!scene)
                return;
        g_ptr_array_unref(scene->lines);
        g_free(scene->cards);
        g_free(scene->routes);
        g_free(scene->weights);
        g_free(scene->labels);
        g_free(scene);
}

static AldCardPair *card_pairs(const GPtrArray *lines)
{
        AldCardPair *pairs = g_new(AldCardPair, lines->len);

        for (guint i = 0; i < lines->len; i++) {
                const AldDrawnLine *line = lines->pdata[i];

                pairs[i] = (AldCardPair){ line->a, line->b };
        }
        return pairs;
}

void ald_canvas_scene_arrange(
        AldCanvasScene *scene, guint n_nodes, GPtrArray *lines, const AldSceneSizes *sizes)
{
        g_autofree AldCardPair *pairs = card_pairs(lines);
        /* Among many nodes only some lines have labels, and those get a place only if one is free. */
        bool labelled = n_nodes <= ALD_SCENE_ALL_LINES_NODES;
        const AldPositionsInput input = { .n_nodes = n_nodes,
                .card_width = sizes->card_width,
                .card_height = sizes->card_height,
                .label_width = labelled ? fmax(sizes->label_widths[ALD_RULER_RATE],
                                                  sizes->label_widths[ALD_RULER_RDMA_DELAY])
                                        : 0,
                .label_height = labelled ? sizes->label_height : 0,
                .aspect = sizes->aspect,
                .edges = pairs,
                .n_edges = lines->len };
        g_autoptr(AldPositions) positions = ald_positions_new(&input);

        g_free(scene->cards);
        scene->n_nodes = n_nodes;
        scene->cards = g_steal_pointer(&positions->cards);
        scene->bounds = positions->bounds;
}

void ald_canvas_scene_move(AldCanvasScene *scene, guint node, double x, double y)
{
        AldBox grown;

        scene->cards[node].x = x;
        scene->cards[node].y = y;
        grown = ald_box_grow(&scene->cards[node], MARGIN);
        scene->bounds = ald_box_join(&scene->bounds, &grown);
}

static bool is_selected(const AldDrawnLine *line, const guint selected[2])
{
        if (selected[1] != G_MAXUINT)
                return (line->a == selected[0] && line->b == selected[1]) ||
                       (line->a == selected[1] && line->b == selected[0]);
        return line->a == selected[0] || line->b == selected[0];
}

static bool shows_plan(const AldCanvasScene *scene)
{
        for (guint i = 0; i < scene->lines->len; i++)
                if (((const AldDrawnLine *) scene->lines->pdata[i])->planned)
                        return true;
        return false;
}

/* Returns how prominently the line is drawn. `any` says that there is a selection or a plan, beside
 * which all other lines are drawn faint. */
static AldLineWeight line_weight(
        const AldCanvasScene *scene, const AldDrawnLine *line, const guint selected[2], bool any)
{
        if (line->planned || (selected[0] != G_MAXUINT && is_selected(line, selected)))
                return ALD_LINE_WEIGHT_SELECTED;
        if (line->trouble != ALD_LINE_TROUBLE_NONE && !any)
                return ALD_LINE_WEIGHT_USUAL;
        return any || scene->n_nodes > ALD_SCENE_ALL_LINES_NODES ? ALD_LINE_WEIGHT_FAINT
                                                                 : ALD_LINE_WEIGHT_USUAL;
}

/* Ranks labels for placement: those of the selection or of a plan come first, then the worst. Figures do not
 * count, so that a changed figure moves no label. */
static unsigned label_rank(const AldDrawnLine *line, AldLineWeight weight)
{
        return (weight == ALD_LINE_WEIGHT_SELECTED ? 0 : 8) + (unsigned) line->trouble;
}

static AldVector label_size(const AldDrawnLine *line, AldLabelKind kind, const AldSceneSizes *sizes)
{
        AldLabelRuler ruler = line->rulers[kind];

        if (!line->texts[kind])
                return (AldVector){ 0, 0 };
        return (AldVector){ ruler == ALD_RULER_WORDS ? sizes->measure(line->texts[kind], sizes->userdata)
                                                     : sizes->label_widths[ruler],
                sizes->label_height };
}

/* Returns the indices of the lines that have labels. A label may cover the faint lines. */
static GArray *labelled_lines(const AldCanvasScene *scene)
{
        GArray *indices = g_array_new(FALSE, FALSE, sizeof(guint));

        for (guint i = 0; i < scene->lines->len; i++)
                if (scene->n_nodes <= ALD_SCENE_ALL_LINES_NODES || scene->weights[i] != ALD_LINE_WEIGHT_FAINT)
                        g_array_append_val(indices, i);
        return indices;
}

static void place_labels(AldCanvasScene *scene, const AldSceneSizes *sizes)
{
        g_autoptr(GArray) indices = labelled_lines(scene);
        guint n = indices->len;
        g_autofree AldVector(*label_sizes)[ALD_N_LABEL_KINDS] = g_malloc0_n(n, sizeof *label_sizes);
        g_autofree AldLabel(*labels)[ALD_N_LABEL_KINDS] = g_malloc0_n(n, sizeof *labels);
        g_autofree unsigned *ranks = g_new(unsigned, n);
        g_autofree bool *marked = g_new(bool, n);
        g_autofree AldLine *lines = g_new(AldLine, n);
        const AldLabelsInput input = { .cards = scene->cards,
                .n_cards = scene->n_nodes,
                .bounds = scene->bounds,
                .lines = lines,
                .n_lines = n,
                .sizes = (const AldVector(*)[ALD_N_LABEL_KINDS]) label_sizes,
                .ranks = ranks,
                .marked = marked };

        for (guint k = 0; k < n; k++) {
                guint i = g_array_index(indices, guint, k);
                const AldDrawnLine *line = scene->lines->pdata[i];

                lines[k] = scene->routes[i];
                ranks[k] = label_rank(line, scene->weights[i]);
                marked[k] = ald_line_has_mark(line);
                for (AldLabelKind kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        label_sizes[k][kind] = label_size(line, kind, sizes);
        }
        ald_labels_place(&input, labels);
        if (scene->lines->len > 0)
                memset(scene->labels, 0, scene->lines->len * sizeof *scene->labels);
        for (guint k = 0; k < n; k++)
                memcpy(scene->labels[g_array_index(indices, guint, k)], labels[k], sizeof *labels);
}

void ald_canvas_scene_connect(
        AldCanvasScene *scene, GPtrArray *lines, const guint selected[2], const AldSceneSizes *sizes)
{
        g_autofree AldLineEnds *ends = g_new(AldLineEnds, lines->len);
        bool any;

        g_ptr_array_ref(lines);
        g_ptr_array_unref(scene->lines);
        scene->lines = lines;
        scene->routes = g_renew(AldLine, scene->routes, lines->len);
        scene->weights = g_renew(AldLineWeight, scene->weights, lines->len);
        scene->labels = g_realloc_n(scene->labels, lines->len, sizeof *scene->labels);
        any = selected[0] != G_MAXUINT || shows_plan(scene);
        for (guint i = 0; i < lines->len; i++) {
                const AldDrawnLine *line = lines->pdata[i];

                ends[i] = (AldLineEnds){ line->a, line->b, line->lane, line->n_lanes };
                scene->weights[i] = line_weight(scene, line, selected, any);
        }
        ald_lines_route(scene->cards, scene->n_nodes, ends, lines->len, scene->routes);
        place_labels(scene, sizes);
}

static bool is_in_label(const AldCanvasScene *scene, guint line, AldVector at)
{
        for (size_t i = 0; i < ALD_N_LABEL_KINDS; i++) {
                const AldLabel *label = &scene->labels[line][i];
                AldBox point = { at.x, at.y, 0, 0 };

                if (label->shown && ald_box_contains(&label->box, &point))
                        return true;
        }
        return false;
}

static double distance_to_route(const AldLine *route, AldVector at)
{
        double least = HUGE_VAL;

        for (guint i = 0; i < SEARCH_STEPS; i++) {
                AldVector from = ald_line_point(route, (double) i / SEARCH_STEPS);
                AldVector way = ald_vector_sub(ald_line_point(route, (i + 1.0) / SEARCH_STEPS), from);
                double square = ald_vector_dot(way, way);
                double t = square > 0 ? CLAMP(ald_vector_dot(ald_vector_sub(at, from), way) / square, 0, 1)
                                      : 0;
                AldVector nearest = ald_vector_add(from, ald_vector_scale(way, t));

                least = fmin(least, ald_vector_length(ald_vector_sub(at, nearest)));
        }
        return least;
}

int ald_canvas_scene_find_line(const AldCanvasScene *scene, AldVector at, double distance)
{
        double least = distance;
        int found = -1;

        for (guint i = 0; i < scene->lines->len; i++) {
                double from = is_in_label(scene, i, at) ? 0 : distance_to_route(&scene->routes[i], at);

                if (from < least || (found < 0 && from <= least)) {
                        least = from;
                        found = (int) i;
                }
        }
        return found;
}
