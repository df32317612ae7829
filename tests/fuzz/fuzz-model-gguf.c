/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fd.h"
#include "placement/model/model-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Data of tensors is not read, but must have room in the file. */
#define FILE_BYTES (1 << 20)

static void check_kv(const AldLlm *llm)
{
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                uint64_t bytes;
                int r = ald_llm_kv_bytes(llm, i, 4096, 2, ALD_KV_F16, ALD_KV_Q8_0, &bytes);

                g_assert_true((r == -EOPNOTSUPP) == (llm->kv_problem != NULL));
        }
}

static void check_layers(const AldLlm *llm)
{
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                const AldLlmLayer *layer = &llm->layers[i];

                g_assert_cmpuint(layer->bytes, <=, FILE_BYTES);
                g_assert_true(layer->token_bytes == ALD_LLM_ABSENT || layer->token_bytes <= layer->bytes);
                g_assert_true(layer->token_parameters == ALD_LLM_ABSENT ||
                              layer->token_parameters <= layer->parameters);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ald_fd int fd = memfd_create("gguf", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd), *error = NULL;
        g_autoptr(AldLlm) llm = NULL;
        int r;

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, data, size), ==, (ssize_t) size);
        g_assert_cmpint(ftruncate(fd, FILE_BYTES), ==, 0);
        r = ald_llm_read(path, &llm, &error);
        g_assert_true((r < 0) == (error != NULL));
        g_assert_true((r < 0) == (llm == NULL));
        g_assert_true(!error || g_utf8_validate(error, -1, NULL));
        if (llm) {
                check_layers(llm);
                check_kv(llm);
        }
        return 0;
}
