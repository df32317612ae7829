/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The quality of a state; each client decides how to show it. */
typedef enum AldTone {
        ALD_TONE_PLAIN,
        ALD_TONE_FAINT, /* unimportant */
        ALD_TONE_GOOD,
        ALD_TONE_WARNING,
        ALD_TONE_ERROR,
} AldTone;

/* A fact with its label: "Memory", "45.1/62.7 GiB free". The text is safe, and NULL if unknown. */
typedef struct AldFact {
        const char *label; /* static, in English; callers translate it */
        char *text;
        AldTone tone;
} AldFact;

/* Returns an array of AldFact, in the order in which they are shown; it owns its facts. */
GPtrArray *ald_facts_new(void);

/* Adds a fact and takes its text; "" and ALD_ABSENT_TEXT become NULL. */
void ald_facts_add(GPtrArray *facts, const char *label, char *text);
void ald_facts_add_toned(GPtrArray *facts, const char *label, char *text, AldTone tone);

/* Adds a fact unless its text is unknown. */
void ald_facts_add_known(GPtrArray *facts, const char *label, char *text);

/* Adds a part to a comma-separated text, in a translated format such as "%s free". Takes the part, which is
 * safe text; an absent part, in any of the forms above, is omitted. */
void ald_parts_add(GString *parts, const char *format, char *part);

/* Adds text from another machine, which is made safe. */
void ald_parts_add_text(GString *parts, const char *format, const char *text);
