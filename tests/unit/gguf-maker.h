/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Writes GGUF files byte by byte, good and bad ones. */
typedef struct GgufMaker {
        uint32_t version;   /* 3 unless set */
        uint32_t alignment; /* 32 unless set */
        GByteArray *pairs, *tensors;
        uint64_t n_pairs, n_tensors, data; /* what the header states; bytes of data so far */
} GgufMaker;

void gguf_maker_init(GgufMaker *maker);
void gguf_maker_clear(GgufMaker *maker);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(GgufMaker, gguf_maker_clear)

void gguf_u16(GgufMaker *maker, const char *key, uint16_t value);
void gguf_u32(GgufMaker *maker, const char *key, uint32_t value);
void gguf_string(GgufMaker *maker, const char *key, const char *value);
void gguf_list(GgufMaker *maker, const char *key, uint32_t n, const uint32_t *values);
void gguf_bools(GgufMaker *maker, const char *key, uint32_t n, const uint8_t *values);
void gguf_tokens(GgufMaker *maker, const char *key, uint64_t n);
/* A value of any type from its bytes. */
void gguf_raw(GgufMaker *maker, const char *key, uint32_t type, const void *bytes, unsigned n);

/* With this many bytes of data, in at most 4 dimensions, 0 for those that are not there. */
void gguf_tensor(GgufMaker *maker, const char *name, uint32_t type, uint64_t bytes, const uint64_t dims[4]);

/* All before the data; and the file with data of zeros, which takes no space. */
GByteArray *gguf_head(const GgufMaker *maker);
void gguf_write(const GgufMaker *maker, const char *path);
/* `bytes` and then zeros up to `size`. */
void gguf_write_bytes(const char *path, const void *bytes, size_t n, uint64_t size);

/* A folder for files of a model, and its end with all of them; it takes the path. */
char *model_folder_new(void);
void model_folder_remove(char *folder);
