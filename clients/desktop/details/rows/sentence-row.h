/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/tone.h"

/* A row with a symbol, a sentence, and what to do about it. */
#define ALD_TYPE_SENTENCE_ROW (ald_sentence_row_get_type())
G_DECLARE_FINAL_TYPE(AldSentenceRow, ald_sentence_row, ALD, SENTENCE_ROW, GtkListBoxRow)

GtkWidget *ald_sentence_row_new(void);

/* `word` says in words what the icon shows; the remedy may be NULL. */
void ald_sentence_row_show(AldSentenceRow *row, const char *icon, const char *word, AldTone tone,
        const char *sentence, const char *remedy);
