/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>

#include "clients/desktop/actions/prompt.h"
#include "clients/desktop/live/live-cluster.h"
#include "clients/desktop/placement/export-button.h"
#include "placement/export/plan-export.h"
#include "placement/report/report-json.h"

#define JSON "json"

struct _AldExportButton {
        AdwBin parent;
        GtkWidget *menu_button;
        const AldPlanReport *report; /* NULL if there is none */
        char *path;
        GtkWidget *prompt;        /* NULL if none is open */
        GtkNativeDialog *chooser; /* NULL if none is open */
        GBytes *text;             /* the text to be saved */
};

G_DEFINE_FINAL_TYPE(AldExportButton, ald_export_button, ADW_TYPE_BIN)

static void show_toast(AldExportButton *button, const char *text)
{
        (void) gtk_widget_activate_action(GTK_WIDGET(button), "win.say", "s", text);
}

static GString *write_json(const AldPlanReport *report)
{
        json_t *json = ald_plan_report_to_json(report);
        char *text = json_dumps(json, JSON_INDENT(2));
        GString *out = g_string_new(text);

        g_string_append_c(out, '\n');
        free(text);
        json_decref(json);
        return out;
}

static int write_text(
        AldExportButton *button, const char *format, bool force, GString **ret, char **ret_reason)
{
        const AldPlanExportOptions options = { .now_usec = (uint64_t) ald_live_real_time_usec(),
                .force = force,
                .version = ALD_VERSION,
                .model = button->path };

        if (!g_str_equal(format, JSON))
                return ald_plan_export(format, button->report, &options, ret, ret_reason);
        *ret = write_json(button->report);
        return 0;
}

/* This dialog is available in GTK 4.8, and deprecated since 4.10. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS

static void on_saved(GObject *source, GAsyncResult *result, gpointer userdata)
{
        g_autoptr(AldExportButton) button = userdata;
        g_autoptr(GError) error = NULL;
        g_autofree char *words = NULL;

        if (g_file_replace_contents_finish(G_FILE(source), result, NULL, &error))
                words = g_strdup(_("Plan saved"));
        else
                words = g_strdup_printf(_("Cannot save the plan: %s"), error->message);
        show_toast(button, words);
}

static void on_chosen(GtkNativeDialog *chooser, int response, AldExportButton *button)
{
        g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                        ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(chooser))
                                        : NULL;

        if (file)
                g_file_replace_contents_bytes_async(file, button->text, NULL, FALSE, G_FILE_CREATE_NONE, NULL,
                        on_saved, g_object_ref(button));
        g_clear_object(&button->chooser);
}

static void open_save_dialog(AldExportButton *button, const char *format, const GString *text)
{
        GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(button));
        g_autofree char *name = g_str_equal(format, JSON) || g_str_equal(format, "dot")
                                        ? g_strdup_printf("plan.%s", format)
                                        : g_strdup_printf("plan-%s.txt", format);

        g_clear_pointer(&button->text, g_bytes_unref);
        button->text = g_bytes_new(text->str, text->len);
        g_clear_object(&button->chooser);
        button->chooser = GTK_NATIVE_DIALOG(gtk_file_chooser_native_new(
                _("Save Plan"), GTK_WINDOW(root), GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"), _("_Cancel")));
        gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(button->chooser), name);
        gtk_native_dialog_set_modal(button->chooser, TRUE);
        g_signal_connect(button->chooser, "response", G_CALLBACK(on_chosen), button);
        gtk_native_dialog_show(button->chooser);
}

G_GNUC_END_IGNORE_DEPRECATIONS

/* A request to export although the plan is in doubt, kept by the prompt that asks for confirmation. */

typedef struct ExportRequest {
        AldExportButton *button;
        char *format;
        bool to_file;
} ExportRequest;

static void request_free(gpointer data)
{
        ExportRequest *request = data;

        g_free(request->format);
        g_free(request);
}

static void copy_or_save(AldExportButton *button, const char *format, bool to_file, const GString *text)
{
        if (to_file) {
                open_save_dialog(button, format, text);
                return;
        }
        gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(button)), text->str);
        show_toast(button, _("Plan copied"));
}

static void show_failure(AldExportButton *button, const char *reason)
{
        g_autofree char *words = g_strdup_printf(_("Cannot export the plan: %s"), reason);

        show_toast(button, words);
}

/* Exports as confirmed. The plan may have gone while the prompt was open. */
static void on_forced(void *userdata)
{
        const ExportRequest *request = userdata;
        g_autoptr(GString) text = NULL;
        g_autofree char *reason = NULL;

        if (!request->button->report)
                return;
        if (write_text(request->button, request->format, true, &text, &reason) < 0)
                show_failure(request->button, reason);
        else
                copy_or_save(request->button, request->format, request->to_file, text);
}

static void ask_to_force(AldExportButton *button, const char *format, bool to_file, const char *reason)
{
        GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(button));
        GtkWidget *prompt = ald_prompt_new(_("Export Anyway?"), reason, NULL);
        ExportRequest *request = g_new(ExportRequest, 1);

        *request = (ExportRequest){ button, g_strdup(format), to_file };
        g_object_set_data_full(G_OBJECT(prompt), "ald-export-request", request, request_free);
        ald_prompt_set_answer(prompt, _("_Export"), ALD_PROMPT_SUGGESTED, on_forced, request);
        if (button->prompt)
                ald_prompt_close(button->prompt);
        g_set_weak_pointer(&button->prompt, prompt);
        ald_prompt_present(prompt, GTK_WINDOW(root));
}

static void export_plan(GtkWidget *widget, const char *format, bool to_file)
{
        AldExportButton *button = ALD_EXPORT_BUTTON(widget);
        g_autoptr(GString) text = NULL;
        g_autofree char *reason = NULL;
        int r;

        if (!button->report)
                return;
        r = write_text(button, format, false, &text, &reason);
        if (r == -ESTALE || r == -ENOKEY)
                ask_to_force(button, format, to_file, reason);
        else if (r < 0)
                show_failure(button, reason);
        else
                copy_or_save(button, format, to_file, text);
}

static void on_copy(GtkWidget *widget, const char *action, GVariant *parameter)
{
        export_plan(widget, g_variant_get_string(parameter, NULL), false);
}

static void on_save(GtkWidget *widget, const char *action, GVariant *parameter)
{
        export_plan(widget, g_variant_get_string(parameter, NULL), true);
}

static void append_format(GMenu *menu, const char *format, const char *action)
{
        g_autoptr(GMenuItem) item = g_menu_item_new(format, NULL);

        g_menu_item_set_action_and_target(item, action, "s", format);
        g_menu_append_item(menu, item);
}

static void append_section(GMenu *menu, const char *title, const char *action, const char *engine)
{
        g_autoptr(GMenu) section = g_menu_new();
        const AldExportFormat *format;

        for (size_t i = 0; (format = ald_plan_export_format_at(i)); i++)
                if (ald_plan_export_takes(format, engine))
                        append_format(section, format->name, action);
        append_format(section, JSON, action);
        g_menu_append_section(menu, title, G_MENU_MODEL(section));
}

void ald_export_button_set_plan(AldExportButton *button, const AldPlanReport *report, const char *path)
{
        g_autoptr(GMenu) menu = g_menu_new();
        bool has_plan = report && !report->plan.problem && report->plan.engine;

        button->report = has_plan ? report : NULL;
        g_free(button->path);
        button->path = g_strdup(path);
        if (has_plan) {
                append_section(menu, _("Copy"), "plan.copy", report->plan.engine);
                append_section(menu, _("Save"), "plan.save", report->plan.engine);
        }
        gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(button->menu_button), G_MENU_MODEL(menu));
}

static void ald_export_button_dispose(GObject *object)
{
        AldExportButton *button = ALD_EXPORT_BUTTON(object);

        button->report = NULL;
        if (button->prompt)
                ald_prompt_close(button->prompt);
        g_clear_weak_pointer(&button->prompt);
        g_clear_object(&button->chooser);
        G_OBJECT_CLASS(ald_export_button_parent_class)->dispose(object);
}

static void ald_export_button_finalize(GObject *object)
{
        AldExportButton *button = ALD_EXPORT_BUTTON(object);

        g_clear_pointer(&button->text, g_bytes_unref);
        g_free(button->path);
        G_OBJECT_CLASS(ald_export_button_parent_class)->finalize(object);
}

static void ald_export_button_class_init(AldExportButtonClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_export_button_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_export_button_finalize;
        gtk_widget_class_install_action(widget_class, "plan.copy", "s", on_copy);
        gtk_widget_class_install_action(widget_class, "plan.save", "s", on_save);
}

static void ald_export_button_init(AldExportButton *button)
{
        button->menu_button = gtk_menu_button_new();
        gtk_menu_button_set_label(GTK_MENU_BUTTON(button->menu_button), _("Export"));
        adw_bin_set_child(ADW_BIN(button), button->menu_button);
}

GtkWidget *ald_export_button_new(void)
{
        return g_object_new(ALD_TYPE_EXPORT_BUTTON, NULL);
}
