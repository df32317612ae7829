/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "placement/model/model-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *folder;

static void remove_folder(void)
{
        static const char *const names[] = { "config.json", "model.safetensors",
                "model.safetensors.index.json" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(folder, names[i], NULL);

                g_unlink(path);
        }
        g_rmdir(folder);
        g_free(folder);
}

static void make_folder(void)
{
        folder = g_dir_make_tmp("alidade-fuzz-XXXXXX", NULL);
        g_assert_nonnull(folder);
        atexit(remove_folder);
}

static void write_file(
        const char *name, const void *before, size_t n_before, const void *bytes, size_t n, uint64_t after)
{
        g_autofree char *path = g_build_filename(folder, name, NULL);
        ald_fd int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, before, n_before), ==, (ssize_t) n_before);
        g_assert_cmpint(write(fd, bytes, n), ==, (ssize_t) n);
        g_assert_cmpint(ftruncate(fd, (off_t) (n_before + n + after)), ==, 0);
}

/* Up to a NUL, or all. */
static size_t next_part(const uint8_t *data, size_t size)
{
        const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;

        return end ? (size_t) (end - data) : size;
}

static void check(const AldLlm *llm)
{
        for (uint32_t i = 0; i < llm->n_layers; i++) {
                const AldLlmLayer *layer = &llm->layers[i];
                uint64_t bytes;
                int r = ald_llm_kv_bytes(llm, i, 4096, 2, ALD_KV_F16, ALD_KV_Q8_0, &bytes);

                g_assert_true((r == -EOPNOTSUPP) == (llm->kv_problem != NULL));
                g_assert_true(layer->token_bytes == ALD_LLM_ABSENT || layer->token_bytes <= layer->bytes);
        }
}

/* config.json, a NUL, the index (empty: none), a NUL, two bytes for the size of the data, the header. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        size_t n_config = next_part(data, size), n_index;
        const uint8_t *index = data + MIN(n_config + 1, size), *rest;
        g_autofree char *error = NULL;
        g_autoptr(AldLlm) llm = NULL;
        uint64_t length;
        uint16_t after;
        int r;

        if (!folder)
                make_folder();
        size -= (size_t) (index - data);
        n_index = next_part(index, size);
        rest = index + MIN(n_index + 1, size);
        size -= (size_t) (rest - index);
        if (size < sizeof after)
                return 0;
        memcpy(&after, rest, sizeof after);
        rest += sizeof after;
        size -= sizeof after;
        length = GUINT64_TO_LE(size);
        write_file("config.json", NULL, 0, data, n_config, 0);
        write_file("model.safetensors", &length, sizeof length, rest, size, GUINT16_FROM_LE(after));
        if (n_index > 0)
                write_file("model.safetensors.index.json", NULL, 0, index, n_index, 0);
        else {
                g_autofree char *path = g_build_filename(folder, "model.safetensors.index.json", NULL);

                g_unlink(path);
        }
        r = ald_llm_read(folder, &llm, &error);
        g_assert_true((r < 0) == (error != NULL) && (r < 0) == (llm == NULL));
        g_assert_true(!error || g_utf8_validate(error, -1, NULL));
        if (llm)
                check(llm);
        return 0;
}
