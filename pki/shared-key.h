/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#define ALD_SHARED_KEY_LEAST \
        16u /* bytes; whoever records a handshake can try out keys, so it must be random */
#define ALD_SHARED_KEY_FILE_MAX 4096u

/* What two machines without a cluster know each other by. */
typedef struct AldSharedKey {
        uint8_t bytes[32];
} AldSharedKey;

/*
 * Makes the key of what is in a file; white space at its end does not count. -EPERM where anyone may read the
 * file, -EKEYREJECTED for less than ALD_SHARED_KEY_LEAST bytes, -EFBIG beyond ALD_SHARED_KEY_FILE_MAX.
 */
int ald_shared_key_load(const char *path, AldSharedKey *ret, char **ret_error);
