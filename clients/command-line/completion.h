/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/options.h"

/*
 * Prints what may come next on a command line that is being typed, for the functions of the shells: one word
 * per line, optionally followed by a tab and a description; or a kind of word that the shell completes
 * itself: ":file", ":host", ":node" (the names that alidadectl _names prints), ":listed VERB OPTION PREFIX"
 * (what that option prints for "help"), and ":command N", whose first word is N words before the last one.
 */

/* Completes an option before or after a verb, or the value of one. Returns false, and prints nothing, if the
 * next word is neither. */
bool ald_complete_option(const AldTypedLine *line, const char *verb);

/* Prints what may follow a verb, whose words are of the kind `completion`. */
void ald_complete_verb(const AldTypedLine *line, const char *verb, AldCompletion completion);
