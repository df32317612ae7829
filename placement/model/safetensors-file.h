/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#define ALD_SAFETENSOR_DIMS 4u

/* A tensor of a file in the format safetensors. */
typedef struct AldSafetensor {
        const char *name; /* printable ASCII */
        const char *type; /* such as "BF16" */
        uint32_t bits;    /* of an element */
        uint64_t elements, bytes;
        uint64_t dims[ALD_SAFETENSOR_DIMS]; /* the first ones */
        unsigned n_dims;
} AldSafetensor;

/* Called for each tensor. Returning a negative errno, with a static text as the reason, ends the reading. */
typedef int (*AldSafetensorFound)(const AldSafetensor *tensor, void *userdata, const char **ret_reason);

/*
 * Reads the header of a file, of at most 16 MiB, and calls `found` for each of its tensors. The data of the
 * tensors is not read, but must fill the rest of the file. Reading takes twice the size of the header in
 * memory. Errors are those of file-head.h.
 */
int ald_safetensors_file_read(const char *path, AldSafetensorFound found, void *userdata, char **ret_error);
