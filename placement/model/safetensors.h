/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"

/*
 * Reads the folder of a model as Hugging Face's transformers write it: config.json, and model.safetensors or
 * the files that model.safetensors.index.json names, which must all exist. The data of tensors is not read.
 * Reading takes up to 136 MiB of memory: the index has at most 32 MiB, the header of a file 16 MiB, the names
 * of all tensors 32 MiB, and the notes on packed ones 64 MiB. Parameters that are packed into words are
 * counted by config.json or by the shapes of their scales; if neither suffices, they are absent. Errors are
 * those of file-head.h.
 */
int ald_safetensors_read(const char *folder, AldLlm **ret, char **ret_error);
