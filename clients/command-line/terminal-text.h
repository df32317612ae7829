/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/safe-text.h"
#include "clients/common/tone.h"

/*
 * Text for a terminal. Text from other machines must pass ald_text_safe() first; it contains no control
 * characters afterwards, so these can mark the styles below.
 */
#define ALD_STYLE_NORMAL "\001"
#define ALD_STYLE_BOLD "\002"
#define ALD_STYLE_DIM "\003"
#define ALD_STYLE_GOOD "\004"
#define ALD_STYLE_WARNING "\005"
#define ALD_STYLE_ERROR "\006"
#define ALD_STYLE_HEADER "\007"
#define ALD_N_STYLES 8

/* Returns the number of columns that a character takes: 0, 1 or 2. */
unsigned ald_char_width(gunichar c);

/* Returns the number of columns that a styled text takes. */
unsigned ald_text_width(const char *text);

/* Returns a styled text cut to at most `columns`, the last of them "…" if something is missing. */
char *ald_text_cut(const char *text, unsigned columns);

/* Returns the same, padded to exactly `columns`. */
char *ald_text_fit(const char *text, unsigned columns, bool right);

/* Appends words in lines of at most `columns` (0: no limit), all of which begin at `indent`. */
void ald_text_wrap(GString *out, const char *text, unsigned columns, unsigned indent);

/* Returns the marker of the style in which a tone is shown; "" for plain text. */
const char *ald_tone_style(AldTone tone);

/* Returns a copy of the text in the style of a tone. */
char *ald_text_toned(AldTone tone, const char *text);

/* Returns the escape sequence of a style, given by its marker. */
const char *ald_style_sequence(char marker);

/* Converts a styled text for a terminal or file: with or without escape sequences, in ASCII if necessary. */
char *ald_text_render(const char *text, bool colours, bool utf8);

/* Returns the nearest ASCII character of the same width; a wide one becomes two. */
const char *ald_char_ascii(gunichar c);
