/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#define ALD_SHARED_KEY_LEAST 16u /* bytes; the key must be random, since a handshake lets others guess it */
#define ALD_SHARED_KEY_FILE_MAX 4096u

/* A secret by which two machines without a cluster authenticate each other. */
typedef struct AldSharedKey {
        uint8_t bytes[32];
} AldSharedKey;

/*
 * Derives the key from the contents of a file, without trailing white space. Returns -EPERM if the file is
 * readable by all users, -EKEYREJECTED if it has fewer than ALD_SHARED_KEY_LEAST bytes, -EFBIG beyond
 * ALD_SHARED_KEY_FILE_MAX.
 */
int ald_shared_key_load(const char *path, AldSharedKey *ret, char **ret_error);
