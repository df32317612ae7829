/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * What a terminal shows, cell by cell, and what it is to show: only the difference is sent. Knows nothing of
 * the terminal itself; what it appends to a string is to be written there.
 */
typedef struct AldScreen AldScreen;

AldScreen *ald_screen_new(bool colours, bool utf8);
void ald_screen_free(AldScreen *screen);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldScreen, ald_screen_free)

/* Sets the size, which also forgets what is shown: the next flush clears the terminal and sends everything.
 */
void ald_screen_resize(AldScreen *screen, unsigned columns, unsigned rows);

unsigned ald_screen_columns(AldScreen *screen);
unsigned ald_screen_rows(AldScreen *screen);

/* Sets a row to a styled text, cut where the screen ends. */
void ald_screen_set_row(AldScreen *screen, unsigned row, const char *text);

/* Appends what makes the terminal show what was set. Returns whether there was anything to send. */
bool ald_screen_flush(AldScreen *screen, GString *out);
