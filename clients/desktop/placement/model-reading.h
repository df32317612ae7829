/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"

/* Reads a model in a thread, since its disk may be slow. */
typedef struct AldModelReading AldModelReading;

/* Called once, from the main loop, after the reading is freed. Passes ownership of the model, or NULL and the
 * reason why it cannot be read. */
typedef void (*AldModelRead)(AldLlm *llm, const char *problem, void *userdata);

/* Starts to read a GGUF file, or a folder with safetensors. */
AldModelReading *ald_model_reading_start(const char *path, AldModelRead done, void *userdata);

/* Cancels and frees a reading whose result is not wanted any more. */
void ald_model_reading_free(AldModelReading *reading);
