/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

/* Receives the duration in µs, UINT64_MAX for one without end, and the reason, which may be empty. */
typedef void (*AldSilenceChosen)(guint64 usec, const char *reason, void *userdata);

/* Creates a dialog that asks how long findings about this node or link should be silenced. */
GtkWidget *ald_silence_prompt_new(const char *about, AldSilenceChosen chosen, void *userdata);
