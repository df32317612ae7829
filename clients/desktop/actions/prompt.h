/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>
#include <stdbool.h>

/* A question to the user in a dialog, with "Cancel" and one other answer. It belongs to the window that it is
 * presented for, and goes with it. */

typedef enum AldPromptWeight {
        ALD_PROMPT_SUGGESTED,
        ALD_PROMPT_DESTRUCTIVE,
} AldPromptWeight;

/* Called when the other answer was given, before the dialog goes. */
typedef void (*AldPromptAccepted)(void *userdata);

/* The content may be NULL. */
GtkWidget *ald_prompt_new(const char *heading, const char *body, GtkWidget *content);

/* A text alone, to be read. */
GtkWidget *ald_notice_new(const char *text);

/* What Enter does too, unless it is destructive. */
void ald_prompt_set_answer(GtkWidget *prompt, const char *label, AldPromptWeight weight,
        AldPromptAccepted accepted, void *userdata);

/* A label for what is wrong with an answer, which is empty at first. */
GtkWidget *ald_prompt_problem_new(void);

/* Where typing goes when the prompt is presented; a part of it. */
void ald_prompt_set_focus(GtkWidget *prompt, GtkWidget *widget);

/* Whether the other answer can be given. */
void ald_prompt_allow(GtkWidget *prompt, bool allow);

void ald_prompt_present(GtkWidget *prompt, GtkWindow *parent);

/* Without an answer. */
void ald_prompt_close(GtkWidget *prompt);
