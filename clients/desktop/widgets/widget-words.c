/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/widgets/widget-words.h"

#define LINES_MAX 8

GtkWidget *ald_wrapping_label_new(const char *style_class)
{
        GtkWidget *label = gtk_label_new(NULL);

        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
        gtk_label_set_lines(GTK_LABEL(label), LINES_MAX);
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        if (style_class)
                gtk_widget_add_css_class(label, style_class);
        return label;
}

bool ald_widget_has_focus_within(GtkWidget *widget)
{
        GtkRoot *root = gtk_widget_get_root(widget);
        GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;

        return focus && gtk_widget_is_ancestor(focus, widget);
}

GtkWidget *ald_decoration_new(void)
{
        return g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);
}

void ald_decoration_show(GtkWidget *image, const char *icon)
{
        if (g_strcmp0(gtk_image_get_icon_name(GTK_IMAGE(image)), icon) != 0)
                gtk_image_set_from_icon_name(GTK_IMAGE(image), icon);
}

void ald_label_set(GtkWidget *label, const char *text)
{
        if (!g_str_equal(gtk_label_get_label(GTK_LABEL(label)), text))
                gtk_label_set_label(GTK_LABEL(label), text);
}

void ald_label_show(GtkWidget *label, const char *text)
{
        ald_label_set(label, text ?: "");
        gtk_widget_set_visible(label, text && text[0] != '\0');
}

static const struct {
        const char *style_class, *icon;
} tones[] = {
        [ALD_TONE_PLAIN] = { NULL, NULL },
        [ALD_TONE_FAINT] = { "dim-label", "content-loading-symbolic" },
        [ALD_TONE_GOOD] = { "success", "object-select-symbolic" },
        [ALD_TONE_WARNING] = { "warning", "dialog-warning-symbolic" },
        [ALD_TONE_ERROR] = { "error", "dialog-error-symbolic" },
};

void ald_widget_show_tone(GtkWidget *widget, AldTone tone)
{
        for (size_t i = 0; i < G_N_ELEMENTS(tones); i++) {
                const char *style_class = tones[i].style_class;

                if (!style_class)
                        continue;
                if (i == tone)
                        gtk_widget_add_css_class(widget, style_class);
                else
                        gtk_widget_remove_css_class(widget, style_class);
        }
}

const char *ald_tone_class(AldTone tone)
{
        return tones[tone].style_class;
}

const char *ald_tone_icon(AldTone tone)
{
        return tones[tone].icon;
}

void ald_widget_dim(GtkWidget *widget, bool dim)
{
        if (dim)
                gtk_widget_add_css_class(widget, "last-known");
        else
                gtk_widget_remove_css_class(widget, "last-known");
}

static bool remember_if_changed(GtkWidget *widget, const char *quark, const char *text)
{
        if (g_strcmp0(g_object_get_data(G_OBJECT(widget), quark), text) == 0)
                return false;
        g_object_set_data_full(G_OBJECT(widget), quark, g_strdup(text), g_free);
        return true;
}

/* Screen readers announce each change, so unchanged properties are not set again. */
void ald_widget_describe(GtkWidget *widget, const char *name, const char *description)
{
        if (remember_if_changed(widget, "ald-name", name))
                gtk_accessible_update_property(
                        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
        if (remember_if_changed(widget, "ald-description", description ?: ""))
                gtk_accessible_update_property(
                        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description ?: "", -1);
}

bool ald_tooltip_explain(GtkTooltip *tooltip, GtkWidget *within, GtkWidget *widget, const char *text)
{
        graphene_rect_t bounds;

        if (!gtk_widget_compute_bounds(widget, within, &bounds))
                return false;
        gtk_tooltip_set_text(tooltip, text);
        gtk_tooltip_set_tip_area(tooltip, &(GdkRectangle){ (int) bounds.origin.x, (int) bounds.origin.y,
                                                  (int) bounds.size.width, (int) bounds.size.height });
        return true;
}

void ald_button_name(GtkWidget *button, const char *name)
{
        gtk_widget_set_tooltip_text(button, name);
        gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}
