/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* A root directory with a made-up /proc and /sys, for collectors that read below a root. Aborts on any error.
 */
typedef struct FakeRoot {
        char *dir;
        int fd;
} FakeRoot;

FakeRoot *fake_root_new(void);
void fake_root_free(FakeRoot *root);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeRoot, fake_root_free)

/* Makes the folders on the way. The file is rewritten in place, as the kernel's files are. */
void fake_root_write(FakeRoot *root, const char *path, const char *content);
void fake_root_write_bytes(FakeRoot *root, const char *path, const void *content, size_t size);

/* Path and content in turn, ending with NULL. */
void fake_root_write_all(FakeRoot *root, ...) G_GNUC_NULL_TERMINATED;

void fake_root_mkdir(FakeRoot *root, const char *path);
void fake_root_link(FakeRoot *root, const char *path, const char *target);
void fake_root_fifo(FakeRoot *root, const char *path);

/* A file or a whole folder; it need not be there. */
void fake_root_remove(FakeRoot *root, const char *path);
