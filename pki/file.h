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

/* Reads a regular file and appends a NUL; ret_n may be NULL. Returns -EFBIG beyond max bytes, -EINVAL if it
 * is not a regular file. */
int ald_pki_file_read(const char *path, size_t max, char **ret, size_t *ret_n);

/* Reads a file in a folder that other users may write to, so does not follow symbolic links. */
int ald_pki_file_read_at(int folder, const char *name, size_t max, char **ret, size_t *ret_n);

/* Reads a file like ald_pki_file_read(), and returns its mode. */
int ald_pki_file_read_with_mode(const char *path, size_t max, char **ret, size_t *ret_n, mode_t *ret_mode);
