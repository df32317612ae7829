/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model.h"

/* What config.json states. */
typedef struct AldHfConfig {
        AldLlm *llm;           /* without the sums over tensors */
        uint32_t draft_layers; /* that follow those of the model and only predict further tokens */
        bool tied, untied;     /* the embedding is stated to be, or not to be, the head */
        uint32_t packed_bits;  /* of a parameter, if several share an element; absent: not stated */
        bool odd_bytes;        /* an element of one byte may hold two parameters */
} AldHfConfig;

void ald_hf_config_clear(AldHfConfig *config);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldHfConfig, ald_hf_config_clear)

/* Reads a config.json as Hugging Face's transformers write it, of at most 1 MiB. If the model also handles
 * images or sound, only the part for text is read. Errors are those of file-head.h. */
int ald_hf_config_read(const char *path, AldHfConfig *ret, char **ret_error);

/* Reads a file as text; the bytes are followed by a NUL. */
int ald_text_file_read(const char *path, size_t max, char **ret, size_t *ret_n, char **ret_error);
