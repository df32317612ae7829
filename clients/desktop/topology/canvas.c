/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/desktop/live/node-item.h"
#include "clients/desktop/topology/canvas-scene.h"
#include "clients/desktop/topology/canvas.h"
#include "clients/desktop/topology/node-card.h"
#include "clients/desktop/widgets/widget-words.h"

#define ZOOM_LEAST 0.2
#define ZOOM_MOST 3.0
#define ZOOM_STEP 1.15
#define ZOOM_FIT_LEAST 0.02 /* small enough to show every card in any window */
#define ZOOM_FIT_MOST 1.25
#define HIT_PX 10.0
#define DRAG_LEAST_PX 8.0
#define PAN_PX 48.0
#define SCROLL_PX 32.0      /* a touchpad scrolls this far for one step of a wheel */
#define BUTTONS_PX 44       /* height of the buttons over the bottom of the canvas */
#define PORTRAIT_ASPECT 0.8 /* nodes move below this; opening the details must not get there */
#define PLACES_KEY "node-positions"
#define PLACES_MOST_PX 1e5 /* a card farther away could not be found again */
#define PLACES_OF_OTHERS 1024u
#define NATURAL_WIDTH 720
#define NATURAL_HEIGHT 480

struct _AldTopologyCanvas {
        GtkWidget parent;
        AldLiveCluster *cluster;
        GSettings *settings; /* NULL if there are none */
        GHashTable *moved;   /* node id → AldVector: the place of a card that was moved by hand */
        GPtrArray *cards;    /* AldNodeCard, by name of the node; children */
        GPtrArray *labels;   /* GtkLabel or NULL, three for each line; children */
        GtkLabel *ruler;     /* measures texts of labels; a child that is never shown */
        GPtrArray *lines;    /* AldDrawnLine */
        AldCanvasScene *scene;
        AldSceneSizes sizes;
        guint measured_serial; /* serial of the font that the labels were measured with; 0: not measured */
        char *selected[2];
        AldPlanMarks *plan; /* NULL if none is shown */

        double zoom;
        AldVector origin; /* the origin of the scene, in pixels of the widget */
        bool fits;        /* shows everything, until zoomed or panned */
        bool used;
        guint arrange_id;
        GskRenderNode *picture;
        int picture_width, picture_height, picture_scale;

        AldVector drag_origin;
        int dragged; /* index of a card; -1: the whole scene */
        bool drags;
};

G_DEFINE_FINAL_TYPE(AldTopologyCanvas, ald_topology_canvas, GTK_TYPE_WIDGET)

/* Returns whether there are so many nodes that cards must be small to remain readable. */
static bool has_compact_cards(const AldTopologyCanvas *canvas)
{
        return canvas->cards->len > ALD_RING_NODES;
}

/* The lines are drawn into a picture, which is kept while only figures change. */

static void drop_picture(AldTopologyCanvas *canvas)
{
        g_clear_pointer(&canvas->picture, gsk_render_node_unref);
        gtk_widget_queue_draw(GTK_WIDGET(canvas));
}

static void draw_lines(AldTopologyCanvas *canvas, cairo_t *cairo)
{
        AdwStyleManager *manager = adw_style_manager_get_default();
        const AldPictureStyle style = { adw_style_manager_get_dark(manager),
                adw_style_manager_get_high_contrast(manager), has_compact_cards(canvas) };
        const AldCanvasScene *scene = canvas->scene;

        cairo_translate(cairo, canvas->origin.x, canvas->origin.y);
        cairo_scale(cairo, canvas->zoom, canvas->zoom);
        for (AldLineWeight weight = ALD_LINE_WEIGHT_FAINT; weight <= ALD_LINE_WEIGHT_SELECTED; weight++)
                for (guint i = 0; i < scene->lines->len; i++)
                        if (scene->weights[i] == weight)
                                ald_line_draw(
                                        cairo, &scene->routes[i], scene->lines->pdata[i], weight, &style);
}

/* Returns a cairo node rather than a texture, because with its cairo renderer GTK 4.8 converts each pixel of
 * a texture in every frame. */
static GskRenderNode *make_picture(AldTopologyCanvas *canvas, int width, int height, int scale)
{
        cairo_surface_t *surface = cairo_image_surface_create(
                CAIRO_FORMAT_ARGB32, width * scale, height * scale);
        GskRenderNode *picture = gsk_cairo_node_new(&GRAPHENE_RECT_INIT(0, 0, (float) width, (float) height));
        cairo_t *cairo = cairo_create(surface);

        cairo_surface_set_device_scale(surface, scale, scale);
        draw_lines(canvas, cairo);
        cairo_destroy(cairo);
        cairo = gsk_cairo_node_get_draw_context(picture);
        cairo_set_source_surface(cairo, surface, 0, 0);
        cairo_paint(cairo);
        cairo_destroy(cairo);
        cairo_surface_destroy(surface);
        return picture;
}

static void ald_topology_canvas_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(widget);
        int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
        int scale = gtk_widget_get_scale_factor(widget);

        if (width <= 0 || height <= 0)
                return;
        if (!canvas->picture || canvas->picture_width != width || canvas->picture_height != height ||
                canvas->picture_scale != scale) {
                g_clear_pointer(&canvas->picture, gsk_render_node_unref);
                canvas->picture = make_picture(canvas, width, height, scale);
                canvas->picture_width = width;
                canvas->picture_height = height;
                canvas->picture_scale = scale;
        }
        gtk_snapshot_append_node(snapshot, canvas->picture);
        GTK_WIDGET_CLASS(ald_topology_canvas_parent_class)->snapshot(widget, snapshot);
}

/* Returns the width that a label with this text would have. It must not set the text of a label, because
 * sizes are needed during allocation. */
static double measure_text(const char *text, gpointer userdata)
{
        GtkWidget *ruler = GTK_WIDGET(ALD_TOPOLOGY_CANVAS(userdata)->ruler);
        g_autofree char *widest = g_strdup(text);
        g_autoptr(PangoLayout) layout = NULL;
        int width, around;

        /* In a label all digits are as wide as the widest digit, but not in a plain layout. */
        for (char *c = widest; *c; c++)
                if (g_ascii_isdigit(*c))
                        *c = '8';
        layout = gtk_widget_create_pango_layout(ruler, widest);
        pango_layout_get_pixel_size(layout, &width, NULL);
        gtk_widget_measure(ruler, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &around, NULL, NULL);
        return width + around;
}

static void update_label_sizes(AldTopologyCanvas *canvas)
{
        guint serial = pango_context_get_serial(gtk_widget_get_pango_context(GTK_WIDGET(canvas->ruler)));
        int height;

        /* The font rarely changes, unlike figures. */
        if (serial == canvas->measured_serial)
                return;
        canvas->measured_serial = serial;
        gtk_widget_measure(
                GTK_WIDGET(canvas->ruler), GTK_ORIENTATION_VERTICAL, -1, NULL, &height, NULL, NULL);
        canvas->sizes.label_height = height;
        for (AldLabelRuler ruler = 0; ruler < ALD_N_RULERS; ruler++) {
                g_autofree char *text = ald_label_ruler_text(ruler);

                canvas->sizes.label_widths[ruler] = measure_text(text, canvas);
        }
}

/* Measures the labels by the widest figures, so that a figure that changes moves nothing, and the cards as
 * they are. */
static void update_sizes(AldTopologyCanvas *canvas)
{
        int width = gtk_widget_get_width(GTK_WIDGET(canvas)),
            height = gtk_widget_get_height(GTK_WIDGET(canvas)), card = 0;
        double aspect = width > 0 && height > 0 ? (double) width / height : 1.6;
        bool compact = has_compact_cards(canvas);
        int card_width = compact ? ALD_COMPACT_WIDTH : ALD_CARD_WIDTH;
        double before = canvas->sizes.card_width == card_width ? canvas->sizes.card_height : 0;

        update_label_sizes(canvas);
        for (guint i = 0; i < canvas->cards->len; i++) {
                int least;

                gtk_widget_measure(canvas->cards->pdata[i], GTK_ORIENTATION_VERTICAL, card_width, NULL,
                        &least, NULL, NULL);
                card = MAX(card, least);
        }
        /* A card has fewer lines while its node is offline, so the height never shrinks. */
        canvas->sizes.card_width = card_width;
        canvas->sizes.card_height = MAX(MAX(compact ? ALD_COMPACT_HEIGHT : ALD_CARD_HEIGHT, card), before);
        canvas->sizes.aspect = aspect < PORTRAIT_ASPECT ? 0.6 : 1.5;
}

static const char *card_node_id(AldTopologyCanvas *canvas, guint index)
{
        return ald_node_item_id(ald_node_card_item(canvas->cards->pdata[index]));
}

static guint index_of(AldTopologyCanvas *canvas, const char *id)
{
        for (guint i = 0; id && i < canvas->cards->len; i++)
                if (strcmp(card_node_id(canvas, i), id) == 0)
                        return i;
        return G_MAXUINT;
}

static void set_class(GtkLabel *label, const char *class, bool wanted)
{
        if (wanted)
                gtk_widget_add_css_class(GTK_WIDGET(label), class);
        else
                gtk_widget_remove_css_class(GTK_WIDGET(label), class);
}

static void update_label(AldTopologyCanvas *canvas, guint i, AldLabelKind kind)
{
        const AldDrawnLine *line = canvas->lines->pdata[i];
        GtkLabel *label = canvas->labels->pdata[i * ALD_N_LABEL_KINDS + kind];

        if (!label)
                return;
        ald_label_set(GTK_WIDGET(label), line->texts[kind]);
        gtk_widget_set_child_visible(GTK_WIDGET(label), canvas->scene->labels[i][kind].shown);
        set_class(label, "troubled", line->trouble <= ALD_LINE_TROUBLE_WARNING);
        set_class(label, "faint", canvas->scene->weights[i] == ALD_LINE_WEIGHT_FAINT);
        ald_widget_describe(GTK_WIDGET(label), NULL, line->words);
}

static void update_labels(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->lines->len; i++)
                for (AldLabelKind kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        update_label(canvas, i, kind);
}

static void drop_labels(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->labels->len; i++)
                if (canvas->labels->pdata[i])
                        gtk_widget_unparent(canvas->labels->pdata[i]);
        g_ptr_array_set_size(canvas->labels, 0);
}

/* Adds a label before the cards, which are therefore drawn above it. */
static GtkLabel *make_label(AldTopologyCanvas *canvas, AldLabelKind kind)
{
        GtkWidget *label = gtk_label_new("");

        gtk_widget_add_css_class(label, "edge-label");
        gtk_widget_add_css_class(label, "numeric");
        if (kind == ALD_LABEL_MIDDLE)
                gtk_widget_add_css_class(label, "middle");
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_widget_set_can_target(label, FALSE);
        gtk_widget_set_halign(label, GTK_ALIGN_CENTER);
        gtk_widget_set_valign(label, GTK_ALIGN_CENTER);
        gtk_widget_insert_after(label, GTK_WIDGET(canvas), GTK_WIDGET(canvas->ruler));
        return GTK_LABEL(label);
}

static bool needs_label(const AldTopologyCanvas *canvas, guint i, AldLabelKind kind)
{
        const AldDrawnLine *line = canvas->lines->pdata[i];

        return line->texts[kind] && (canvas->scene->n_nodes <= ALD_SCENE_ALL_LINES_NODES ||
                                            canvas->scene->weights[i] != ALD_LINE_WEIGHT_FAINT);
}

/* Returns whether the labels fit the lines, as they do while a card is dragged. */
static bool has_needed_labels(const AldTopologyCanvas *canvas)
{
        if (canvas->labels->len != canvas->lines->len * ALD_N_LABEL_KINDS)
                return false;
        for (guint i = 0; i < canvas->labels->len; i++)
                if (!canvas->labels->pdata[i] ==
                        needs_label(canvas, i / ALD_N_LABEL_KINDS, i % ALD_N_LABEL_KINDS))
                        return false;
        return true;
}

static void make_labels(AldTopologyCanvas *canvas)
{
        if (has_needed_labels(canvas))
                return;
        drop_labels(canvas);
        for (guint i = 0; i < canvas->lines->len; i++)
                for (AldLabelKind kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        g_ptr_array_add(canvas->labels,
                                needs_label(canvas, i, kind) ? make_label(canvas, kind) : NULL);
}

/* Routes lines and places labels for the present places of the cards. */
static void connect_cards(AldTopologyCanvas *canvas)
{
        const guint selected[2] = { index_of(canvas, canvas->selected[0]),
                index_of(canvas, canvas->selected[1]) };

        ald_canvas_scene_connect(canvas->scene, canvas->lines, selected, &canvas->sizes);
        make_labels(canvas);
        update_labels(canvas);
        drop_picture(canvas);
        gtk_widget_queue_allocate(GTK_WIDGET(canvas));
}

static void restore_moved_cards(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->cards->len; i++) {
                const AldVector *place = g_hash_table_lookup(canvas->moved, card_node_id(canvas, i));

                if (place)
                        ald_canvas_scene_move(canvas->scene, i, place->x, place->y);
        }
}

static void arrange_cards(AldTopologyCanvas *canvas)
{
        update_sizes(canvas);
        ald_canvas_scene_arrange(canvas->scene, canvas->cards->len, canvas->lines, &canvas->sizes);
        restore_moved_cards(canvas);
        connect_cards(canvas);
}

static gboolean on_arrange(void *userdata)
{
        AldTopologyCanvas *canvas = userdata;

        canvas->arrange_id = 0;
        arrange_cards(canvas);
        return G_SOURCE_REMOVE;
}

/* The plan is kept while it is shown, although some of its nodes may have gone. */

static void mark_cards(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->cards->len; i++)
                ald_node_card_set_plan(
                        canvas->cards->pdata[i], ald_plan_marks_node(canvas->plan, card_node_id(canvas, i)));
}

static void mark_lines(AldTopologyCanvas *canvas)
{
        g_autofree const char **ids = g_new(const char *, canvas->cards->len);

        if (!canvas->plan)
                return;
        for (guint i = 0; i < canvas->cards->len; i++)
                ids[i] = card_node_id(canvas, i);
        ald_plan_marks_apply(canvas->plan, canvas->lines, ids);
}

/* Reads the lines between nodes that have a card. The graph and the list of nodes are read one after the
 * other, so that one may have nodes that the other lacks. */
static void read_lines(AldTopologyCanvas *canvas)
{
        const AldTopologySummary *summary = ald_live_cluster_topology(canvas->cluster);
        GPtrArray *lines = ald_drawn_lines(summary,
                ald_model_topology(ald_live_cluster_model(canvas->cluster)),
                ald_model_findings(ald_live_cluster_model(canvas->cluster)));

        for (guint i = lines->len; i-- > 0;) {
                AldDrawnLine *line = lines->pdata[i];
                guint a = index_of(
                        canvas, ((const AldTopologyNode *) summary->nodes->pdata[line->a])->row->node);
                guint b = index_of(
                        canvas, ((const AldTopologyNode *) summary->nodes->pdata[line->b])->row->node);

                if (a == G_MAXUINT || b == G_MAXUINT) {
                        g_ptr_array_remove_index(lines, i);
                        continue;
                }
                line->a = a;
                line->b = b;
        }
        g_ptr_array_unref(canvas->lines);
        canvas->lines = lines;
        mark_lines(canvas);
}

static bool has_same_nodes(AldTopologyCanvas *canvas, GListModel *nodes)
{
        guint n = g_list_model_get_n_items(nodes);

        if (n != canvas->cards->len)
                return false;
        for (guint i = 0; i < n; i++) {
                g_autoptr(AldNodeItem) item = g_list_model_get_item(nodes, i);

                if (item != ald_node_card_item(canvas->cards->pdata[i]))
                        return false;
        }
        return true;
}

static void drop_cards(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->cards->len; i++)
                gtk_widget_unparent(canvas->cards->pdata[i]);
        g_ptr_array_set_size(canvas->cards, 0);
}

static void show_selection(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->cards->len; i++) {
                const char *id = card_node_id(canvas, i);

                ald_node_card_set_selected(canvas->cards->pdata[i],
                        g_strcmp0(id, canvas->selected[0]) == 0 || g_strcmp0(id, canvas->selected[1]) == 0);
        }
}

/* Keeps the cards of nodes that are still there, since one of them may have the focus. */
static void make_cards(AldTopologyCanvas *canvas, GListModel *nodes)
{
        g_autoptr(GHashTable) before = g_hash_table_new(NULL, NULL);
        GHashTableIter iter;
        GtkWidget *gone;

        /* Another card may take the index of the one that is dragged. */
        canvas->dragged = -1;
        canvas->drags = false;
        for (guint i = 0; i < canvas->cards->len; i++)
                g_hash_table_insert(
                        before, ald_node_card_item(canvas->cards->pdata[i]), canvas->cards->pdata[i]);
        g_ptr_array_set_size(canvas->cards, 0);
        for (guint i = 0; i < g_list_model_get_n_items(nodes); i++) {
                g_autoptr(AldNodeItem) item = g_list_model_get_item(nodes, i);
                GtkWidget *card = g_hash_table_lookup(before, item);

                if (!card) {
                        card = ald_node_card_new(item);
                        gtk_widget_set_parent(card, GTK_WIDGET(canvas));
                }
                g_hash_table_remove(before, item);
                gtk_widget_insert_before(card, GTK_WIDGET(canvas), NULL);
                g_ptr_array_add(canvas->cards, card);
        }
        for (guint i = 0; i < canvas->cards->len; i++)
                ald_node_card_set_compact(canvas->cards->pdata[i], has_compact_cards(canvas));
        show_selection(canvas);
        g_hash_table_iter_init(&iter, before);
        while (g_hash_table_iter_next(&iter, NULL, (void **) &gone))
                gtk_widget_unparent(gone);
}

/* Returns whether the lines join the same nodes, whatever their figures. */
static bool joins_the_same(const GPtrArray *a, const GPtrArray *b)
{
        if (a->len != b->len)
                return false;
        for (guint i = 0; i < a->len; i++) {
                const AldDrawnLine *x = a->pdata[i], *y = b->pdata[i];

                if (x->a != y->a || x->b != y->b)
                        return false;
        }
        return true;
}

/* Shows new figures of the same lines. */
static void redraw_lines(AldTopologyCanvas *canvas, const GPtrArray *before)
{
        g_ptr_array_unref(canvas->scene->lines);
        canvas->scene->lines = g_ptr_array_ref(canvas->lines);
        update_labels(canvas);
        if (!ald_drawn_lines_look_alike(before, canvas->lines))
                drop_picture(canvas);
}

static void refresh_map(AldTopologyCanvas *canvas)
{
        GListModel *nodes = ald_live_cluster_nodes(canvas->cluster);
        g_autoptr(GPtrArray) before = g_ptr_array_ref(canvas->lines);
        bool same = has_same_nodes(canvas, nodes);

        if (!same) {
                make_cards(canvas, nodes);
                mark_cards(canvas);
        }
        read_lines(canvas);
        if (!same || (canvas->cards->len > ALD_RING_NODES && !joins_the_same(before, canvas->lines)))
                arrange_cards(canvas);
        else if (!ald_drawn_lines_are_alike(before, canvas->lines))
                connect_cards(canvas);
        else
                redraw_lines(canvas, before);
}

void ald_topology_canvas_set_used(AldTopologyCanvas *canvas, bool used)
{
        if (used == canvas->used)
                return;
        canvas->used = used;
        if (used) {
                refresh_map(canvas);
                return;
        }
        drop_labels(canvas);
        drop_cards(canvas);
        g_ptr_array_unref(canvas->lines);
        canvas->lines = g_ptr_array_new();
        arrange_cards(canvas);
}

static void on_updated(AldTopologyCanvas *canvas, guint parts)
{
        if (canvas->used && parts & (ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY | ALD_LIVE_FINDINGS))
                refresh_map(canvas);
}

static void on_tick(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->cards->len; i++)
                ald_node_card_tick(canvas->cards->pdata[i]);
}

void ald_topology_canvas_select(AldTopologyCanvas *canvas, const char *a, const char *b)
{
        if (g_strcmp0(canvas->selected[0], a) == 0 && g_strcmp0(canvas->selected[1], b) == 0)
                return;
        g_free(canvas->selected[0]);
        g_free(canvas->selected[1]);
        canvas->selected[0] = g_strdup(a);
        canvas->selected[1] = g_strdup(b);
        show_selection(canvas);
        connect_cards(canvas);
}

void ald_topology_canvas_show_plan(AldTopologyCanvas *canvas, AldPlanMarks *marks)
{
        ald_plan_marks_free(canvas->plan);
        canvas->plan = marks;
        if (!canvas->used)
                return;
        mark_cards(canvas);
        read_lines(canvas);
        connect_cards(canvas);
}

/* Cards that were moved by hand keep their places in the settings, by node id. */

static void load_places(AldTopologyCanvas *canvas)
{
        g_autoptr(GVariant) places = canvas->settings ? g_settings_get_value(canvas->settings, PLACES_KEY)
                                                      : NULL;
        GVariantIter iter;
        const char *id;
        AldVector place;

        if (!places)
                return;
        g_variant_iter_init(&iter, places);
        while (g_variant_iter_next(&iter, "{&s(dd)}", &id, &place.x, &place.y))
                if (fabs(place.x) < PLACES_MOST_PX && fabs(place.y) < PLACES_MOST_PX)
                        g_hash_table_replace(canvas->moved, g_strdup(id), g_memdup2(&place, sizeof place));
}

/* Keeps the places of nodes without a card: another window may have saved those of another cluster since they
 * were loaded. */
static void keep_places_of_others(AldTopologyCanvas *canvas, GVariantBuilder *builder)
{
        g_autoptr(GVariant) places = g_settings_get_value(canvas->settings, PLACES_KEY);
        GVariantIter iter;
        guint n = 0;
        const char *id;
        double x, y;

        g_variant_iter_init(&iter, places);
        while (n < PLACES_OF_OTHERS && g_variant_iter_next(&iter, "{&s(dd)}", &id, &x, &y))
                if (index_of(canvas, id) == G_MAXUINT) {
                        g_variant_builder_add(builder, "{s(dd)}", id, x, y);
                        n++;
                }
}

static void save_places(AldTopologyCanvas *canvas)
{
        GVariantBuilder builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("a{s(dd)}"));

        if (!canvas->settings)
                return;
        keep_places_of_others(canvas, &builder);
        for (guint i = 0; i < canvas->cards->len; i++) {
                const char *id = card_node_id(canvas, i);
                const AldVector *place = g_hash_table_lookup(canvas->moved, id);

                if (place)
                        g_variant_builder_add(&builder, "{s(dd)}", id, place->x, place->y);
        }
        g_settings_set_value(canvas->settings, PLACES_KEY, g_variant_builder_end(&builder));
}

static void fit_scene(AldTopologyCanvas *canvas, int width, int height)
{
        const AldBox *bounds = &canvas->scene->bounds;

        height = MAX(height - BUTTONS_PX, 1);
        if (!(bounds->width > 0) || !(bounds->height > 0))
                return;
        canvas->zoom = CLAMP(
                fmin(width / bounds->width, height / bounds->height), ZOOM_FIT_LEAST, ZOOM_FIT_MOST);
        canvas->origin.x = (width - bounds->width * canvas->zoom) / 2 - bounds->x * canvas->zoom;
        canvas->origin.y = (height - bounds->height * canvas->zoom) / 2 - bounds->y * canvas->zoom;
}

/* gtk_widget_allocate() takes ownership of the transform. */
static void allocate_child(AldTopologyCanvas *canvas, GtkWidget *child, const AldBox *box)
{
        GskTransform *transform = gsk_transform_translate(
                NULL, &GRAPHENE_POINT_INIT((float) (canvas->origin.x + box->x * canvas->zoom),
                              (float) (canvas->origin.y + box->y * canvas->zoom)));
        int unused;

        transform = gsk_transform_scale(transform, (float) canvas->zoom, (float) canvas->zoom);
        gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, &unused, NULL, NULL, NULL);
        gtk_widget_allocate(child, (int) ceil(box->width), (int) ceil(box->height), -1, transform);
}

static void allocate_labels(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->labels->len; i++) {
                const AldLabel *label = &canvas->scene->labels[i / ALD_N_LABEL_KINDS][i % ALD_N_LABEL_KINDS];

                if (canvas->labels->pdata[i] && label->shown)
                        allocate_child(canvas, canvas->labels->pdata[i], &label->box);
        }
}

static void ald_topology_canvas_size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(widget);
        AldSceneSizes before = canvas->sizes;
        AldVector origin = canvas->origin;
        double zoom = canvas->zoom;

        update_sizes(canvas);
        /* Widgets must not come or go during allocation. */
        if (!canvas->arrange_id &&
                (before.aspect != canvas->sizes.aspect || before.card_height != canvas->sizes.card_height))
                canvas->arrange_id = g_idle_add_full(G_PRIORITY_HIGH, on_arrange, canvas, NULL);
        if (canvas->fits)
                fit_scene(canvas, width, height);
        if (zoom != canvas->zoom || origin.x != canvas->origin.x || origin.y != canvas->origin.y)
                g_clear_pointer(&canvas->picture, gsk_render_node_unref);
        allocate_labels(canvas);
        for (guint i = 0; i < canvas->cards->len; i++)
                allocate_child(canvas, canvas->cards->pdata[i], &canvas->scene->cards[i]);
}

static void ald_topology_canvas_measure(GtkWidget *widget, GtkOrientation orientation, int for_size,
        int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
        *minimum = 200;
        *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? NATURAL_WIDTH : NATURAL_HEIGHT;
}

static void set_view(AldTopologyCanvas *canvas, double zoom, AldVector origin)
{
        canvas->zoom = zoom;
        canvas->origin = origin;
        canvas->fits = false;
        drop_picture(canvas);
        gtk_widget_queue_allocate(GTK_WIDGET(canvas));
}

/* Zooms so that the point x, y of the widget keeps its place. */
static void zoom_at(AldTopologyCanvas *canvas, double factor, double x, double y)
{
        /* Fitting may have zoomed out further than ZOOM_LEAST. */
        double zoom = CLAMP(canvas->zoom * factor, fmin(canvas->zoom, ZOOM_LEAST), ZOOM_MOST);
        AldVector origin = { x - (x - canvas->origin.x) * zoom / canvas->zoom,
                y - (y - canvas->origin.y) * zoom / canvas->zoom };

        set_view(canvas, zoom, origin);
}

static AldVector scene_point(AldTopologyCanvas *canvas, double x, double y)
{
        return (AldVector){ (x - canvas->origin.x) / canvas->zoom, (y - canvas->origin.y) / canvas->zoom };
}

static void zoom_by(AldTopologyCanvas *canvas, double factor)
{
        zoom_at(canvas, factor, gtk_widget_get_width(GTK_WIDGET(canvas)) / 2.0,
                gtk_widget_get_height(GTK_WIDGET(canvas)) / 2.0);
}

static void on_zoom_in(GtkWidget *widget, const char *name, GVariant *parameter)
{
        zoom_by(ALD_TOPOLOGY_CANVAS(widget), ZOOM_STEP);
}

static void on_zoom_out(GtkWidget *widget, const char *name, GVariant *parameter)
{
        zoom_by(ALD_TOPOLOGY_CANVAS(widget), 1 / ZOOM_STEP);
}

static void on_fit(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(widget);

        canvas->fits = true;
        drop_picture(canvas);
        gtk_widget_queue_allocate(widget);
}

static void on_rearrange(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(widget);

        for (guint i = 0; i < canvas->cards->len; i++)
                g_hash_table_remove(canvas->moved, card_node_id(canvas, i));
        save_places(canvas);
        canvas->fits = true;
        arrange_cards(canvas);
}

static void on_pan(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(widget);
        int x, y;

        g_variant_get(parameter, "(ii)", &x, &y);
        set_view(canvas, canvas->zoom,
                (AldVector){ canvas->origin.x + x * PAN_PX, canvas->origin.y + y * PAN_PX });
}

static gboolean on_scroll(GtkEventControllerScroll *scroll, double dx, double dy, AldTopologyCanvas *canvas)
{
        GdkEvent *event = gtk_event_controller_get_current_event(GTK_EVENT_CONTROLLER(scroll));
        graphene_point_t at;
        double x = 0, y = 0, nx, ny;

        if (gtk_event_controller_scroll_get_unit(scroll) == GDK_SCROLL_UNIT_SURFACE)
                dy /= SCROLL_PX;
        if (dy == 0 || !event || !gdk_event_get_position(event, &x, &y))
                return FALSE;
        gtk_native_get_surface_transform(gtk_widget_get_native(GTK_WIDGET(canvas)), &nx, &ny);
        if (!gtk_widget_compute_point(GTK_WIDGET(gtk_widget_get_native(GTK_WIDGET(canvas))),
                    GTK_WIDGET(canvas), &GRAPHENE_POINT_INIT((float) (x - nx), (float) (y - ny)), &at))
                return FALSE;
        zoom_at(canvas, pow(ZOOM_STEP, -dy), at.x, at.y);
        return TRUE;
}

static int card_at(AldTopologyCanvas *canvas, double x, double y)
{
        AldVector at = scene_point(canvas, x, y);
        AldBox point = { at.x, at.y, 0, 0 };

        for (guint i = canvas->cards->len; i-- > 0;)
                if (ald_box_contains(&canvas->scene->cards[i], &point))
                        return (int) i;
        return -1;
}

static void on_drag_begin(GtkGestureDrag *gesture, double x, double y, AldTopologyCanvas *canvas)
{
        canvas->dragged = card_at(canvas, x, y);
        canvas->drags = false;
        canvas->drag_origin = canvas->dragged < 0 ? canvas->origin
                                                  : (AldVector){ canvas->scene->cards[canvas->dragged].x,
                                                            canvas->scene->cards[canvas->dragged].y };
}

static void on_drag_update(GtkGestureDrag *gesture, double dx, double dy, AldTopologyCanvas *canvas)
{
        if (!canvas->drags && hypot(dx, dy) < DRAG_LEAST_PX)
                return;
        if (!canvas->drags)
                gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
        canvas->drags = true;
        if (canvas->dragged < 0) {
                set_view(canvas, canvas->zoom,
                        (AldVector){ canvas->drag_origin.x + dx, canvas->drag_origin.y + dy });
                return;
        }
        /* The set of nodes may have changed since the drag began. */
        if (canvas->dragged >= (int) canvas->cards->len)
                return;
        canvas->fits = false;
        ald_canvas_scene_move(canvas->scene, (guint) canvas->dragged,
                canvas->drag_origin.x + dx / canvas->zoom, canvas->drag_origin.y + dy / canvas->zoom);
        connect_cards(canvas);
}

static void on_drag_end(GtkGestureDrag *gesture, double dx, double dy, AldTopologyCanvas *canvas)
{
        if (canvas->drags && canvas->dragged >= 0 && canvas->dragged < (int) canvas->cards->len) {
                const char *id = card_node_id(canvas, (guint) canvas->dragged);
                AldVector *place = g_new(AldVector, 1);

                *place = (AldVector){ canvas->scene->cards[canvas->dragged].x,
                        canvas->scene->cards[canvas->dragged].y };
                g_hash_table_replace(canvas->moved, g_strdup(id), place);
                save_places(canvas);
        }
        canvas->drags = false;
}

static void on_click(GtkGestureClick *gesture, int n_press, double x, double y, AldTopologyCanvas *canvas)
{
        int i = ald_canvas_scene_find_line(canvas->scene, scene_point(canvas, x, y), HIT_PX / canvas->zoom);
        const AldDrawnLine *line = i >= 0 ? canvas->lines->pdata[i] : NULL;

        gtk_widget_grab_focus(GTK_WIDGET(canvas));
        if (line)
                gtk_widget_activate_action(GTK_WIDGET(canvas), "win.show-pair", "(ss)",
                        card_node_id(canvas, line->a), card_node_id(canvas, line->b));
        else if (n_press == 2)
                gtk_widget_activate_action(GTK_WIDGET(canvas), "canvas.fit", NULL);
        else
                gtk_widget_activate_action(GTK_WIDGET(canvas), "win.close-details", NULL);
}

static int focused_card(AldTopologyCanvas *canvas)
{
        for (guint i = 0; i < canvas->cards->len; i++)
                if (gtk_widget_has_focus(canvas->cards->pdata[i]))
                        return (int) i;
        return -1;
}

/* Labels cannot be targets of the pointer, so their lines are looked up here too. */
static gboolean on_query_tooltip(
        AldTopologyCanvas *canvas, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer userdata)
{
        int i = keyboard ? focused_card(canvas) : card_at(canvas, x, y), line;
        g_autofree char *text = NULL;

        if (i >= 0) {
                AldNodeCard *card = canvas->cards->pdata[i];

                return ald_tooltip_explain(
                        tooltip, GTK_WIDGET(canvas), GTK_WIDGET(card), ald_node_card_words(card));
        }
        if (keyboard)
                return FALSE;
        line = ald_canvas_scene_find_line(canvas->scene, scene_point(canvas, x, y), HIT_PX / canvas->zoom);
        if (line < 0)
                return FALSE;
        text = ald_drawn_line_tooltip(canvas->lines->pdata[line], (double) g_get_real_time());
        gtk_tooltip_set_text(tooltip, text);
        gtk_tooltip_set_tip_area(tooltip, &(GdkRectangle){ x - 4, y - 4, 8, 8 });
        return TRUE;
}

static void add_controllers(AldTopologyCanvas *canvas)
{
        GtkEventController *scroll = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
        GtkGesture *drag = gtk_gesture_drag_new(), *click = gtk_gesture_click_new();

        g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), canvas);
        gtk_widget_add_controller(GTK_WIDGET(canvas), scroll);
        /* The cards are buttons and would take the drag. */
        gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(drag), GTK_PHASE_CAPTURE);
        g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), canvas);
        g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), canvas);
        g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), canvas);
        gtk_widget_add_controller(GTK_WIDGET(canvas), GTK_EVENT_CONTROLLER(drag));
        g_signal_connect(click, "released", G_CALLBACK(on_click), canvas);
        gtk_widget_add_controller(GTK_WIDGET(canvas), GTK_EVENT_CONTROLLER(click));
}

static void ald_topology_canvas_dispose(GObject *object)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(object);

        g_clear_handle_id(&canvas->arrange_id, g_source_remove);
        drop_labels(canvas);
        drop_cards(canvas);
        if (canvas->ruler)
                gtk_widget_unparent(GTK_WIDGET(g_steal_pointer(&canvas->ruler)));
        g_clear_pointer(&canvas->picture, gsk_render_node_unref);
        g_clear_object(&canvas->cluster);
        g_clear_object(&canvas->settings);
        G_OBJECT_CLASS(ald_topology_canvas_parent_class)->dispose(object);
}

static void ald_topology_canvas_finalize(GObject *object)
{
        AldTopologyCanvas *canvas = ALD_TOPOLOGY_CANVAS(object);

        ald_canvas_scene_free(canvas->scene);
        ald_plan_marks_free(canvas->plan);
        g_ptr_array_unref(canvas->cards);
        g_ptr_array_unref(canvas->labels);
        g_ptr_array_unref(canvas->lines);
        g_hash_table_unref(canvas->moved);
        g_free(canvas->selected[0]);
        g_free(canvas->selected[1]);
        G_OBJECT_CLASS(ald_topology_canvas_parent_class)->finalize(object);
}

static void add_key(GtkWidgetClass *class, guint key, const char *action)
{
        gtk_widget_class_add_binding_action(class, key, 0, action, NULL);
        gtk_widget_class_add_binding_action(class, key, GDK_CONTROL_MASK, action, NULL);
}

static void ald_topology_canvas_class_init(AldTopologyCanvasClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_topology_canvas_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_topology_canvas_finalize;
        widget_class->snapshot = ald_topology_canvas_snapshot;
        widget_class->size_allocate = ald_topology_canvas_size_allocate;
        widget_class->measure = ald_topology_canvas_measure;
        gtk_widget_class_set_css_name(widget_class, "topologycanvas");
        gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
        gtk_widget_class_install_action(widget_class, "canvas.zoom-in", NULL, on_zoom_in);
        gtk_widget_class_install_action(widget_class, "canvas.zoom-out", NULL, on_zoom_out);
        gtk_widget_class_install_action(widget_class, "canvas.fit", NULL, on_fit);
        gtk_widget_class_install_action(widget_class, "canvas.rearrange", NULL, on_rearrange);
        gtk_widget_class_install_action(widget_class, "canvas.pan", "(ii)", on_pan);
        add_key(widget_class, GDK_KEY_plus, "canvas.zoom-in");
        add_key(widget_class, GDK_KEY_KP_Add, "canvas.zoom-in");
        add_key(widget_class, GDK_KEY_equal, "canvas.zoom-in");
        add_key(widget_class, GDK_KEY_minus, "canvas.zoom-out");
        add_key(widget_class, GDK_KEY_KP_Subtract, "canvas.zoom-out");
        add_key(widget_class, GDK_KEY_0, "canvas.fit");
        gtk_widget_class_add_binding_action(
                widget_class, GDK_KEY_Left, GDK_ALT_MASK, "canvas.pan", "(ii)", 1, 0);
        gtk_widget_class_add_binding_action(
                widget_class, GDK_KEY_Right, GDK_ALT_MASK, "canvas.pan", "(ii)", -1, 0);
        gtk_widget_class_add_binding_action(
                widget_class, GDK_KEY_Up, GDK_ALT_MASK, "canvas.pan", "(ii)", 0, 1);
        gtk_widget_class_add_binding_action(
                widget_class, GDK_KEY_Down, GDK_ALT_MASK, "canvas.pan", "(ii)", 0, -1);
}

static void ald_topology_canvas_init(AldTopologyCanvas *canvas)
{
        canvas->moved = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        canvas->cards = g_ptr_array_new();
        canvas->labels = g_ptr_array_new();
        canvas->lines = g_ptr_array_new();
        canvas->scene = ald_canvas_scene_new();
        canvas->sizes = (AldSceneSizes){ .measure = measure_text, .userdata = canvas };
        canvas->zoom = 1;
        canvas->fits = true;
        canvas->dragged = -1;
        canvas->ruler = GTK_LABEL(gtk_label_new(""));
        gtk_widget_add_css_class(GTK_WIDGET(canvas->ruler), "edge-label");
        gtk_widget_add_css_class(GTK_WIDGET(canvas->ruler), "numeric");
        gtk_widget_add_css_class(GTK_WIDGET(canvas->ruler), "troubled"); /* the widest style */
        gtk_widget_set_parent(GTK_WIDGET(canvas->ruler), GTK_WIDGET(canvas));
        gtk_widget_set_child_visible(GTK_WIDGET(canvas->ruler), FALSE);
        gtk_accessible_update_state(GTK_ACCESSIBLE(canvas->ruler), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
        gtk_widget_set_focusable(GTK_WIDGET(canvas), TRUE);
        gtk_widget_set_overflow(GTK_WIDGET(canvas), GTK_OVERFLOW_HIDDEN);
        gtk_accessible_update_property(GTK_ACCESSIBLE(canvas), GTK_ACCESSIBLE_PROPERTY_LABEL,
                _("Nodes and the links between them"), -1);
        add_controllers(canvas);
        gtk_widget_set_has_tooltip(GTK_WIDGET(canvas), TRUE);
        g_signal_connect(canvas, "query-tooltip", G_CALLBACK(on_query_tooltip), NULL);
        g_signal_connect_object(adw_style_manager_get_default(), "notify::dark", G_CALLBACK(drop_picture),
                canvas, G_CONNECT_SWAPPED);
        g_signal_connect_object(adw_style_manager_get_default(), "notify::high-contrast",
                G_CALLBACK(drop_picture), canvas, G_CONNECT_SWAPPED);
}

GtkWidget *ald_topology_canvas_new(AldLiveCluster *cluster, GSettings *settings)
{
        AldTopologyCanvas *canvas = g_object_new(ALD_TYPE_TOPOLOGY_CANVAS, NULL);

        canvas->cluster = g_object_ref(cluster);
        canvas->settings = settings ? g_object_ref(settings) : NULL;
        load_places(canvas);
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), canvas, G_CONNECT_SWAPPED);
        g_signal_connect_object(cluster, "tick", G_CALLBACK(on_tick), canvas, G_CONNECT_SWAPPED);
        return GTK_WIDGET(canvas);
}
