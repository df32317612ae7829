/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"

/*
 * Reads a model in the format GGUF, versions 2 and 3, from its header, keys and table of tensors, at most 128
 * MiB of each file; the data of tensors is not read. Any file of a model that is split into files such as
 * x-00001-of-00003.gguf can be given; all must exist. Needs up to 48 MiB of memory, for the names of tensors.
 * Errors are those of file-head.h.
 */
int ald_gguf_read(const char *path, AldLlm **ret, char **ret_error);
