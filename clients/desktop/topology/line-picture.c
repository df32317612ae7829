/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/topology/line-picture.h"

#define ARROW_LENGTH 10.0
#define ARROW_WIDTH 8.0
#define MARK 6.0
#define WIDTH_LEAST 1.5
#define WIDTH_MOST 4.5
#define RATE_LEAST 1e8 /* bits per second drawn with the least and the greatest width */
#define RATE_MOST 1e11

typedef struct Color {
        double red, green, blue;
} Color;

/* Returns a colour from GNOME's palette, in a shade with good contrast on a light or dark background. */
static Color line_color(const AldDrawnLine *line, const AldPictureStyle *style)
{
        static const struct {
                Color light, dark;
        } neutral = { { 0.37, 0.36, 0.39 }, { 0.75, 0.75, 0.74 } },
          blue = { { 0.11, 0.44, 0.85 }, { 0.38, 0.63, 0.92 } },
          orange = { { 0.78, 0.31, 0.0 }, { 1.0, 0.64, 0.28 } },
          red = { { 0.75, 0.11, 0.16 }, { 0.96, 0.38, 0.32 } };

        if (line->trouble == ALD_LINE_TROUBLE_ERROR && line->presence != ALD_EDGE_ROW_PRESENCE_OFFLINE)
                return style->dark ? red.dark : red.light;
        if (line->trouble == ALD_LINE_TROUBLE_WARNING)
                return style->dark ? orange.dark : orange.light;
        if (line->kind == ALD_LINE_RDMA && line->presence == ALD_EDGE_ROW_PRESENCE_LIVE)
                return style->dark ? blue.dark : blue.light;
        return style->dark ? neutral.dark : neutral.light;
}

static double line_alpha(const AldDrawnLine *line, AldLineWeight weight, const AldPictureStyle *style)
{
        double alpha = line->presence == ALD_EDGE_ROW_PRESENCE_OFFLINE ? 0.45
                       : line->presence == ALD_EDGE_ROW_PRESENCE_LIVE  ? 0.95
                                                                       : 0.7;

        if (weight == ALD_LINE_WEIGHT_FAINT)
                alpha *= style->many ? 0.12 : 0.3;
        return style->high_contrast ? fmin(1, alpha * 1.6) : alpha;
}

/* Returns a width that grows with the logarithm of the rate of the faster direction. */
static double line_width(const AldDrawnLine *line, AldLineWeight weight)
{
        uint64_t there = line->there == ALD_ABSENT_UINT64 ? 0 : line->there;
        uint64_t back = line->back == ALD_ABSENT_UINT64 ? 0 : line->back;
        double rate = (double) MAX(there, back), share = 0;

        if (rate > RATE_LEAST)
                share = fmin(1, log(rate / RATE_LEAST) / log(RATE_MOST / RATE_LEAST));
        return WIDTH_LEAST + share * (WIDTH_MOST - WIDTH_LEAST) +
               (weight == ALD_LINE_WEIGHT_SELECTED ? 1 : 0);
}

/* Adds the route to the path. The curve is quadratic, but cairo knows only cubic ones. */
static void trace_route(cairo_t *cairo, const AldLine *route)
{
        AldVector first = ald_vector_mix(route->start, route->control, 2.0 / 3),
                  second = ald_vector_mix(route->end, route->control, 2.0 / 3);

        cairo_move_to(cairo, route->start.x, route->start.y);
        if (route->curved)
                cairo_curve_to(cairo, first.x, first.y, second.x, second.y, route->end.x, route->end.y);
        else
                cairo_line_to(cairo, route->end.x, route->end.y);
}

static void draw_arrow(cairo_t *cairo, AldVector tip, AldVector direction, double width)
{
        double length = ARROW_LENGTH + width, half = (ARROW_WIDTH + width) / 2;
        AldVector back = ald_vector_sub(tip, ald_vector_scale(direction, length));
        AldVector aside = ald_vector_scale(ald_vector_turn(direction), half);

        cairo_move_to(cairo, tip.x, tip.y);
        cairo_line_to(cairo, back.x + aside.x, back.y + aside.y);
        cairo_line_to(cairo, back.x - aside.x, back.y - aside.y);
        cairo_close_path(cairo);
        cairo_fill(cairo);
}

/* Shortens the route to where the arrow heads begin, so that the stroke does not show at their tips. */
static AldLine without_arrows(const AldLine *route, double width)
{
        AldLine shorter = *route;
        double by = (ARROW_LENGTH + width) * 0.7;

        if (ald_vector_length(ald_vector_sub(route->end, route->start)) < 3 * by)
                return shorter;
        shorter.start = ald_vector_add(route->start, ald_vector_scale(route->start_direction, by));
        shorter.end = ald_vector_sub(route->end, ald_vector_scale(route->end_direction, by));
        return shorter;
}

static void set_dashes(cairo_t *cairo, AldEdgeRowPresence presence, double width)
{
        const double dashes[] = { 8, 6 }, dots[] = { 0.1, 6 };

        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
        cairo_set_dash(cairo, NULL, 0, 0);
        if (presence == ALD_EDGE_ROW_PRESENCE_CANDIDATE) {
                cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
                cairo_set_dash(cairo, dots, 2, 0);
        } else if (presence != ALD_EDGE_ROW_PRESENCE_LIVE && presence != ALD_EDGE_ROW_PRESENCE_STALE) {
                cairo_set_dash(cairo, dashes, 2, 0);
        }
        cairo_set_line_width(cairo, width);
}

/* Draws one stroke, or for RDMA and cables a wider one whose middle is cleared again: two strokes, or an
 * outline. */
static void draw_stroke(cairo_t *cairo, const AldLine *route, const AldDrawnLine *line, double width)
{
        bool hollow = line->kind != ALD_LINE_SOCKET;

        trace_route(cairo, route);
        set_dashes(cairo, line->presence, hollow ? width + 3 : width);
        cairo_stroke(cairo);
        if (!hollow)
                return;
        cairo_save(cairo);
        cairo_set_operator(cairo, CAIRO_OPERATOR_CLEAR);
        cairo_set_dash(cairo, NULL, 0, 0);
        cairo_set_line_width(cairo, line->kind == ALD_LINE_RDMA ? width : width + 1);
        trace_route(cairo, route);
        cairo_stroke(cairo);
        cairo_restore(cairo);
}

static void draw_cross(cairo_t *cairo, AldVector at)
{
        cairo_set_dash(cairo, NULL, 0, 0);
        cairo_set_line_width(cairo, 2);
        cairo_move_to(cairo, at.x - MARK, at.y - MARK);
        cairo_line_to(cairo, at.x + MARK, at.y + MARK);
        cairo_move_to(cairo, at.x + MARK, at.y - MARK);
        cairo_line_to(cairo, at.x - MARK, at.y + MARK);
        cairo_stroke(cairo);
}

static void draw_triangle(cairo_t *cairo, AldVector at)
{
        cairo_move_to(cairo, at.x, at.y - MARK * 1.3);
        cairo_line_to(cairo, at.x + MARK * 1.3, at.y + MARK);
        cairo_line_to(cairo, at.x - MARK * 1.3, at.y + MARK);
        cairo_close_path(cairo);
        cairo_fill(cairo);
}

/* Clips to the area that the line can cover, so that its layer is not larger. */
static void clip_to_route(cairo_t *cairo, const AldLine *route)
{
        double left = fmin(fmin(route->start.x, route->end.x), route->control.x),
               top = fmin(fmin(route->start.y, route->end.y), route->control.y),
               right = fmax(fmax(route->start.x, route->end.x), route->control.x),
               bottom = fmax(fmax(route->start.y, route->end.y), route->control.y), margin = 2 * ARROW_LENGTH;

        cairo_rectangle(
                cairo, left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin);
        cairo_clip(cairo);
}

static void draw_opaque(cairo_t *cairo, const AldLine *route, const AldDrawnLine *line, AldLineWeight weight,
        const AldPictureStyle *style)
{
        double width = line_width(line, weight);
        AldLine shorter = without_arrows(route, width);
        Color color = line_color(line, style);

        cairo_set_source_rgb(cairo, color.red, color.green, color.blue);
        draw_stroke(cairo, &shorter, line, width);
        if (line->presence == ALD_EDGE_ROW_PRESENCE_OFFLINE) {
                draw_cross(cairo, ald_line_point(route, 0.5));
        } else if (weight != ALD_LINE_WEIGHT_FAINT) {
                draw_arrow(cairo, route->end, route->end_direction, width);
                draw_arrow(cairo, route->start, ald_vector_scale(route->start_direction, -1), width);
        }
        if (line->trouble <= ALD_LINE_TROUBLE_WARNING && line->presence != ALD_EDGE_ROW_PRESENCE_OFFLINE)
                draw_triangle(cairo, ald_line_point(route, 0.5));
}

/* Draws a single stroke without a layer: nothing overlaps in it. */
static void draw_plain(cairo_t *cairo, const AldLine *route, const AldDrawnLine *line, AldLineWeight weight,
        const AldPictureStyle *style)
{
        double width = line_width(line, weight);
        AldLine shorter = without_arrows(route, width);
        Color color = line_color(line, style);

        cairo_set_source_rgba(cairo, color.red, color.green, color.blue, line_alpha(line, weight, style));
        draw_stroke(cairo, &shorter, line, width);
}

bool ald_line_has_mark(const AldDrawnLine *line)
{
        return line->presence == ALD_EDGE_ROW_PRESENCE_OFFLINE || line->trouble <= ALD_LINE_TROUBLE_WARNING;
}

void ald_line_draw(cairo_t *cairo, const AldLine *route, const AldDrawnLine *line, AldLineWeight weight,
        const AldPictureStyle *style)
{
        if (weight == ALD_LINE_WEIGHT_FAINT && line->kind == ALD_LINE_SOCKET &&
                line->presence != ALD_EDGE_ROW_PRESENCE_OFFLINE && line->trouble == ALD_LINE_TROUBLE_NONE) {
                draw_plain(cairo, route, line, weight, style);
                return;
        }
        cairo_save(cairo);
        clip_to_route(cairo, route);
        cairo_push_group(cairo);
        draw_opaque(cairo, route, line, weight, style);
        cairo_pop_group_to_source(cairo);
        cairo_paint_with_alpha(cairo, line_alpha(line, weight, style));
        cairo_restore(cairo);
}
