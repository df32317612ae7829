/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Replaces a file atomically and durably. Its mode and owner are set before its contents; with uid or gid -1
 * the owner is that of any new file.
 */
int ald_pki_file_write(const char *path, const char *text, mode_t mode, uid_t uid, gid_t gid);

/* Writes all of it, or fails. */
int ald_pki_fd_write(int fd, const char *bytes, size_t n);

/* Reads a regular file, with a NUL behind; ret_n may be NULL. -EFBIG beyond max bytes, -EINVAL if it is not a
 * regular file. */
int ald_pki_file_read(const char *path, size_t max, char **ret, size_t *ret_n);

/* The same in a folder that other users may write to: does not follow symbolic links. */
int ald_pki_file_read_at(int folder, const char *name, size_t max, char **ret, size_t *ret_n);

/* The same, and returns the mode of the file that was read. */
int ald_pki_file_read_with_mode(const char *path, size_t max, char **ret, size_t *ret_n, mode_t *ret_mode);
