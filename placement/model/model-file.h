/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/model/model-needs.h"

/*
 * Reads a model: a GGUF file, or a folder with safetensors. On error, *ret_error (may be NULL) is a message
 * that names the file, the offset in bytes or the key, and the reason; free it with g_free(). The files need
 * not be trusted: everything in them is checked and limited, and reading them takes at most 136 MiB of
 * memory.
 *
 * Errors are -EBADMSG if a file is malformed or truncated, -E2BIG if it exceeds a limit, -ERANGE if a sum
 * does not fit into 64 bits, -EOPNOTSUPP if the version or a type in a file is not supported, -EINVAL if the
 * path is not that of a model, and those of the system, such as -ENOENT if a part of the model is missing.
 */
int ald_llm_read(const char *path, AldLlm **ret, char **ret_error);
