/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/cluster-facts.h"
#include "clients/desktop/topology/tiles.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

#define TILES 4u

/* The widgets belong to the box of all tiles. */
typedef struct Tile {
        const char *title;
        const char *(*name)(AldModel *model); /* NULL if it is always the title */
        char *(*describe)(AldModel *model);   /* returns NULL to hide the tile */
        GtkLabel *heading, *figure, *note;
        GtkWidget *box;
} Tile;

typedef struct Tiles {
        AldLiveCluster *cluster;
        Tile tiles[TILES];
} Tiles;

/* Splits a text into its figure and what follows, such as "165 TFLOPS" and "1 device left out: never
 * measured", and returns the latter. In every language the text begins with a number and its unit, or with
 * ALD_ABSENT_TEXT. */
static const char *split_figure(char *text)
{
        char *at = strchr(text, ' ');

        if (at && !g_str_has_prefix(text, ALD_ABSENT_TEXT))
                at = strchr(at + 1, ' ');
        if (!at)
                return "";
        at[at[-1] == ',' || at[-1] == ';' ? -1 : 0] = '\0';
        return at + 1;
}

static const char *name_compute(AldModel *model)
{
        return ald_cluster_has_fp32_only(model) ? _("FP32 Compute") : _("FP16 Compute");
}

static char *describe_compute(AldModel *model)
{
        g_autofree char *fp32 = ald_cluster_fp32(model), *text = ald_cluster_compute(model);

        /* Translators: the compute of FP16, and what there is beside it. */
        return fp32 ? g_strdup_printf(_("%s; FP32 compute: %s"), text, fp32) : g_steal_pointer(&text);
}

static void update_tile(Tile *tile, AldModel *model)
{
        const char *title = tile->name ? tile->name(model) : tile->title;
        g_autofree char *text = tile->describe(model), *label = NULL;
        const char *note;

        gtk_widget_set_visible(tile->box, text != NULL);
        if (!text)
                return;
        label = g_strdup_printf("%s: %s", title, text);
        note = split_figure(text);
        ald_label_set(GTK_WIDGET(tile->heading), title);
        ald_label_set(GTK_WIDGET(tile->figure), text);
        ald_label_set(GTK_WIDGET(tile->note), note);
        ald_widget_describe(tile->box, label, NULL);
}

/* Shows the whole text, since labels may be ellipsized. */
static gboolean on_query_tooltip(
        GtkWidget *box, int x, int y, gboolean keyboard, GtkTooltip *tooltip, Tiles *tiles)
{
        GtkWidget *at = gtk_widget_pick(box, x, y, GTK_PICK_DEFAULT);

        for (size_t i = 0; at && i < TILES; i++) {
                const Tile *tile = &tiles->tiles[i];
                g_autofree char *text = NULL;

                if (at != tile->box && !gtk_widget_is_ancestor(at, tile->box))
                        continue;
                text = tile->describe(ald_live_cluster_model(tiles->cluster));
                if (!text)
                        return FALSE;
                return ald_tooltip_explain(tooltip, box, tile->box, text);
        }
        return FALSE;
}

static void update_tiles(Tiles *tiles)
{
        for (size_t i = 0; i < TILES; i++)
                update_tile(&tiles->tiles[i], ald_live_cluster_model(tiles->cluster));
}

static void on_updated(GtkWidget *box, guint parts, AldLiveCluster *cluster)
{
        if (parts & ALD_LIVE_TOTALS)
                update_tiles(g_object_get_data(G_OBJECT(box), "tiles"));
}

static GtkWidget *make_tile(Tile *tile)
{
        GtkWidget *title = gtk_label_new(tile->title);

        tile->heading = GTK_LABEL(title);
        tile->box = g_object_new(GTK_TYPE_BOX, "orientation", GTK_ORIENTATION_VERTICAL, "spacing", 2,
                "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, "hexpand", TRUE, NULL);
        tile->figure = GTK_LABEL(gtk_label_new(ALD_ABSENT_TEXT));
        tile->note = GTK_LABEL(gtk_label_new(""));
        gtk_widget_add_css_class(tile->box, "card");
        gtk_widget_add_css_class(tile->box, "tile");
        gtk_widget_add_css_class(title, "caption-heading");
        gtk_widget_add_css_class(title, "dim-label");
        gtk_widget_add_css_class(GTK_WIDGET(tile->figure), "title-2");
        gtk_widget_add_css_class(GTK_WIDGET(tile->figure), "numeric");
        gtk_widget_add_css_class(GTK_WIDGET(tile->note), "caption");
        gtk_widget_add_css_class(GTK_WIDGET(tile->note), "dim-label");
        gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
        gtk_label_set_ellipsize(tile->figure, PANGO_ELLIPSIZE_END);
        gtk_label_set_ellipsize(tile->note, PANGO_ELLIPSIZE_END);
        gtk_box_append(GTK_BOX(tile->box), title);
        gtk_box_append(GTK_BOX(tile->box), GTK_WIDGET(tile->figure));
        gtk_box_append(GTK_BOX(tile->box), GTK_WIDGET(tile->note));
        return tile->box;
}

GtkWidget *ald_tiles_new(AldLiveCluster *cluster)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
        Tiles *tiles = g_new0(Tiles, 1);

        *tiles = (Tiles){ cluster,
                { { .title = _("FP16 Compute"), .name = name_compute, .describe = describe_compute },
                        { .title = _("Memory Bandwidth"), .describe = ald_cluster_bandwidth },
                        { .title = _("Memory"), .describe = ald_cluster_memory },
                        { .title = _("Power"), .describe = ald_cluster_power } } };
        for (size_t i = 0; i < TILES; i++)
                gtk_box_append(GTK_BOX(box), make_tile(&tiles->tiles[i]));
        gtk_box_set_homogeneous(GTK_BOX(box), TRUE);
        gtk_widget_add_css_class(box, "tiles");
        g_object_set_data_full(G_OBJECT(box), "tiles", tiles, g_free);
        gtk_widget_set_has_tooltip(box, TRUE);
        g_signal_connect(box, "query-tooltip", G_CALLBACK(on_query_tooltip), tiles);
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), box, G_CONNECT_SWAPPED);
        update_tiles(tiles);
        return box;
}
