/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/details/rows/figure-cells.h"

#define SPACING 6

struct _AldFigureCells {
        GtkLayoutManager parent;
};

G_DEFINE_FINAL_TYPE(AldFigureCells, ald_figure_cells, GTK_TYPE_LAYOUT_MANAGER)

/* The number of visible children, and the greatest natural width. */
typedef struct Cells {
        int n, width;
} Cells;

static Cells measure_cells(GtkWidget *widget)
{
        Cells cells = { 0 };

        for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
                child = gtk_widget_get_next_sibling(child)) {
                int width;

                if (!gtk_widget_should_layout(child))
                        continue;
                gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &width, NULL, NULL);
                cells.n++;
                cells.width = MAX(cells.width, width);
        }
        return cells;
}

/* Returns the height of the line that begins with this child, if each cell has this width. */
static int height_of_line(GtkWidget *child, int columns, int width)
{
        int most = 0;

        for (int n = 0; child && n < columns; child = gtk_widget_get_next_sibling(child)) {
                int height;

                if (!gtk_widget_should_layout(child))
                        continue;
                gtk_widget_measure(child, GTK_ORIENTATION_VERTICAL, width, NULL, &height, NULL, NULL);
                most = MAX(most, height);
                n++;
        }
        return most;
}

/* Returns the height of all lines. */
static int height_of_cells(GtkWidget *widget, int columns, int width)
{
        int height = 0, i = 0;

        for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
                child = gtk_widget_get_next_sibling(child)) {
                if (!gtk_widget_should_layout(child))
                        continue;
                if (i % columns == 0)
                        height += height_of_line(child, columns, width) + (i > 0 ? SPACING : 0);
                i++;
        }
        return height;
}

static int line_extent(int n, int size)
{
        return n > 0 ? n * size + (n - 1) * SPACING : 0;
}

/* Returns the number of columns: all cells in one line, half of them, or one cell. */
static int columns_for(const Cells *cells, int width)
{
        int half = (cells->n + 1) / 2;

        if (width < 0 || line_extent(cells->n, cells->width) <= width)
                return MAX(cells->n, 1);
        return line_extent(half, cells->width) <= width ? half : 1;
}

static GtkSizeRequestMode ald_figure_cells_get_request_mode(GtkLayoutManager *manager, GtkWidget *widget)
{
        return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static int width_of_cell(const Cells *cells, int columns, int width)
{
        return width < 0 ? cells->width : (width + SPACING) / columns - SPACING;
}

static void ald_figure_cells_measure(GtkLayoutManager *manager, GtkWidget *widget, GtkOrientation orientation,
        int for_size, int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
        Cells cells = measure_cells(widget);
        int columns = columns_for(&cells, for_size);

        if (orientation == GTK_ORIENTATION_HORIZONTAL) {
                *minimum = cells.width;
                *natural = line_extent(cells.n, cells.width);
        } else {
                *minimum = *natural = height_of_cells(
                        widget, columns, width_of_cell(&cells, columns, for_size));
        }
}

static void ald_figure_cells_allocate(
        GtkLayoutManager *manager, GtkWidget *widget, int width, int height, int baseline)
{
        Cells cells = measure_cells(widget);
        int columns = columns_for(&cells, width), i = 0;
        GtkAllocation place = { .y = -SPACING, .width = width_of_cell(&cells, columns, width) };
        gboolean mirrored = gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL;

        for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
                child = gtk_widget_get_next_sibling(child)) {
                if (!gtk_widget_should_layout(child))
                        continue;
                if (i % columns == 0) {
                        place.y += place.height + SPACING;
                        place.height = height_of_line(child, columns, place.width);
                }
                place.x = i % columns * (place.width + SPACING);
                if (mirrored)
                        place.x = width - place.x - place.width;
                gtk_widget_size_allocate(child, &place, -1);
                i++;
        }
}

static void ald_figure_cells_class_init(AldFigureCellsClass *class)
{
        GtkLayoutManagerClass *layout_class = GTK_LAYOUT_MANAGER_CLASS(class);

        layout_class->get_request_mode = ald_figure_cells_get_request_mode;
        layout_class->measure = ald_figure_cells_measure;
        layout_class->allocate = ald_figure_cells_allocate;
}

static void ald_figure_cells_init(AldFigureCells *cells)
{
}
