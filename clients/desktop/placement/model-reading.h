/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"

/* A model that is being read in a thread, since its disk may be slow. */
typedef struct AldModelReading AldModelReading;

/* The model, which the callee takes, or else why it cannot be read. Called once, from the main loop; the
 * reading is freed before. */
typedef void (*AldModelRead)(AldLlm *llm, const char *problem, void *userdata);

/* A GGUF file, or a folder with safetensors. */
AldModelReading *ald_model_reading_start(const char *path, AldModelRead done, void *userdata);

/* The model is not wanted any more. */
void ald_model_reading_free(AldModelReading *reading);
