/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdint.h>

/* What model.safetensors.index.json names. */
typedef struct AldSafetensorsIndex {
        GPtrArray *files; /* of strings: their names, sorted; plain names without a folder */
        uint32_t n_tensors;
} AldSafetensorsIndex;

void ald_safetensors_index_clear(AldSafetensorsIndex *index);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldSafetensorsIndex, ald_safetensors_index_clear)

int ald_safetensors_index_read(const char *path, AldSafetensorsIndex *ret, char **ret_error);
