/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/details/rows/lazy-expander.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/widgets/widget-words.h"

#define TITLE_MAX 80
#define SUBTITLE_MAX 240

struct _AldLazyExpander {
        AdwExpanderRow parent;
        AldKeyedRows *rows;
        GtkWidget *suffix, *symbol, *button;
};

G_DEFINE_FINAL_TYPE(AldLazyExpander, ald_lazy_expander, ADW_TYPE_EXPANDER_ROW)

static void ald_lazy_expander_finalize(GObject *object)
{
        ald_keyed_rows_free(ALD_LAZY_EXPANDER(object)->rows);
        G_OBJECT_CLASS(ald_lazy_expander_parent_class)->finalize(object);
}

static void ald_lazy_expander_class_init(AldLazyExpanderClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_lazy_expander_finalize;
}

static void on_expanded_changed(AldLazyExpander *expander)
{
        if (adw_expander_row_get_expanded(ADW_EXPANDER_ROW(expander)))
                gtk_widget_activate_action(GTK_WIDGET(expander), "details.refresh", NULL);
}

/* Makes one box for all suffixes, since versions of libadwaita order several differently. */
static GtkWidget *make_suffix(AldLazyExpander *expander)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

        gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
#if ADW_CHECK_VERSION(1, 4, 0)
        adw_expander_row_add_suffix(ADW_EXPANDER_ROW(expander), box);
#else
        adw_expander_row_add_action(ADW_EXPANDER_ROW(expander), box);
#endif
        return box;
}

static void ald_lazy_expander_init(AldLazyExpander *expander)
{
        adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(expander), FALSE);
        expander->rows = ald_keyed_rows_new(GTK_WIDGET(expander));
        expander->suffix = make_suffix(expander);
        g_signal_connect(expander, "notify::expanded", G_CALLBACK(on_expanded_changed), NULL);
}

GtkWidget *ald_lazy_expander_new(void)
{
        return g_object_new(ALD_TYPE_LAZY_EXPANDER, NULL);
}

void ald_lazy_expander_show(
        AldLazyExpander *expander, const char *title, const char *subtitle, const char *spoken)
{
        g_autofree char *brief = ald_text_shortened(title, TITLE_MAX),
                        *below = ald_text_shortened(subtitle, SUBTITLE_MAX);

        if (g_strcmp0(adw_preferences_row_get_title(ADW_PREFERENCES_ROW(expander)), brief) != 0)
                adw_preferences_row_set_title(ADW_PREFERENCES_ROW(expander), brief);
        if (g_strcmp0(adw_expander_row_get_subtitle(ADW_EXPANDER_ROW(expander)), below) != 0)
                adw_expander_row_set_subtitle(ADW_EXPANDER_ROW(expander), below);
        ald_widget_describe(GTK_WIDGET(expander), title, spoken ?: subtitle);
}

void ald_lazy_expander_show_state(AldLazyExpander *expander, const char *words, AldTone tone)
{
        const char *icon = ald_tone_icon(tone);

        if (!expander->symbol) {
                expander->symbol = gtk_image_new();
                gtk_box_prepend(GTK_BOX(expander->suffix), expander->symbol);
        }
        gtk_widget_set_visible(expander->symbol, icon != NULL);
        if (!icon)
                return;
        ald_decoration_show(expander->symbol, icon);
        if (g_strcmp0(gtk_widget_get_tooltip_text(expander->symbol), words) != 0)
                gtk_widget_set_tooltip_text(expander->symbol, words);
        ald_widget_show_tone(expander->symbol, tone);
        ald_widget_describe(expander->symbol, words, NULL);
}

GtkWidget *ald_lazy_expander_button(AldLazyExpander *expander, const char *icon)
{
        if (!expander->button) {
                expander->button = gtk_button_new_from_icon_name(icon);
                gtk_widget_add_css_class(expander->button, "flat");
                gtk_box_append(GTK_BOX(expander->suffix), expander->button);
        }
        return expander->button;
}

AldKeyedRows *ald_lazy_expander_open_rows(AldLazyExpander *expander)
{
        return adw_expander_row_get_expanded(ADW_EXPANDER_ROW(expander)) ? expander->rows : NULL;
}
