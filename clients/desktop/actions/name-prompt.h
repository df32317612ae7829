/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Empty: the name of the system. */
typedef void (*AldNameChosen)(const char *name, void *userdata);

/* A dialog for another name of a machine that has this one, which may be NULL. */
GtkWidget *ald_name_prompt_new(const char *name, AldNameChosen chosen, void *userdata);

/* Why the identity service would refuse a name, in words; NULL if it would not. */
const char *ald_name_problem(const char *name);
