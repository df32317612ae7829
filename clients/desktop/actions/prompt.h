/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

/* A question to the user in a dialog, with "Cancel" and one other answer. The dialog belongs to the window
 * for which it is presented, and closes with it. */

typedef enum AldPromptWeight {
        ALD_PROMPT_SUGGESTED,
        ALD_PROMPT_DESTRUCTIVE,
} AldPromptWeight;

/* Called when the other answer was given, before the dialog goes. */
typedef void (*AldPromptAccepted)(void *userdata);

/* Creates a question. The content may be NULL. */
GtkWidget *ald_prompt_new(const char *heading, const char *body, GtkWidget *content);

/* Creates a dialog that only shows a text. */
GtkWidget *ald_notice_new(const char *text);

/* Adds the other answer. Enter gives it too, unless it is destructive. */
void ald_prompt_set_answer(GtkWidget *prompt, const char *label, AldPromptWeight weight,
        AldPromptAccepted accepted, void *userdata);

/* Creates a label for what is wrong with an answer; it is empty at first. */
GtkWidget *ald_prompt_problem_new(void);

/* Sets the widget within the prompt that has the focus when it is presented. */
void ald_prompt_set_focus(GtkWidget *prompt, GtkWidget *widget);

/* Sets whether the other answer can be given. */
void ald_prompt_set_accept_enabled(GtkWidget *prompt, bool allow);

void ald_prompt_present(GtkWidget *prompt, GtkWindow *parent);

/* Closes the prompt without an answer. */
void ald_prompt_close(GtkWidget *prompt);
