/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Receives [USER@]HOST[:PORT], or "" for this machine. */
typedef void (*AldHostChosen)(const char *host, void *userdata);

/* Creates a dialog that chooses the machine to look at: this one, a recent one or another. */
GtkWidget *ald_host_prompt_new(AldHostChosen chosen, void *userdata);

/* Returns why ssh cannot accept a text as a host, in words; NULL if it can. */
const char *ald_host_problem(const char *host);
