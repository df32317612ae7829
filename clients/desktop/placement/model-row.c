/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/placement/model-reading.h"
#include "clients/desktop/placement/model-row.h"
#include "clients/desktop/widgets/widget-words.h"

struct _AldModelRow {
        AdwEntryRow parent;
        GtkWidget *spinner;
        GtkNativeDialog *chooser; /* NULL if none is open */
        AldModelReading *reading; /* NULL if no model is being read */
        AldLlm *llm;
        char *path, *failure;
};

G_DEFINE_FINAL_TYPE(AldModelRow, ald_model_row, ADW_TYPE_ENTRY_ROW)

enum { CHANGED, N_SIGNALS };

static guint signals[N_SIGNALS];

static void update_state(AldModelRow *row)
{
        gtk_spinner_set_spinning(GTK_SPINNER(row->spinner), row->reading != NULL);
        gtk_widget_set_visible(row->spinner, row->reading != NULL);
        if (row->failure)
                gtk_widget_add_css_class(GTK_WIDGET(row), "error");
        else
                gtk_widget_remove_css_class(GTK_WIDGET(row), "error");
        g_signal_emit(row, signals[CHANGED], 0);
}

static void drop_model(AldModelRow *row)
{
        g_clear_pointer(&row->reading, ald_model_reading_free);
        g_clear_pointer(&row->llm, ald_llm_free);
        g_clear_pointer(&row->failure, g_free);
        g_clear_pointer(&row->path, g_free);
}

static void on_read(AldLlm *llm, const char *problem, void *userdata)
{
        AldModelRow *row = userdata;

        row->reading = NULL;
        row->llm = llm;
        if (!llm)
                row->failure = g_strdup_printf(_("Cannot read the model: %s"), problem);
        update_state(row);
}

static void read_path(AldModelRow *row)
{
        const char *path = gtk_editable_get_text(GTK_EDITABLE(row));

        drop_model(row);
        if (*path) {
                row->path = g_strdup(path);
                row->reading = ald_model_reading_start(row->path, on_read, row);
        }
        update_state(row);
}

/* Drops the model, which is no longer the one of the path in the entry. */
static void on_edited(AldModelRow *row)
{
        if (g_strcmp0(gtk_editable_get_text(GTK_EDITABLE(row)), row->path) == 0)
                return;
        drop_model(row);
        update_state(row);
}

/* Reads a path that was not typed, such as one that was dropped: the entry has no button to apply it. */
static void on_activated(AldModelRow *row)
{
        if (row->path)
                return;
        g_signal_stop_emission_by_name(row, "entry-activated");
        read_path(row);
}

/* This dialog is available in GTK 4.8, and deprecated since 4.10. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS

static void read_file(AldModelRow *row, GFile *file)
{
        g_autofree char *path = file ? g_file_get_path(file) : NULL;

        if (!path) {
                drop_model(row);
                row->failure = g_strdup(_("The model must be in a folder of this computer"));
                update_state(row);
                return;
        }
        gtk_editable_set_text(GTK_EDITABLE(row), path);
        read_path(row);
}

static void on_response(GtkNativeDialog *chooser, int response, AldModelRow *row)
{
        g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                        ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(chooser))
                                        : NULL;

        if (response == GTK_RESPONSE_ACCEPT)
                read_file(row, file);
        g_clear_object(&row->chooser);
}

static void add_filter(GtkFileChooser *chooser, const char *name, const char *pattern)
{
        g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();

        gtk_file_filter_set_name(filter, name);
        gtk_file_filter_add_pattern(filter, pattern);
        gtk_file_chooser_add_filter(chooser, filter);
}

static void open_chooser(AldModelRow *row, GtkFileChooserAction action, const char *title)
{
        GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(row));

        g_clear_object(&row->chooser);
        row->chooser = GTK_NATIVE_DIALOG(
                gtk_file_chooser_native_new(title, GTK_WINDOW(root), action, _("_Open"), _("_Cancel")));
        if (action == GTK_FILE_CHOOSER_ACTION_OPEN) {
                add_filter(GTK_FILE_CHOOSER(row->chooser), _("GGUF files"), "*.gguf");
                add_filter(GTK_FILE_CHOOSER(row->chooser), _("All files"), "*");
        }
        gtk_native_dialog_set_modal(row->chooser, TRUE);
        g_signal_connect(row->chooser, "response", G_CALLBACK(on_response), row);
        gtk_native_dialog_show(row->chooser);
}

G_GNUC_END_IGNORE_DEPRECATIONS

static void on_choose_file(AldModelRow *row)
{
        open_chooser(row, GTK_FILE_CHOOSER_ACTION_OPEN, _("Choose a GGUF File"));
}

static void on_choose_folder(AldModelRow *row)
{
        open_chooser(row, GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _("Choose a Folder With Safetensors"));
}

static void add_button(AldModelRow *row, const char *icon, const char *name, GCallback clicked)
{
        GtkWidget *button = gtk_button_new_from_icon_name(icon);

        gtk_widget_add_css_class(button, "flat");
        gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
        ald_button_name(button, name);
        g_signal_connect_swapped(button, "clicked", clicked, row);
        adw_entry_row_add_suffix(ADW_ENTRY_ROW(row), button);
}

static void ald_model_row_dispose(GObject *object)
{
        AldModelRow *row = ALD_MODEL_ROW(object);

        drop_model(row);
        g_clear_object(&row->chooser);
        G_OBJECT_CLASS(ald_model_row_parent_class)->dispose(object);
}

static void ald_model_row_class_init(AldModelRowClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_model_row_dispose;
        signals[CHANGED] = g_signal_new("model-changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL,
                NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_model_row_init(AldModelRow *row)
{
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("GGUF File or Folder"));
        adw_entry_row_set_show_apply_button(ADW_ENTRY_ROW(row), TRUE);
        row->spinner = gtk_spinner_new();
        gtk_widget_set_visible(row->spinner, FALSE);
        adw_entry_row_add_suffix(ADW_ENTRY_ROW(row), row->spinner);
        add_button(row, "document-open-symbolic", _("Choose a GGUF File"), G_CALLBACK(on_choose_file));
        add_button(
                row, "folder-symbolic", _("Choose a Folder With Safetensors"), G_CALLBACK(on_choose_folder));
        g_signal_connect(row, "apply", G_CALLBACK(read_path), NULL);
        g_signal_connect(row, "changed", G_CALLBACK(on_edited), NULL);
        g_signal_connect(row, "entry-activated", G_CALLBACK(on_activated), NULL);
}

GtkWidget *ald_model_row_new(void)
{
        return g_object_new(ALD_TYPE_MODEL_ROW, NULL);
}

const AldLlm *ald_model_row_model(AldModelRow *row)
{
        return row->llm;
}

const char *ald_model_row_path(AldModelRow *row)
{
        return row->llm ? row->path : NULL;
}

const char *ald_model_row_problem(AldModelRow *row)
{
        if (row->llm || row->failure)
                return row->failure;
        if (row->reading)
                return _("Reading the model");
        return *gtk_editable_get_text(GTK_EDITABLE(row)) ? _("Press Enter to read the model")
                                                         : _("Choose a model");
}

gboolean ald_model_row_has_failed(AldModelRow *row)
{
        return row->failure != NULL;
}
