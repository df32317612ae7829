/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/desktop/topology/matrix-captions.h"
#include "clients/desktop/topology/matrix-cells.h"
#include "clients/desktop/topology/matrix.h"
#include "clients/desktop/widgets/widget-color.h"
#include "clients/desktop/widgets/widget-words.h"

#define NAME_LEAST_CELL 13 /* pixels of a cell from which a name fits beside it */
#define NAME_LEAST_PX 40
#define NAME_MOST_PX 130
#define NAME_GAP 8
#define MARGIN_PX 16
#define LEGEND_STEPS 120
#define LEGEND_LEAST 40

/* Where the cells are, with the room for captions of segments at the left and above, and for names of nodes.
 */
typedef struct GridPlace {
        int x, y, size;
        int left, above, names;
        double cell;
} GridPlace;

/* The square of cells, with the names and captions around it. */
#define ALD_TYPE_MATRIX_GRID (ald_matrix_grid_get_type())
G_DECLARE_FINAL_TYPE(AldMatrixGrid, ald_matrix_grid, ALD, MATRIX_GRID, GtkWidget)

struct _AldMatrixGrid {
        GtkWidget parent;
        AldLiveCluster *cluster;
        AldMatrixCells *cells;
        /* The picture of the cells, and the text around it. They are kept while the cursor moves. */
        GdkTexture *picture;
        GskRenderNode *around; /* NULL if there are none */
        GridPlace picture_place;
        int picture_scale;
        int names_width; /* width of the names of nodes; 0: not measured yet */
        GtkLabel *words;
        char *name;        /* accessible name */
        guint row, column; /* of the cursor, if there is one */
        bool has_cursor;
};

G_DEFINE_FINAL_TYPE(AldMatrixGrid, ald_matrix_grid, GTK_TYPE_WIDGET)

static int measure_names(AldMatrixGrid *grid)
{
        g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(GTK_WIDGET(grid), NULL);
        int most = NAME_LEAST_PX;

        for (guint row = 0; row < grid->cells->n; row++) {
                int width;

                pango_layout_set_text(layout, grid->cells->names[row], -1);
                pango_layout_get_pixel_size(layout, &width, NULL);
                most = MAX(most, width + NAME_GAP);
        }
        return MIN(most, NAME_MOST_PX);
}

/* Returns the width of the names if they fit beside cells in this many pixels, otherwise 0. */
static int names_width(AldMatrixGrid *grid, int room)
{
        int n = grid->cells ? (int) grid->cells->n : 0;

        if (n == 0 || room - NAME_LEAST_PX < n * NAME_LEAST_CELL)
                return 0;
        if (grid->names_width == 0)
                grid->names_width = measure_names(grid);
        return room - grid->names_width >= n * NAME_LEAST_CELL ? grid->names_width : 0;
}

static GridPlace place_grid(AldMatrixGrid *grid)
{
        GtkWidget *widget = GTK_WIDGET(grid);
        int width = gtk_widget_get_width(widget) - 2 * MARGIN_PX,
            height = gtk_widget_get_height(widget) - 2 * MARGIN_PX, room;
        const AldMatrixCells *cells = grid->cells;
        int n = cells ? (int) cells->n : 0;
        GridPlace place = { 0 };

        if (n > 0) {
                place.left = (int) ald_captions_left(cells, width - height);
                place.above = (int) ald_captions_above(cells, widget, MIN(width - place.left, height));
        }
        room = MIN(width - place.left, height - place.above);
        place.names = names_width(grid, room);
        room -= place.names;
        /* Each cell gets whole pixels if there are enough. */
        place.size = n > 0 && room > n ? room / n * n : MAX(room, 1);
        place.x = MARGIN_PX + (width - place.size - place.left - place.names) / 2 + place.left + place.names;
        place.y = MARGIN_PX + place.above + place.names;
        place.cell = n > 0 ? (double) place.size / n : 0;
        return place;
}

static void append_name(GtkSnapshot *snapshot, AldMatrixGrid *grid, const GridPlace *place,
        PangoLayout *layout, guint row, bool upright)
{
        GdkRGBA color = ald_widget_color(GTK_WIDGET(grid));
        int height;

        pango_layout_set_text(layout, grid->cells->names[row], -1);
        pango_layout_get_pixel_size(layout, NULL, &height);
        gtk_snapshot_save(snapshot);
        if (upright) {
                gtk_snapshot_translate(snapshot,
                        &GRAPHENE_POINT_INIT((float) (place->x + (row + 0.5) * place->cell - height / 2.0),
                                (float) place->y - NAME_GAP / 2));
                gtk_snapshot_rotate(snapshot, -90);
        } else {
                gtk_snapshot_translate(
                        snapshot, &GRAPHENE_POINT_INIT((float) (place->x - place->names),
                                          (float) (place->y + (row + 0.5) * place->cell - height / 2.0)));
        }
        gtk_snapshot_append_layout(snapshot, layout, &color);
        gtk_snapshot_restore(snapshot);
}

static void append_names(GtkSnapshot *snapshot, AldMatrixGrid *grid, const GridPlace *place)
{
        g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(GTK_WIDGET(grid), NULL);

        pango_layout_set_width(layout, (place->names - NAME_GAP) * PANGO_SCALE);
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        pango_layout_set_single_paragraph_mode(layout, TRUE);
        for (guint row = 0; row < grid->cells->n; row++)
                append_name(snapshot, grid, place, layout, row, true);
        /* Names at the left are aligned to the cells. */
        pango_layout_set_alignment(layout, PANGO_ALIGN_RIGHT);
        for (guint row = 0; row < grid->cells->n; row++)
                append_name(snapshot, grid, place, layout, row, false);
}

static void append_captions(GtkSnapshot *snapshot, AldMatrixGrid *grid, const GridPlace *place)
{
        const AldCaptionRoom room = { .x = place->x - place->names,
                .y = place->y - place->names,
                .left = place->left,
                .above = place->above,
                .first_x = place->x,
                .first_y = place->y,
                .cell = place->cell };

        ald_captions_append(snapshot, GTK_WIDGET(grid), grid->cells, &room);
}

static void append_cursor(GtkSnapshot *snapshot, AldMatrixGrid *grid)
{
        GridPlace place = place_grid(grid);
        GdkRGBA color = ald_widget_color(GTK_WIDGET(grid));
        double size = MAX(place.cell, 6);
        graphene_rect_t bounds = GRAPHENE_RECT_INIT(
                (float) (place.x + (grid->column + 0.5) * place.cell - size / 2 - 2),
                (float) (place.y + (grid->row + 0.5) * place.cell - size / 2 - 2), (float) size + 4,
                (float) size + 4);
        GskRoundedRect outline;

        gsk_rounded_rect_init_from_rect(&outline, &bounds, 2);
        gtk_snapshot_append_border(
                snapshot, &outline, (float[4]){ 2, 2, 2, 2 }, (GdkRGBA[4]){ color, color, color, color });
}

static GskRenderNode *render_names_and_captions(AldMatrixGrid *grid, const GridPlace *place)
{
        GtkSnapshot *snapshot = gtk_snapshot_new();

        if (place->names > 0)
                append_names(snapshot, grid, place);
        append_captions(snapshot, grid, place);
        return gtk_snapshot_free_to_node(snapshot);
}

static void drop_picture(AldMatrixGrid *grid)
{
        g_clear_object(&grid->picture);
        g_clear_pointer(&grid->around, gsk_render_node_unref);
}

static void redraw_grid(AldMatrixGrid *grid)
{
        drop_picture(grid);
        grid->names_width = 0;
        gtk_widget_queue_draw(GTK_WIDGET(grid));
}

static void ensure_picture(AldMatrixGrid *grid, const GridPlace *place)
{
        int scale = gtk_widget_get_scale_factor(GTK_WIDGET(grid));
        bool dark = adw_style_manager_get_dark(adw_style_manager_get_default());

        if (grid->picture && memcmp(&grid->picture_place, place, sizeof *place) == 0 &&
                grid->picture_scale == scale)
                return;
        drop_picture(grid);
        grid->picture = ald_matrix_cells_picture(grid->cells, place->size, scale, dark);
        grid->around = render_names_and_captions(grid, place);
        grid->picture_place = *place;
        grid->picture_scale = scale;
}

static void ald_matrix_grid_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
        AldMatrixGrid *grid = ALD_MATRIX_GRID(widget);
        GridPlace place = place_grid(grid);

        if (!grid->cells || grid->cells->n == 0)
                return;
        ensure_picture(grid, &place);
        gtk_snapshot_append_texture(snapshot, grid->picture,
                &GRAPHENE_RECT_INIT(
                        (float) place.x, (float) place.y, (float) place.size, (float) place.size));
        if (grid->around)
                gtk_snapshot_append_node(snapshot, grid->around);
        if (grid->has_cursor)
                append_cursor(snapshot, grid);
}

static void ald_matrix_grid_css_changed(GtkWidget *widget, GtkCssStyleChange *change)
{
        GTK_WIDGET_CLASS(ald_matrix_grid_parent_class)->css_changed(widget, change);
        redraw_grid(ALD_MATRIX_GRID(widget));
}

static char *describe_cursor(AldMatrixGrid *grid)
{
        const AldMatrixCells *cells = grid->cells;

        if (grid->has_cursor)
                return ald_matrix_cells_words(cells, grid->row, grid->column);
        return cells->n < cells->n_all
                       ? g_strdup_printf(_("The first %u of %u nodes; the tables have all of them"), cells->n,
                                 cells->n_all)
                       : g_strdup(_("Rates from the node at the left to the one at the top"));
}

static void update_words(AldMatrixGrid *grid)
{
        g_autofree char *words = describe_cursor(grid);

        gtk_label_set_label(grid->words, words);
        ald_widget_describe(GTK_WIDGET(grid), grid->name, words);
}

/* Updates the accessible name. It includes the segments, as the description is that of the cell at the
 * cursor. */
static void update_grid_name(AldMatrixGrid *grid)
{
        const char *title = _("Rates between all nodes; the arrow keys move from cell to cell");
        g_autofree char *segments = grid->cells ? ald_matrix_cells_describe(grid->cells) : NULL;

        g_free(grid->name);
        grid->name = segments ? g_strdup_printf("%s. %s", title, segments) : g_strdup(title);
}

static void set_cursor(AldMatrixGrid *grid, guint row, guint column)
{
        if (!grid->cells || grid->cells->n == 0)
                return;
        grid->row = MIN(row, grid->cells->n - 1);
        grid->column = MIN(column, grid->cells->n - 1);
        grid->has_cursor = true;
        update_words(grid);
        gtk_widget_queue_draw(GTK_WIDGET(grid));
}

static bool find_cell(AldMatrixGrid *grid, double x, double y, guint *ret_row, guint *ret_column)
{
        GridPlace place = place_grid(grid);

        if (!grid->cells || grid->cells->n == 0 || x < place.x || y < place.y || x >= place.x + place.size ||
                y >= place.y + place.size)
                return false;
        *ret_row = (guint) ((y - place.y) / place.cell);
        *ret_column = (guint) ((x - place.x) / place.cell);
        return true;
}

static void on_motion(GtkEventControllerMotion *motion, double x, double y, AldMatrixGrid *grid)
{
        guint row, column;

        if (find_cell(grid, x, y, &row, &column))
                set_cursor(grid, row, column);
}

static void open_cell(AldMatrixGrid *grid)
{
        if (!grid->has_cursor)
                return;
        if (grid->row == grid->column)
                gtk_widget_activate_action(
                        GTK_WIDGET(grid), "win.show-node", "s", grid->cells->ids[grid->row]);
        else
                gtk_widget_activate_action(GTK_WIDGET(grid), "win.show-pair", "(ss)",
                        grid->cells->ids[grid->row], grid->cells->ids[grid->column]);
}

static void on_click(GtkGestureClick *click, int n_press, double x, double y, AldMatrixGrid *grid)
{
        guint row, column;

        gtk_widget_grab_focus(GTK_WIDGET(grid));
        if (!find_cell(grid, x, y, &row, &column))
                return;
        set_cursor(grid, row, column);
        open_cell(grid);
}

static void on_move(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldMatrixGrid *grid = ALD_MATRIX_GRID(widget);
        int x, y;

        g_variant_get(parameter, "(ii)", &x, &y);
        if (!grid->has_cursor)
                set_cursor(grid, 0, 0);
        else
                set_cursor(grid, (guint) MAX((int) grid->row + y, 0), (guint) MAX((int) grid->column + x, 0));
}

static void on_open(GtkWidget *widget, const char *name, GVariant *parameter)
{
        open_cell(ALD_MATRIX_GRID(widget));
}

static void ald_matrix_grid_read(AldMatrixGrid *grid)
{
        bool failed = ald_model_topology(ald_live_cluster_model(grid->cluster))->failure;

        ald_matrix_cells_free(grid->cells);
        /* A graph that could not be read has no nodes, but they are shown all the same. */
        grid->cells = failed ? ald_matrix_cells_new_unknown(ald_live_cluster_nodes(grid->cluster))
                             : ald_matrix_cells_new(ald_live_cluster_topology(grid->cluster));
        if (grid->cells->n == 0)
                grid->has_cursor = false;
        redraw_grid(grid);
        update_grid_name(grid);
        if (grid->has_cursor)
                set_cursor(grid, grid->row, grid->column);
        else
                update_words(grid);
}

static void ald_matrix_grid_drop(AldMatrixGrid *grid)
{
        g_clear_pointer(&grid->cells, ald_matrix_cells_free);
        drop_picture(grid);
        grid->has_cursor = false;
}

static void ald_matrix_grid_dispose(GObject *object)
{
        AldMatrixGrid *grid = ALD_MATRIX_GRID(object);

        ald_matrix_grid_drop(grid);
        g_clear_pointer(&grid->name, g_free);
        g_clear_object(&grid->cluster);
        G_OBJECT_CLASS(ald_matrix_grid_parent_class)->dispose(object);
}

static void ald_matrix_grid_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
        int *natural, int *minimum_baseline, int *natural_baseline)
{
        *minimum = 200;
        *natural = 480;
}

static void ald_matrix_grid_class_init(AldMatrixGridClass *class)
{
        static const struct {
                guint key;
                int x, y;
        } keys[] = { { GDK_KEY_Left, -1, 0 }, { GDK_KEY_Right, 1, 0 }, { GDK_KEY_Up, 0, -1 },
                { GDK_KEY_Down, 0, 1 } };
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_matrix_grid_dispose;
        widget_class->snapshot = ald_matrix_grid_snapshot;
        widget_class->measure = ald_matrix_grid_measure;
        widget_class->css_changed = ald_matrix_grid_css_changed;
        gtk_widget_class_set_css_name(widget_class, "matrixgrid");
        gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
        gtk_widget_class_install_action(widget_class, "matrix.move", "(ii)", on_move);
        gtk_widget_class_install_action(widget_class, "matrix.open", NULL, on_open);
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                gtk_widget_class_add_binding_action(
                        widget_class, keys[i].key, 0, "matrix.move", "(ii)", keys[i].x, keys[i].y);
        gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Return, 0, "matrix.open", NULL);
        gtk_widget_class_add_binding_action(widget_class, GDK_KEY_space, 0, "matrix.open", NULL);
}

static void ald_matrix_grid_init(AldMatrixGrid *grid)
{
        GtkEventController *motion = gtk_event_controller_motion_new();
        GtkGesture *click = gtk_gesture_click_new();

        gtk_widget_set_focusable(GTK_WIDGET(grid), TRUE);
        gtk_widget_set_hexpand(GTK_WIDGET(grid), TRUE);
        gtk_widget_set_vexpand(GTK_WIDGET(grid), TRUE);
        update_grid_name(grid);
        ald_widget_describe(GTK_WIDGET(grid), grid->name, NULL);
        g_signal_connect(motion, "motion", G_CALLBACK(on_motion), grid);
        g_signal_connect(click, "released", G_CALLBACK(on_click), grid);
        gtk_widget_add_controller(GTK_WIDGET(grid), motion);
        gtk_widget_add_controller(GTK_WIDGET(grid), GTK_EVENT_CONTROLLER(click));
        g_signal_connect_object(adw_style_manager_get_default(), "notify::dark", G_CALLBACK(drop_picture),
                grid, G_CONNECT_SWAPPED);
}

/* The grid, with a description of the cell at the cursor and a legend below. */

struct _AldMatrixView {
        GtkBox parent;
        AldLiveCluster *cluster;
        AldMatrixGrid *grid;
        GtkLabel *least, *most;
        bool used;
};

G_DEFINE_FINAL_TYPE(AldMatrixView, ald_matrix_view, GTK_TYPE_BOX)

static void refresh_view(AldMatrixView *view)
{
        g_autofree char *least = NULL, *most = NULL;

        ald_matrix_grid_read(view->grid);
        least = ald_format_bits_per_second(view->grid->cells->least);
        most = ald_format_bits_per_second(view->grid->cells->most);
        gtk_label_set_label(view->least, least);
        gtk_label_set_label(view->most, most);
}

static void on_updated(AldMatrixView *view, guint parts)
{
        if (view->used && parts & (ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY))
                refresh_view(view);
}

void ald_matrix_view_set_used(AldMatrixView *view, bool used)
{
        if (used == view->used)
                return;
        view->used = used;
        if (used)
                refresh_view(view);
        else
                ald_matrix_grid_drop(view->grid);
}

static guint find_row(AldMatrixGrid *grid, const char *id)
{
        guint row = 0;

        while (row < grid->cells->n && g_strcmp0(grid->cells->ids[row], id) != 0)
                row++;
        return row;
}

void ald_matrix_view_select(AldMatrixView *view, const char *a, const char *b)
{
        guint row, column;

        if (!view->used || !a || !b)
                return;
        row = find_row(view->grid, a);
        column = find_row(view->grid, b);
        if (row < view->grid->cells->n && column < view->grid->cells->n)
                set_cursor(view->grid, row, column);
}

static GtkWidget *make_scale(void)
{
        const int height = 12;
        uint32_t *data = g_new(uint32_t, LEGEND_STEPS * height);
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(GdkTexture) texture = NULL;
        GtkWidget *picture;

        for (int i = 0; i < LEGEND_STEPS * height; i++)
                data[i] = ald_matrix_color((double) (i % LEGEND_STEPS) / (LEGEND_STEPS - 1));
        bytes = g_bytes_new_take(data, LEGEND_STEPS * sizeof *data * height);
        texture = gdk_memory_texture_new(
                LEGEND_STEPS, height, GDK_MEMORY_DEFAULT, bytes, LEGEND_STEPS * sizeof *data);
        picture = gtk_picture_new_for_paintable(GDK_PAINTABLE(texture));
        /* The minimum is small enough for the screen of a phone. */
        gtk_widget_set_size_request(picture, LEGEND_LEAST, height);
        gtk_widget_set_hexpand(picture, FALSE);
        gtk_widget_set_valign(picture, GTK_ALIGN_CENTER);
        gtk_picture_set_content_fit(GTK_PICTURE(picture), GTK_CONTENT_FIT_FILL);
        return picture;
}

/* Appends a square in the colour of a state, and its word. */
static void append_swatch(GtkWidget *box, const char *style, const char *word)
{
        GtkWidget *square = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0), *label = gtk_label_new(word);

        gtk_widget_set_size_request(square, 12, 12);
        gtk_widget_set_valign(square, GTK_ALIGN_CENTER);
        gtk_widget_add_css_class(square, "swatch");
        gtk_widget_add_css_class(square, style);
        gtk_widget_add_css_class(label, "dim-label");
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_box_append(GTK_BOX(box), square);
        gtk_box_append(GTK_BOX(box), label);
}

static void ald_matrix_view_dispose(GObject *object)
{
        g_clear_object(&ALD_MATRIX_VIEW(object)->cluster);
        G_OBJECT_CLASS(ald_matrix_view_parent_class)->dispose(object);
}

static void ald_matrix_view_class_init(AldMatrixViewClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_matrix_view_dispose;
}

static void ald_matrix_view_init(AldMatrixView *view)
{
        GtkWidget *bottom = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8), *words = gtk_label_new("");

        gtk_orientable_set_orientation(GTK_ORIENTABLE(view), GTK_ORIENTATION_VERTICAL);
        view->grid = g_object_new(ALD_TYPE_MATRIX_GRID, NULL);
        view->grid->words = GTK_LABEL(words);
        view->least = GTK_LABEL(gtk_label_new(""));
        view->most = GTK_LABEL(gtk_label_new(""));
        gtk_label_set_ellipsize(GTK_LABEL(words), PANGO_ELLIPSIZE_END);
        gtk_label_set_xalign(GTK_LABEL(words), 0);
        gtk_widget_set_hexpand(words, TRUE);
        gtk_widget_add_css_class(bottom, "matrix-legend");
        gtk_box_append(GTK_BOX(bottom), words);
        append_swatch(bottom, "unmeasured", _("not measured"));
        append_swatch(bottom, "offline", _("offline"));
        gtk_box_append(GTK_BOX(bottom), GTK_WIDGET(view->least));
        gtk_box_append(GTK_BOX(bottom), make_scale());
        gtk_box_append(GTK_BOX(bottom), GTK_WIDGET(view->most));
        gtk_box_append(GTK_BOX(view), GTK_WIDGET(view->grid));
        gtk_box_append(GTK_BOX(view), bottom);
}

GtkWidget *ald_matrix_view_new(AldLiveCluster *cluster)
{
        AldMatrixView *view = g_object_new(ALD_TYPE_MATRIX_VIEW, NULL);

        view->cluster = g_object_ref(cluster);
        view->grid->cluster = g_object_ref(cluster);
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), view, G_CONNECT_SWAPPED);
        return GTK_WIDGET(view);
}
