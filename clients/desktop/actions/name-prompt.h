/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Receives the name; an empty one stands for the name of the system. */
typedef void (*AldNameChosen)(const char *name, void *userdata);

/* Creates a dialog that renames a machine with this name, which may be NULL. */
GtkWidget *ald_name_prompt_new(const char *name, AldNameChosen chosen, void *userdata);

/* Returns why the identity service would refuse a name, in words; NULL if it would accept it. */
const char *ald_name_problem(const char *name);
