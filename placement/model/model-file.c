/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/stat.h>

#include "placement/model/file-head.h"
#include "placement/model/gguf.h"
#include "placement/model/model-file.h"
#include "placement/model/safetensors.h"

int ald_llm_read(const char *path, AldLlm **ret, char **ret_error)
{
        struct stat info;

        if (stat(path, &info) < 0)
                return ald_file_fail(ret_error, -errno, path, "%s", g_strerror(errno));
        if (S_ISDIR(info.st_mode))
                return ald_safetensors_read(path, ret, ret_error);
        if (g_str_has_suffix(path, ".safetensors") || g_str_has_suffix(path, ".json"))
                return ald_file_fail(ret_error, -EINVAL, path, "a part of a model; give its folder instead");
        return ald_gguf_read(path, ret, ret_error);
}
