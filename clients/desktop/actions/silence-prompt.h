/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* How long, in µs, or UINT64_MAX: until it is ended; and why, which may be empty. */
typedef void (*AldSilenceChosen)(guint64 usec, const char *reason, void *userdata);

/* Asks how long findings about this node or link are to be silent. */
GtkWidget *ald_silence_prompt_new(const char *about, AldSilenceChosen chosen, void *userdata);
