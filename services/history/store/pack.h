/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Bytes as they are stored: with a checksum, since SQLite has none, and compressed if that is shorter. Pure.
 */
#define ALD_PACK_BYTES_MAX (8u * 1024 * 1024)

/* Of at most ALD_PACK_BYTES_MAX bytes. */
GByteArray *ald_pack(const uint8_t *bytes, size_t n);

/* -EBADMSG unless these are such bytes, all of them. */
int ald_unpack(const uint8_t *packed, size_t n, GByteArray **ret);
