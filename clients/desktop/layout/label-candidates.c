/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/layout/label-candidates.h"

/* The number of places tried along the part of a line where a label may be; few if there are many lines. */
#define PLACES 16u
#define FEW_PLACES 6u
/* Distances between a label and its line that keep it clear of the arrow head. */
#define BESIDE 6.0
#define FARTHER 15.0
/* The distance between a label on its line and the arrow head. */
#define BEHIND_HEAD 4.0
/* How far a label on an outer lane reaches beyond it towards the others, which are ALD_LANE_GAP away. */
#define INTO_LANE 4.0
/* The length and half the width of an arrow head. */
#define HEAD_LENGTH 11.0
#define HEAD_HALF 5.0
/* The width and height of a mark. */
#define MARK 18.0
/* The part of a line, counted from its arrow head, beside which a rate may be, and the part at each end that
 * the middle label keeps free. */
#define RATE_ZONE 0.42
#define MIDDLE_ZONE 0.3
/* A line that passes the middle of the picture at this distance or less has no side away from it. */
#define NEAR_MIDDLE 4.0
/* With more lines, every label covers some. */
#define MAX_LINES_KEPT_CLEAR 72u
/* Lines are looked up in pieces of this length. */
#define PIECE 96.0
#define MAX_PIECES 64u
/* A label on its line is clear of others at this distance; one beside it must be clearly nearer to it. */
#define NEAR_LINE 2.0
#define CLEARLY_NEARER 5.0
/* No drawn line is longer. */
#define LONGEST 1e6

#define COST_PER_PIXEL 0.15
#define COST_BESIDE 12.0
#define COST_OTHER_SIDE 8.0
#define COST_FARTHER 40.0
#define COST_COVERS_LINE 120.0
#define MAX_COVERED_PIECES 16u

/* A straight piece of a line, by its middle and the vector from there to its end. */
typedef struct LinePiece {
        AldVector middle, half;
        unsigned line;
} LinePiece;

struct AldLabelScene {
        const AldLabelsInput *input;
        GArray *pieces;                    /* LinePiece; none if there are too many lines */
        AldVector middle;                  /* of the picture */
        AldBoxGrid *cards, *heads, *lines; /* the marks are among the heads; lines are in pieces */
        unsigned places;                   /* the number tried along each line */
};

/* The search for the places of one label. */
typedef struct LabelSearch {
        const AldLabelScene *scene;
        const AldLine *line;
        unsigned line_number;
        double near; /* a line at this distance or less seems to be the one that the label belongs to */
        AldLabelKind kind;
        AldVector size;
        double side;   /* 1: right of the line from a to b; -1: left of it */
        double length; /* from end to end */
        GArray *candidates;
} LabelSearch;

static AldBox head_box(AldVector tip, AldVector inwards)
{
        AldVector base = ald_vector_add(tip, ald_vector_scale(inwards, HEAD_LENGTH));
        AldBox box = ald_box_join(&(AldBox){ tip.x, tip.y, 0, 0 }, &(AldBox){ base.x, base.y, 0, 0 });

        return ald_box_grow(&box, HEAD_HALF / 2);
}

static bool is_usable(const AldLine *line)
{
        double length = ald_vector_length(ald_vector_sub(line->end, line->start));

        return length > 1 && length < LONGEST &&
               ald_vector_length(ald_vector_sub(line->control, line->start)) < LONGEST;
}

static void add_pieces(AldLabelScene *scene, unsigned i)
{
        const AldLine *line = &scene->input->lines[i];
        double length = ald_vector_length(ald_vector_sub(line->end, line->start));
        unsigned n = (unsigned) CLAMP(length / PIECE, line->curved ? 8 : 1, MAX_PIECES);
        AldVector from = line->start;

        for (unsigned k = 1; k <= n; k++) {
                AldVector to = ald_line_point(line, (double) k / n);
                LinePiece piece = { ald_vector_mix(from, to, 0.5),
                        ald_vector_scale(ald_vector_sub(to, from), 0.5), i };
                AldBox box = ald_box_around(piece.middle, 2 * fabs(piece.half.x), 2 * fabs(piece.half.y));

                ald_box_grid_add(scene->lines, &box, scene->pieces->len);
                g_array_append_val(scene->pieces, piece);
                from = to;
        }
}

static void add_line(AldLabelScene *scene, unsigned i)
{
        const AldLine *line = &scene->input->lines[i];
        AldBox at_a = head_box(line->start, line->start_direction);
        AldBox at_b = head_box(line->end, ald_vector_scale(line->end_direction, -1));

        if (!is_usable(line))
                return;
        ald_box_grid_add(scene->heads, &at_a, i);
        ald_box_grid_add(scene->heads, &at_b, i);
        if (scene->input->marked && scene->input->marked[i]) {
                AldBox mark = ald_box_around(ald_line_point(line, 0.5), MARK, MARK);

                ald_box_grid_add(scene->heads, &mark, i);
        }
        if (scene->input->n_lines <= MAX_LINES_KEPT_CLEAR)
                add_pieces(scene, i);
}

AldLabelScene *ald_label_scene_new(const AldLabelsInput *input)
{
        AldLabelScene *scene = g_new0(AldLabelScene, 1);

        scene->input = input;
        scene->middle = ald_box_center(&input->bounds);
        scene->cards = ald_box_grid_new(&input->bounds);
        scene->heads = ald_box_grid_new(&input->bounds);
        scene->lines = ald_box_grid_new(&input->bounds);
        scene->pieces = g_array_new(FALSE, FALSE, sizeof(LinePiece));
        scene->places = input->n_lines <= MAX_LINES_KEPT_CLEAR ? PLACES : FEW_PLACES;
        for (size_t i = 0; i < input->n_cards; i++)
                if (ald_box_is_valid(&input->cards[i]))
                        ald_box_grid_add(scene->cards, &input->cards[i], (unsigned) i);
        for (size_t i = 0; i < input->n_lines; i++)
                add_line(scene, (unsigned) i);
        return scene;
}

void ald_label_scene_free(AldLabelScene *scene)
{
        if (!scene)
                return;
        ald_box_grid_free(scene->cards);
        ald_box_grid_free(scene->heads);
        ald_box_grid_free(scene->lines);
        g_array_unref(scene->pieces);
        g_free(scene);
}

/* Returns the side of a line on which its rates are: 1 or -1, as in LabelSearch. */
static double side_of_rates(const AldLabelScene *scene, const AldLine *line)
{
        AldVector across = ald_vector_turn(ald_line_direction(line, 0.5));
        double away = ald_vector_dot(across, ald_vector_sub(ald_line_point(line, 0.5), scene->middle));

        if (line->side != 0)
                return line->side;
        if (fabs(away) > NEAR_MIDDLE)
                return away > 0 ? 1 : -1;
        /* The rates are above the line, or to its right if it is upright. */
        if (fabs(across.y) > 1e-3)
                return across.y < 0 ? 1 : -1;
        return across.x > 0 ? 1 : -1;
}

/* Returns whether a piece of a line meets a box. They meet unless one of three axes separates them. */
static bool piece_meets_box(const LinePiece *piece, AldVector center, AldVector half)
{
        AldVector way = ald_vector_sub(piece->middle, center);
        double x = fabs(piece->half.x), y = fabs(piece->half.y);

        return fabs(way.x) <= x + half.x && fabs(way.y) <= y + half.y &&
               fabs(piece->half.x * way.y - piece->half.y * way.x) <= x * half.y + y * half.x;
}

/* Counts the other lines that a label covers, or seems to belong to. */
static unsigned count_covered(const LabelSearch *search, const AldBox *box)
{
        const AldLabelScene *scene = search->scene;
        AldVector half = { box->width / 2 + search->near, box->height / 2 + search->near };
        unsigned ids[MAX_COVERED_PIECES], last = search->line_number, covered = 0;
        size_t n = ald_box_grid_find(scene->lines, box, search->near, ids, MAX_COVERED_PIECES);

        for (size_t i = 0; i < n; i++) {
                const LinePiece *piece = &g_array_index(scene->pieces, LinePiece, ids[i]);

                if (piece->line == last || piece->line == search->line_number ||
                        !piece_meets_box(piece, ald_box_center(box), half))
                        continue;
                last = piece->line;
                covered++;
        }
        return covered;
}

/* Adds the place with this center, unless it is outside of the picture or too near to a card. */
static void add_candidate(LabelSearch *search, AldVector center, double cost)
{
        AldLabelCandidate candidate = { ald_box_around(center, search->size.x, search->size.y), cost };
        unsigned id;

        if (!ald_box_contains(&search->scene->input->bounds, &candidate.box) ||
                ald_box_grid_find(search->scene->cards, &candidate.box, ALD_LABEL_GAP, &id, 1) > 0)
                return;
        candidate.covers_head = ald_box_grid_find(search->scene->heads, &candidate.box, 1, &id, 1) > 0;
        candidate.cost += COST_COVERS_LINE * count_covered(search, &candidate.box);
        g_array_append_val(search->candidates, candidate);
}

/* Returns how far a label on the line reaches along it, from its center. */
static double reach_along_line(const LabelSearch *search, AldVector ahead)
{
        double x = fabs(ahead.x), y = fabs(ahead.y);

        return MIN(x > 0 ? search->size.x / 2 / x : INFINITY, y > 0 ? search->size.y / 2 / y : INFINITY);
}

/* Adds a place beside the line; `side` is 1 for the label's own side and -1 for the other one. */
static void add_beside(LabelSearch *search, double at, double side, double away, double cost)
{
        AldVector point = ald_line_point(search->line, at / search->length);
        AldVector ahead = ald_line_direction(search->line, at / search->length);
        AldVector across = ald_vector_scale(ald_vector_turn(ahead), search->side * side);
        double half = (fabs(across.x) * search->size.x + fabs(across.y) * search->size.y) / 2;

        search->near = away < 0 ? NEAR_LINE : away + CLEARLY_NEARER;
        add_candidate(search, ald_vector_add(point, ald_vector_scale(across, MAX(half + away, 0))), cost);
}

static void search_beside_line(LabelSearch *search, double at, double cost)
{
        add_beside(search, at, 1, BESIDE, cost + COST_BESIDE);
        /* A label between two lanes would not show to which of them it belongs. */
        if (search->line->side == 0)
                add_beside(search, at, -1, BESIDE, cost + COST_BESIDE + COST_OTHER_SIDE);
        add_beside(search, at, 1, FARTHER, cost + COST_FARTHER);
}

/* Adds places on the line, which continues at both ends of the label, so that the two clearly belong
 * together. On an outer lane, a label that leaves the other lanes free is preferred. */
static void search_on_line(LabelSearch *search, double at, double cost)
{
        search->near = NEAR_LINE;
        if (search->line->side != 0)
                add_beside(search, at, 1, -INTO_LANE, cost);
        add_candidate(search, ald_line_point(search->line, at / search->length), cost);
}

/* Searches from the arrow head towards the middle of the line. */
static void search_at_head(LabelSearch *search)
{
        bool at_a = search->kind == ALD_LABEL_TO_A;
        AldVector ahead = at_a ? search->line->start_direction : search->line->end_direction;
        double behind = HEAD_LENGTH + BEHIND_HEAD + reach_along_line(search, ahead),
               zone = search->length * RATE_ZONE;
        double step = MAX(zone / search->scene->places, 6);

        for (double along = 0; along <= zone; along += step) {
                double beside = at_a ? along : search->length - along,
                       on = at_a ? behind + along : search->length - behind - along;

                search_beside_line(search, beside, along * COST_PER_PIXEL);
                if (behind + along <= search->length / 2)
                        search_on_line(search, on, along * COST_PER_PIXEL);
        }
}

/* Searches from the middle of the line towards both ends. */
static void search_at_middle(LabelSearch *search)
{
        double zone = search->length * (0.5 - MIDDLE_ZONE), step = MAX(zone / search->scene->places, 6);

        for (double along = 0; along <= zone; along += step)
                for (int sign = 1; sign >= (along > 0 ? -1 : 1); sign -= 2) {
                        double at = search->length / 2 + sign * along;

                        search_beside_line(search, at, along * COST_PER_PIXEL);
                        search_on_line(search, at, along * COST_PER_PIXEL);
                }
}

static int compare_candidates(gconstpointer a, gconstpointer b)
{
        const AldLabelCandidate *left = a, *right = b;

        if (left->cost != right->cost)
                return left->cost < right->cost ? -1 : 1;
        if (left->box.x != right->box.x)
                return left->box.x < right->box.x ? -1 : 1;
        return left->box.y < right->box.y ? -1 : left->box.y > right->box.y;
}

GArray *ald_label_candidates(const AldLabelScene *scene, size_t line, AldLabelKind kind)
{
        LabelSearch search = { .scene = scene,
                .line = &scene->input->lines[line],
                .line_number = (unsigned) line,
                .kind = kind,
                .size = scene->input->sizes[line][kind] };

        search.candidates = g_array_new(FALSE, FALSE, sizeof(AldLabelCandidate));
        if (!is_usable(search.line) || !(search.size.x > 0) || !(search.size.y > 0))
                return search.candidates;
        search.side = side_of_rates(scene, search.line);
        if (kind == ALD_LABEL_MIDDLE && search.line->side == 0)
                search.side *= -1;
        search.length = ald_vector_length(ald_vector_sub(search.line->end, search.line->start));
        if (kind == ALD_LABEL_MIDDLE)
                search_at_middle(&search);
        else
                search_at_head(&search);
        g_array_sort(search.candidates, compare_candidates);
        return search.candidates;
}
