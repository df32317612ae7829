/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The words of enumerations in the language of the user. */

/* The word itself if this version does not know it; NULL for NULL. Not safe text if the word is not. */
const char *ald_word(const char *word);

/* "limited by the network": what kept a link from being faster. Safe text, to be freed; NULL if it is
 * unknown. */
char *ald_limiter_words(const char *limiter);

/* As ald_format_list(): "busy, unstable". Safe text, to be freed. */
char *ald_words_list(const char *const *words);
