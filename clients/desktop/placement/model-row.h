/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "placement/model/model-needs.h"

/*
 * A row for the path of a model, which it reads. The path can also be chosen in a dialog. Signal
 * "model-changed": the model is being read, has been read, or cannot be read.
 */
#define ALD_TYPE_MODEL_ROW (ald_model_row_get_type())
G_DECLARE_FINAL_TYPE(AldModelRow, ald_model_row, ALD, MODEL_ROW, AdwEntryRow)

GtkWidget *ald_model_row_new(void);

/* Returns NULL unless the model was read. It belongs to the row, and is valid until the next signal. */
const AldLlm *ald_model_row_model(AldModelRow *row);

/* Returns the path of that model, or NULL. */
const char *ald_model_row_path(AldModelRow *row);

/* Returns why there is no model, in words; NULL if there is one. */
const char *ald_model_row_problem(AldModelRow *row);

/* Returns whether a model cannot be read. */
gboolean ald_model_row_has_failed(AldModelRow *row);
