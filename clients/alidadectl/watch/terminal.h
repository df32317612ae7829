/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The terminal in full-screen mode: on the alternate screen, without echo, cursor and line wrap. */
#define ALD_TERMINAL_ENTER "\033[?1049h\033[?25l\033[?7l"
#define ALD_TERMINAL_LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

typedef struct AldTerminal AldTerminal;

/* Reads keys one by one without echo, if standard input is a terminal. Freeing it reverts this. */
AldTerminal *ald_terminal_new(void);
void ald_terminal_free(AldTerminal *terminal);

/* Returns the size of the terminal at standard output; 80 × 24 if unknown. */
void ald_terminal_size(unsigned *ret_columns, unsigned *ret_rows);

/* Returns true if this kind of terminal can move its cursor. */
bool ald_terminal_is_capable(void);

typedef enum AldKey {
        ALD_KEY_OTHER,
        ALD_KEY_QUIT,
        ALD_KEY_REDRAW,
        ALD_KEY_DEVICES,
        ALD_KEY_UP,
        ALD_KEY_DOWN,
        ALD_KEY_PAGE_UP,
        ALD_KEY_PAGE_DOWN,
        ALD_KEY_HOME,
        ALD_KEY_END,
} AldKey;

/* Parses the first key in some bytes, at least one. Returns the number of bytes used; 0 if more bytes are
 * needed. */
size_t ald_terminal_parse_key(const char *bytes, size_t n, AldKey *ret);
