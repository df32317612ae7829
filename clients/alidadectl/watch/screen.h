/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * The present and the desired contents of a terminal, cell by cell: only differences are sent. Does not use
 * the terminal itself; the caller writes the strings to it.
 */
typedef struct AldScreen AldScreen;

AldScreen *ald_screen_new(bool colours, bool utf8);
void ald_screen_free(AldScreen *screen);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldScreen, ald_screen_free)

/* Sets the size, and forgets the present contents: the next flush clears the terminal and sends everything.
 */
void ald_screen_resize(AldScreen *screen, unsigned columns, unsigned rows);

unsigned ald_screen_columns(AldScreen *screen);
unsigned ald_screen_rows(AldScreen *screen);

/* Sets a row to a styled text, cut at the edge of the screen. */
void ald_screen_set_row(AldScreen *screen, unsigned row, const char *text);

/* Appends the text that updates the terminal. Returns true if there was anything to send. */
bool ald_screen_flush(AldScreen *screen, GString *out);
