/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "tests/unit/gguf-maker.h"

void gguf_maker_init(GgufMaker *maker)
{
        *maker = (GgufMaker){
                .version = 3, .alignment = 32, .pairs = g_byte_array_new(), .tensors = g_byte_array_new()
        };
}

void gguf_maker_clear(GgufMaker *maker)
{
        g_byte_array_unref(maker->pairs);
        g_byte_array_unref(maker->tensors);
}

static void put_u32(GByteArray *to, uint32_t value)
{
        value = GUINT32_TO_LE(value);
        g_byte_array_append(to, (const uint8_t *) &value, sizeof value);
}

static void put_u64(GByteArray *to, uint64_t value)
{
        value = GUINT64_TO_LE(value);
        g_byte_array_append(to, (const uint8_t *) &value, sizeof value);
}

static void put_string(GByteArray *to, const char *string)
{
        put_u64(to, strlen(string));
        g_byte_array_append(to, (const uint8_t *) string, (guint) strlen(string));
}

void gguf_raw(GgufMaker *maker, const char *key, uint32_t type, const void *bytes, unsigned n)
{
        put_string(maker->pairs, key);
        put_u32(maker->pairs, type);
        g_byte_array_append(maker->pairs, bytes, n);
        maker->n_pairs++;
}

void gguf_u16(GgufMaker *maker, const char *key, uint16_t value)
{
        value = GUINT16_TO_LE(value);
        gguf_raw(maker, key, 2, &value, sizeof value);
}

void gguf_u32(GgufMaker *maker, const char *key, uint32_t value)
{
        value = GUINT32_TO_LE(value);
        gguf_raw(maker, key, 4, &value, sizeof value);
}

void gguf_string(GgufMaker *maker, const char *key, const char *value)
{
        gguf_raw(maker, key, 8, NULL, 0);
        put_string(maker->pairs, value);
}

static void put_array(GgufMaker *maker, const char *key, uint32_t type, uint64_t n)
{
        gguf_raw(maker, key, 9, NULL, 0);
        put_u32(maker->pairs, type);
        put_u64(maker->pairs, n);
}

void gguf_list(GgufMaker *maker, const char *key, uint32_t n, const uint32_t *values)
{
        put_array(maker, key, 5, n);
        for (uint32_t i = 0; i < n; i++)
                put_u32(maker->pairs, values[i]);
}

void gguf_bools(GgufMaker *maker, const char *key, uint32_t n, const uint8_t *values)
{
        put_array(maker, key, 7, n);
        g_byte_array_append(maker->pairs, values, n);
}

void gguf_tokens(GgufMaker *maker, const char *key, uint64_t n)
{
        put_array(maker, key, 8, n);
        for (uint64_t i = 0; i < n; i++) {
                g_autofree char *token = g_strdup_printf("token %" G_GUINT64_FORMAT, i);

                put_string(maker->pairs, token);
        }
}

void gguf_tensor(GgufMaker *maker, const char *name, uint32_t type, uint64_t bytes, const uint64_t dims[4])
{
        uint32_t n = 0;

        while (n < 4 && dims[n] > 0)
                n++;
        put_string(maker->tensors, name);
        put_u32(maker->tensors, n);
        for (uint32_t i = 0; i < n; i++)
                put_u64(maker->tensors, dims[i]);
        put_u32(maker->tensors, type);
        maker->data = (maker->data + maker->alignment - 1) / maker->alignment * maker->alignment;
        put_u64(maker->tensors, maker->data);
        maker->data += bytes;
        maker->n_tensors++;
}

GByteArray *gguf_head(const GgufMaker *maker)
{
        GByteArray *head = g_byte_array_new();

        g_byte_array_append(head, (const uint8_t *) "GGUF", 4);
        put_u32(head, maker->version);
        put_u64(head, maker->n_tensors);
        put_u64(head, maker->n_pairs);
        g_byte_array_append(head, maker->pairs->data, maker->pairs->len);
        g_byte_array_append(head, maker->tensors->data, maker->tensors->len);
        while (head->len % maker->alignment != 0)
                g_byte_array_append(head, (const uint8_t *) "", 1);
        return head;
}

void gguf_write_bytes(const char *path, const void *bytes, size_t n, uint64_t size)
{
        ald_fd int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, bytes, n), ==, (ssize_t) n);
        g_assert_cmpint(ftruncate(fd, (off_t) size), ==, 0);
}

void gguf_write(const GgufMaker *maker, const char *path)
{
        g_autoptr(GByteArray) head = gguf_head(maker);

        gguf_write_bytes(path, head->data, head->len, head->len + maker->data);
}

char *model_folder_new(void)
{
        char *folder = g_dir_make_tmp("alidade-model-XXXXXX", NULL);

        g_assert_nonnull(folder);
        return folder;
}

void model_folder_remove(char *folder)
{
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL);

                g_assert_cmpint(g_remove(path), ==, 0);
        }
        g_assert_cmpint(g_rmdir(folder), ==, 0);
        g_free(folder);
}
