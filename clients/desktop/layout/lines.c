/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "clients/desktop/layout/lines.h"

/* The least distance between a line and a card that it does not end at. */
#define CLEARANCE 10.0
/* More cards than this are placed in rows, around which no single curve leads. */
#define MAX_CURVED_CARDS 64u
#define PIECES 16u
#define BENDS 24u

AldVector ald_line_point(const AldLine *line, double t)
{
        return ald_vector_mix(ald_vector_mix(line->start, line->control, t),
                ald_vector_mix(line->control, line->end, t), t);
}

AldVector ald_line_direction(const AldLine *line, double t)
{
        if (!line->curved)
                return line->start_direction;
        return ald_vector_unit(ald_vector_mix(
                ald_vector_sub(line->control, line->start), ald_vector_sub(line->end, line->control), t));
}

static AldLine make_line(AldVector start, AldVector control, AldVector end, bool curved)
{
        AldLine line = { start, end, curved ? control : ald_vector_mix(start, end, 0.5), .curved = curved };
        AldVector ahead = ald_vector_unit(ald_vector_sub(end, start));

        line.start_direction = curved ? ald_vector_unit(ald_vector_sub(control, start)) : ahead;
        line.end_direction = curved ? ald_vector_unit(ald_vector_sub(end, control)) : ahead;
        return line;
}

static bool crosses_card(const AldBox *cards, size_t n_cards, const AldLineEnds *ends, AldVector from,
        AldVector to, double clearance)
{
        AldBox around = ald_box_join(&(AldBox){ from.x, from.y, 0, 0 }, &(AldBox){ to.x, to.y, 0, 0 });

        for (size_t i = 0; i < n_cards; i++) {
                AldBox grown = ald_box_grow(&cards[i], clearance);
                double enter, leave;

                if (i != ends->a && i != ends->b && ald_boxes_overlap(&grown, &around, 0) &&
                        ald_box_clip(&grown, from, to, &enter, &leave))
                        return true;
        }
        return false;
}

static bool curve_crosses_card(
        const AldBox *cards, size_t n_cards, const AldLineEnds *ends, const AldLine *line, double clearance)
{
        AldVector from = line->start;

        for (unsigned piece = 1; piece <= PIECES; piece++) {
                AldVector to = ald_line_point(line, (double) piece / PIECES);

                if (crosses_card(cards, n_cards, ends, from, to, clearance))
                        return true;
                from = to;
        }
        return false;
}

/* Finds the flattest curve that keeps clear of all other cards; of two equally flat ones, the one away from
 * the middle. Leaves the line as it is and returns false if there is none. */
static bool bend_line(
        const AldBox *cards, size_t n_cards, const AldLineEnds *ends, AldLine *line, double clearance)
{
        AldVector chord = ald_vector_sub(line->end, line->start), middle = line->control;
        AldVector across = ald_vector_turn(ald_vector_unit(chord));
        AldBox bounds = ald_boxes_bounds(cards, n_cards);
        double step = ald_vector_length(chord) / BENDS;

        if (ald_vector_dot(across, ald_vector_sub(middle, ald_box_center(&bounds))) < 0)
                across = ald_vector_scale(across, -1);
        for (unsigned i = 2; i < 2 * BENDS; i++) {
                double by = (i % 2 == 0 ? 1 : -1) * step * (i / 2);
                AldVector control = ald_vector_add(middle, ald_vector_scale(across, by));
                AldLine curve = make_line(line->start, control, line->end, true);

                if (!curve_crosses_card(cards, n_cards, ends, &curve, clearance)) {
                        *line = curve;
                        return true;
                }
        }
        return false;
}

/* Returns where a line leaves a card when it is followed from t = `from`, which lies within the card, to t =
 * `to`. */
static double find_exit(const AldLine *line, const AldBox *card, double from, double to)
{
        for (unsigned piece = 1; piece <= PIECES; piece++) {
                double t0 = from + (to - from) * (piece - 1) / PIECES,
                       t1 = from + (to - from) * piece / PIECES;
                double enter, leave;

                if (!ald_box_clip(card, ald_line_point(line, t0), ald_line_point(line, t1), &enter, &leave))
                        return t0;
                if (leave < 1)
                        return t0 + (t1 - t0) * leave;
        }
        return to;
}

/* Removes the parts of a line that lie within the cards at its ends. */
static void trim_line(AldLine *line, const AldBox *a, const AldBox *b)
{
        AldBox at_a = ald_box_grow(a, ALD_LINE_GAP), at_b = ald_box_grow(b, ALD_LINE_GAP);
        double first = find_exit(line, &at_a, 0, 1), last = find_exit(line, &at_b, 1, 0);
        AldVector start, end, control;

        if (first >= last || ald_boxes_overlap(&at_a, &at_b, 0)) {
                AldVector middle = ald_line_point(line, 0.5);

                *line = make_line(middle, middle, middle, false);
                return;
        }
        start = ald_line_point(line, first);
        end = ald_line_point(line, last);
        control = ald_vector_mix(ald_vector_mix(line->start, line->control, first),
                ald_vector_mix(line->control, line->end, first), last);
        *line = make_line(start, control, end, line->curved);
}

/* Returns the distance of a lane from the center line; the lanes stay within what both cards cover. */
static double lane_offset(const AldLineEnds *ends, const AldBox *a, const AldBox *b, AldVector across)
{
        double room_a = fabs(across.x) * a->width + fabs(across.y) * a->height;
        double room_b = fabs(across.x) * b->width + fabs(across.y) * b->height;
        double gaps = MAX(ends->n_lanes, 2) - 1.0, gap = MIN(ALD_LANE_GAP, MIN(room_a, room_b) * 0.6 / gaps);

        if (ends->lane >= ends->n_lanes)
                return 0;
        return gap * (ends->lane - (ends->n_lanes - 1.0) / 2);
}

static void shift_line(AldLine *line, AldVector by)
{
        line->start = ald_vector_add(line->start, by);
        line->end = ald_vector_add(line->end, by);
        line->control = ald_vector_add(line->control, by);
}

static AldLine route_line(const AldBox *cards, size_t n_cards, const AldLineEnds *ends)
{
        const AldBox *a = &cards[ends->a], *b = &cards[ends->b];
        AldLine line = make_line(ald_box_center(a), ald_box_center(a), ald_box_center(b), false);
        AldVector across = ald_vector_turn(line.start_direction);
        double turned = ends->a < ends->b ? 1 : -1, offset = turned * lane_offset(ends, a, b, across);
        double clearance = CLEARANCE + fabs(turned * ALD_LANE_GAP * (MAX(ends->n_lanes, 1) - 1.0) / 2);

        if (n_cards <= MAX_CURVED_CARDS &&
                crosses_card(cards, n_cards, ends, line.start, line.end, clearance / 2))
                bend_line(cards, n_cards, ends, &line, clearance);
        shift_line(&line, ald_vector_scale(across, offset));
        trim_line(&line, a, b);
        line.side = offset > 0.5 ? 1 : offset < -0.5 ? -1 : 0;
        return line;
}

void ald_lines_route(
        const AldBox *cards, size_t n_cards, const AldLineEnds *ends, size_t n_lines, AldLine *ret_lines)
{
        for (size_t i = 0; i < n_lines; i++) {
                const AldLineEnds *these = &ends[i];

                if (these->a < n_cards && these->b < n_cards && these->a != these->b &&
                        ald_box_is_valid(&cards[these->a]) && ald_box_is_valid(&cards[these->b]))
                        ret_lines[i] = route_line(cards, n_cards, these);
                else
                        ret_lines[i] = make_line(
                                (AldVector){ 0, 0 }, (AldVector){ 0, 0 }, (AldVector){ 0, 0 }, false);
        }
}
