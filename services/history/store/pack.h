/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Packs bytes for storage: with a checksum, since SQLite has none, and compressed if that is shorter.
 * Pure. */
#define ALD_PACK_BYTES_MAX (8u * 1024 * 1024)

/* Packs at most ALD_PACK_BYTES_MAX bytes. */
GByteArray *ald_pack(const uint8_t *bytes, size_t n);

/* Returns -EBADMSG unless all bytes are exactly what ald_pack() returns. */
int ald_unpack(const uint8_t *packed, size_t n, GByteArray **ret);
