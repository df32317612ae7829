/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Translates the words of enumerations into the language of the user. */

/* Returns the translated word, or the word itself if this version does not know it; NULL for NULL. It is safe
 * text only if the word is. */
const char *ald_word(const char *word);

/* Returns what kept a link from being faster, such as "limited by the network". Safe text, to be freed; NULL
 * if it is unknown. */
char *ald_limiter_words(const char *limiter);

/* Translates a list and joins it like ald_format_list(): "busy, unstable". Safe text, to be freed. */
char *ald_words_list(const char *const *words);
