/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "clients/desktop/topology/matrix-captions.h"
#include "clients/desktop/widgets/widget-color.h"

#define TEXT_SCALE 0.85
#define LEFT_LEAST 84.0
#define LEFT_MOST 220.0
#define ABOVE_LEAST 72.0 /* pixels of a segment from which a caption above it is readable */
#define GUTTER 18.0      /* between a caption and its segment, with room for the bracket */
#define BRACKET 6.0      /* between the bracket and its segment */
#define GAP 3.0          /* between captions */
#define FAR_LINES 2.5    /* lines that a caption may be away from the middle of its segment */
#define ALPHA_TEXT 0.75f
#define ALPHA_LINE 0.45

static double segment_extent(const double *bounds, guint i)
{
        return bounds[i + 1] - bounds[i];
}

static int compare_extents(const void *a, const void *b, void *userdata)
{
        const guint *x = a, *y = b;
        double first = segment_extent(userdata, *x), second = segment_extent(userdata, *y);

        if (first != second)
                return first > second ? -1 : 1;
        return *x < *y ? -1 : 1;
}

static double segment_middle(const double *bounds, guint i)
{
        return (bounds[i] + bounds[i + 1]) / 2;
}

/* Returns the place of a caption in the middle of its segment, or as near to that as fits within the side. */
static double best_place(const double *bounds, guint n, guint i, double length)
{
        return CLAMP(segment_middle(bounds, i) - length / 2, 0, MAX(bounds[n] - length, 0));
}

/* Returns whether the caption does not overlap the nearest shown ones on either side. */
static bool is_free(const AldCaption *captions, guint n, guint i)
{
        guint before = i, after = i + 1;

        while (before > 0 && !captions[before - 1].shown)
                before--;
        while (after < n && !captions[after].shown)
                after++;
        return (before == 0 || captions[before - 1].at + captions[before - 1].length <= captions[i].at) &&
               (after == n || captions[i].at + captions[i].length <= captions[after].at);
}

/* Gives each caption one line, the largest segments first, and shows those that do not overlap others. */
static void place_some(const double *bounds, guint n, double line, AldCaption *captions)
{
        g_autofree guint *order = g_new(guint, n);

        for (guint i = 0; i < n; i++) {
                order[i] = i;
                captions[i] = (AldCaption){ best_place(bounds, n, i, line), line, false };
        }
        qsort_r(order, n, sizeof *order, compare_extents, (gpointer) bounds);
        for (guint i = 0; i < n; i++)
                captions[order[i]].shown = line <= bounds[n] && is_free(captions, n, order[i]);
}

/* Shows all captions, moved apart. Returns false if one of them would be too far from its segment. */
static bool place_all(const double *bounds, const double *wanted, guint n, double line, AldCaption *captions)
{
        double end = 0;

        for (guint i = 0; i < n; i++) {
                double length = MAX(MIN(wanted[i], segment_extent(bounds, i)), line);

                captions[i] = (AldCaption){ MAX(segment_middle(bounds, i) - length / 2, end), length, true };
                end = captions[i].at + length;
        }
        end = bounds[n];
        for (guint i = n; i-- > 0; end = captions[i].at) {
                AldCaption *caption = &captions[i];

                caption->at = MIN(caption->at, end - caption->length);
                if (caption->at < 0 ||
                        fabs(caption->at - best_place(bounds, n, i, caption->length)) > FAR_LINES * line)
                        return false;
        }
        return true;
}

void ald_captions_place(
        const double *bounds, const double *wanted, guint n, double line, AldCaption *ret_captions)
{
        if (!place_all(bounds, wanted, n, line, ret_captions))
                place_some(bounds, n, line, ret_captions);
}

static PangoLayout *make_layout(GtkWidget *widget, const char *text)
{
        PangoLayout *layout = gtk_widget_create_pango_layout(widget, text);
        g_autoptr(PangoAttrList) attributes = pango_attr_list_new();

        pango_attr_list_insert(attributes, pango_attr_scale_new(TEXT_SCALE));
        pango_layout_set_attributes(layout, attributes);
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        return layout;
}

static double line_height(GtkWidget *widget)
{
        g_autoptr(PangoLayout) layout = make_layout(widget, "X");
        int height;

        pango_layout_get_pixel_size(layout, NULL, &height);
        return height;
}

double ald_captions_left(const AldMatrixCells *cells, double empty)
{
        return cells->n_segments > 1 ? CLAMP(empty, LEFT_LEAST, LEFT_MOST) : 0;
}

double ald_captions_above(const AldMatrixCells *cells, GtkWidget *widget, double size)
{
        guint most = 0;

        for (guint i = 0; i < cells->n_segments; i++)
                most = MAX(most, cells->firsts[i + 1] - cells->firsts[i]);
        return cells->n_segments > 1 && most * size / cells->n >= ABOVE_LEAST
                       ? line_height(widget) + BRACKET + GAP
                       : 0;
}

/* Returns a context for the brackets and the lines that join captions with them. */

static cairo_t *begin_lines(GtkSnapshot *snapshot, GtkWidget *widget, const graphene_rect_t *bounds)
{
        cairo_t *cairo = gtk_snapshot_append_cairo(snapshot, bounds);
        GdkRGBA color = ald_widget_color(widget);

        cairo_set_source_rgba(cairo, color.red, color.green, color.blue, ALPHA_LINE);
        return cairo;
}

static void draw_left_line(
        cairo_t *cairo, const AldCaptionRoom *room, double from, double to, const AldCaption *caption)
{
        double x = room->x - BRACKET, y = room->first_y;

        cairo_rectangle(cairo, x, y + from + 1, 2, MAX(to - from - 2, 1));
        cairo_fill(cairo);
        if (!caption->shown)
                return;
        cairo_set_line_width(cairo, 1);
        cairo_move_to(cairo, room->x - GUTTER + 2, y + caption->at + caption->length / 2);
        cairo_line_to(cairo, x, y + (from + to) / 2);
        cairo_stroke(cairo);
}

static void append_text(GtkSnapshot *snapshot, GtkWidget *widget, PangoLayout *layout, double x, double y)
{
        GdkRGBA color = ald_widget_color(widget);

        color.alpha *= ALPHA_TEXT;
        gtk_snapshot_save(snapshot);
        gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float) x, (float) y));
        gtk_snapshot_append_layout(snapshot, layout, &color);
        gtk_snapshot_restore(snapshot);
}

static double *segment_bounds(const AldMatrixCells *cells, double cell)
{
        double *bounds = g_new(double, cells->n_segments + 1);

        for (guint i = 0; i <= cells->n_segments; i++)
                bounds[i] = cells->firsts[i] * cell;
        return bounds;
}

static PangoLayout *make_caption(GtkWidget *widget, const AldMatrixCells *cells, guint segment)
{
        g_autofree char *words = ald_matrix_segment_words(cells, segment);

        return make_layout(widget, words);
}

/* Returns the height of a caption with all of its words. */
static double caption_height(GtkWidget *widget, const AldMatrixCells *cells, guint segment, double width)
{
        g_autoptr(PangoLayout) layout = make_caption(widget, cells, segment);
        int height;

        pango_layout_set_width(layout, (int) (width * PANGO_SCALE));
        pango_layout_get_pixel_size(layout, NULL, &height);
        return height;
}

static AldCaption *place_left(
        GtkWidget *widget, const AldMatrixCells *cells, const AldCaptionRoom *room, const double *bounds)
{
        guint n = cells->n_segments;
        double line = line_height(widget) + GAP;
        g_autofree double *wanted = g_new(double, n);
        AldCaption *captions = g_new(AldCaption, n);

        for (guint i = 0; i < n; i++)
                /* If not even one line each fits, there may be hundreds, so they are not measured. */
                wanted[i] = n * line > bounds[n]
                                    ? line
                                    : caption_height(widget, cells, i, room->left - GUTTER) + GAP;
        ald_captions_place(bounds, wanted, n, line, captions);
        return captions;
}

static void append_left_text(GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells,
        const AldCaptionRoom *room, guint segment, const AldCaption *caption)
{
        g_autoptr(PangoLayout) layout = make_caption(widget, cells, segment);
        double width = room->left - GUTTER;
        int height;

        pango_layout_set_alignment(layout, PANGO_ALIGN_RIGHT);
        pango_layout_set_width(layout, (int) (width * PANGO_SCALE));
        pango_layout_set_height(layout, (int) ((caption->length - GAP) * PANGO_SCALE));
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        pango_layout_get_pixel_size(layout, NULL, &height);
        append_text(snapshot, widget, layout, room->x - room->left,
                room->first_y + caption->at + (caption->length - height) / 2);
}

static void append_left(
        GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells, const AldCaptionRoom *room)
{
        g_autofree double *bounds = segment_bounds(cells, room->cell);
        g_autofree AldCaption *captions = place_left(widget, cells, room, bounds);
        cairo_t *cairo = begin_lines(snapshot, widget,
                &GRAPHENE_RECT_INIT((float) (room->x - GUTTER), (float) room->first_y, (float) GUTTER,
                        (float) bounds[cells->n_segments]));

        for (guint i = 0; i < cells->n_segments; i++)
                draw_left_line(cairo, room, bounds[i], bounds[i + 1], &captions[i]);
        cairo_destroy(cairo);
        for (guint i = 0; i < cells->n_segments; i++)
                if (captions[i].shown)
                        append_left_text(snapshot, widget, cells, room, i, &captions[i]);
}

static void append_above_text(GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells,
        const AldCaptionRoom *room, guint segment, double from, double to)
{
        g_autoptr(PangoLayout) layout = make_caption(widget, cells, segment);

        pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
        pango_layout_set_width(layout, (int) ((to - from - 2 * GAP) * PANGO_SCALE));
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        append_text(snapshot, widget, layout, room->first_x + from + GAP, room->y - room->above);
}

/* Appends captions of one line each, between the bounds of their segments. */
static void append_above(
        GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells, const AldCaptionRoom *room)
{
        g_autofree double *bounds = segment_bounds(cells, room->cell);
        cairo_t *cairo = begin_lines(snapshot, widget,
                &GRAPHENE_RECT_INIT((float) room->first_x, (float) (room->y - room->above),
                        (float) bounds[cells->n_segments], (float) room->above));

        for (guint i = 0; i < cells->n_segments; i++)
                cairo_rectangle(cairo, room->first_x + bounds[i] + 1, room->y - BRACKET,
                        MAX(segment_extent(bounds, i) - 2, 1), 2);
        cairo_fill(cairo);
        cairo_destroy(cairo);
        for (guint i = 0; i < cells->n_segments; i++)
                if (segment_extent(bounds, i) >= ABOVE_LEAST)
                        append_above_text(snapshot, widget, cells, room, i, bounds[i], bounds[i + 1]);
}

void ald_captions_append(
        GtkSnapshot *snapshot, GtkWidget *widget, const AldMatrixCells *cells, const AldCaptionRoom *room)
{
        if (room->left > 0)
                append_left(snapshot, widget, cells, room);
        if (room->above > 0)
                append_above(snapshot, widget, cells, room);
}
