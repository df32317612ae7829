/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/desktop/actions/prompt.h"
#include "clients/desktop/widgets/widget-words.h"

#define ACCEPT "accept"
#define CANCEL "cancel"
#define TEXT_CHARS 44
#define FOCUS_KEY "ald-focus"
#define TEXT_PX 320 /* height of a long text, before it scrolls */

/* Later versions of libadwaita deprecate AdwMessageDialog, and earlier ones lack AdwAlertDialog. */
#if ADW_CHECK_VERSION(1, 5, 0)
#define DIALOG(prompt) ADW_ALERT_DIALOG(prompt)
#define dialog_set_body adw_alert_dialog_set_body
#define dialog_set_extra_child adw_alert_dialog_set_extra_child
#define dialog_add_response adw_alert_dialog_add_response
#define dialog_set_response_appearance adw_alert_dialog_set_response_appearance
#define dialog_set_response_enabled adw_alert_dialog_set_response_enabled
#define dialog_set_default_response adw_alert_dialog_set_default_response
#define dialog_set_close_response adw_alert_dialog_set_close_response

static GtkWidget *new_dialog(const char *heading)
{
        return GTK_WIDGET(adw_alert_dialog_new(heading, NULL));
}

static void present_dialog(GtkWidget *prompt, GtkWindow *parent)
{
        adw_dialog_present(ADW_DIALOG(prompt), GTK_WIDGET(parent));
}

void ald_prompt_close(GtkWidget *prompt)
{
        (void) adw_dialog_close(ADW_DIALOG(prompt));
}
#else
#define DIALOG(prompt) ADW_MESSAGE_DIALOG(prompt)
#define dialog_set_body adw_message_dialog_set_body
#define dialog_set_extra_child adw_message_dialog_set_extra_child
#define dialog_add_response adw_message_dialog_add_response
#define dialog_set_response_appearance adw_message_dialog_set_response_appearance
#define dialog_set_response_enabled adw_message_dialog_set_response_enabled
#define dialog_set_default_response adw_message_dialog_set_default_response
#define dialog_set_close_response adw_message_dialog_set_close_response

static GtkWidget *new_dialog(const char *heading)
{
        return adw_message_dialog_new(NULL, heading, NULL);
}

static void present_dialog(GtkWidget *prompt, GtkWindow *parent)
{
        gtk_window_set_transient_for(GTK_WINDOW(prompt), parent);
        gtk_window_set_modal(GTK_WINDOW(prompt), TRUE);
        gtk_window_set_destroy_with_parent(GTK_WINDOW(prompt), TRUE);
        gtk_window_present(GTK_WINDOW(prompt));
}

void ald_prompt_close(GtkWidget *prompt)
{
        gtk_window_close(GTK_WINDOW(prompt));
}
#endif

/* Sets the focus after presenting, since the dialog chooses a focus of its own. */
void ald_prompt_present(GtkWidget *prompt, GtkWindow *parent)
{
        GtkWidget *focus = g_object_get_data(G_OBJECT(prompt), FOCUS_KEY);

        present_dialog(prompt, parent);
        if (focus)
                gtk_widget_grab_focus(focus);
}

static GtkWidget *new_prompt(const char *heading, const char *body, const char *close)
{
        GtkWidget *prompt = new_dialog(heading);

        dialog_set_body(DIALOG(prompt), body);
        dialog_add_response(DIALOG(prompt), CANCEL, close);
        dialog_set_close_response(DIALOG(prompt), CANCEL);
        return prompt;
}

GtkWidget *ald_prompt_new(const char *heading, const char *body, GtkWidget *content)
{
        GtkWidget *prompt = new_prompt(heading, body, _("_Cancel"));

        if (content)
                dialog_set_extra_child(DIALOG(prompt), content);
        return prompt;
}

/* Makes a text that scrolls. As body of the dialog it would not, and could make the dialog higher than the
 * screen. */
static GtkWidget *make_scrolled_text(const char *text)
{
        GtkWidget *scroller = gtk_scrolled_window_new(), *label = gtk_label_new(text);

        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
        gtk_label_set_max_width_chars(GTK_LABEL(label), TEXT_CHARS);
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_widget_set_valign(label, GTK_ALIGN_START);
        gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
        gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
        gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), TEXT_PX);
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), label);
        ald_widget_describe(scroller, _("Details"), NULL);
        return scroller;
}

GtkWidget *ald_notice_new(const char *text)
{
        GtkWidget *notice = new_prompt(_("Details"), "", _("_Close"));

        dialog_set_extra_child(DIALOG(notice), make_scrolled_text(text));
        return notice;
}

GtkWidget *ald_prompt_problem_new(void)
{
        GtkWidget *problem = gtk_label_new(NULL);

        gtk_label_set_wrap(GTK_LABEL(problem), TRUE);
        gtk_widget_add_css_class(problem, "caption");
        gtk_widget_add_css_class(problem, "error");
        return problem;
}

void ald_prompt_set_focus(GtkWidget *prompt, GtkWidget *widget)
{
        g_object_set_data(G_OBJECT(prompt), FOCUS_KEY, widget);
}

typedef struct Answer {
        AldPromptAccepted accepted;
        void *userdata;
} Answer;

static void on_response(GtkWidget *prompt, const char *response, void *userdata)
{
        const Answer *answer = userdata;

        if (g_str_equal(response, ACCEPT))
                answer->accepted(answer->userdata);
}

static void free_answer(gpointer answer, GClosure *closure)
{
        g_free(answer);
}

void ald_prompt_set_answer(GtkWidget *prompt, const char *label, AldPromptWeight weight,
        AldPromptAccepted accepted, void *userdata)
{
        Answer *answer = g_new(Answer, 1);

        *answer = (Answer){ accepted, userdata };
        dialog_add_response(DIALOG(prompt), ACCEPT, label);
        dialog_set_response_appearance(DIALOG(prompt), ACCEPT,
                weight == ALD_PROMPT_DESTRUCTIVE ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED);
        dialog_set_default_response(DIALOG(prompt), weight == ALD_PROMPT_DESTRUCTIVE ? CANCEL : ACCEPT);
        g_signal_connect_data(prompt, "response", G_CALLBACK(on_response), answer, free_answer, 0);
}

void ald_prompt_set_accept_enabled(GtkWidget *prompt, bool allow)
{
        dialog_set_response_enabled(DIALOG(prompt), ACCEPT, allow);
}
