/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdint.h>

/* The contents of model.safetensors.index.json. */
typedef struct AldSafetensorsIndex {
        GPtrArray *files; /* sorted strings: plain names without a folder */
        uint32_t n_tensors;
} AldSafetensorsIndex;

void ald_safetensors_index_clear(AldSafetensorsIndex *index);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSafetensorsIndex, ald_safetensors_index_clear)

int ald_safetensors_index_read(const char *path, AldSafetensorsIndex *ret, char **ret_error);
