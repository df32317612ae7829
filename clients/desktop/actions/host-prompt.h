/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* [USER@]HOST[:PORT], or "" for this machine. */
typedef void (*AldHostChosen)(const char *host, void *userdata);

/* A dialog for the machine to look at: this one, one of the recent ones, or another. */
GtkWidget *ald_host_prompt_new(AldHostChosen chosen, void *userdata);

/* Why ssh cannot take a text as a host, in words; NULL if it can. */
const char *ald_host_problem(const char *host);
