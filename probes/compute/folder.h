/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Empties a folder, without following links or leaving its file system; may keep one file. */
void ald_folder_empty(const char *folder, const char *spared);

/* The same if it exceeds this number of bytes, else removes only what PoCL leaves behind in each run. */
void ald_folder_prune(const char *folder, uint64_t bytes_max, const char *spared);
