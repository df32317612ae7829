/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "placement/model/model-needs.h"

/*
 * A row with the path of a model, which can also be chosen in a dialog, and reads it. Signal "model-changed":
 * it has been read, or is being read, or cannot be.
 */
#define ALD_TYPE_MODEL_ROW (ald_model_row_get_type())
G_DECLARE_FINAL_TYPE(AldModelRow, ald_model_row, ALD, MODEL_ROW, AdwEntryRow)

GtkWidget *ald_model_row_new(void);

/* NULL until it was read. It belongs to the row, until the next signal. */
const AldLlm *ald_model_row_model(AldModelRow *row);

/* Of that model. */
const char *ald_model_row_path(AldModelRow *row);

/* Why there is no model, in words; NULL if there is one. */
const char *ald_model_row_problem(AldModelRow *row);

/* Whether that is because it cannot be read. */
gboolean ald_model_row_has_failed(AldModelRow *row);
