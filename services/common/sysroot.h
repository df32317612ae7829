/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Reads /proc, /sys and /etc below a root directory, which tests replace. `root` is a file descriptor of that
 * directory and `path` is relative to it: "proc/meminfo". The kernel follows symbolic links, so a fake root
 * must contain relative ones, like sysfs. Functions return a negative errno.
 */

/* Opens the root: ALIDADE_SYSROOT if it is set, else "/". */
int ald_sysroot_open(void);

/* The maximum size of a file; larger ones are refused. */
#define ALD_SYSROOT_FILE_MAX (1024u * 1024)

/* Opens a file for ald_sysroot_reread(). */
int ald_sysroot_open_file(int root, const char *path);

/* Reads a file from its start into a buffer, NUL-terminated. Returns its length; -EFBIG if it does not
 * fit. */
ssize_t ald_sysroot_reread(int fd, char *buffer, size_t size);

/* Reads the whole file, NUL-terminated and otherwise unchanged. Returns -EFBIG beyond ALD_SYSROOT_FILE_MAX.
 */
int ald_sysroot_read(int root, const char *path, char **ret);

/* Reads a file without surrounding white space and NUL bytes, made valid UTF-8. Returns -ENODATA if nothing
 * remains. */
int ald_sysroot_read_string(int root, const char *path, char **ret);

/* Read a decimal number; the first function also reads a hexadecimal one with 0x. Return -EBADMSG for
 * anything else, -ERANGE if it does not fit. */
int ald_sysroot_read_uint64(int root, const char *path, uint64_t *ret);
int ald_sysroot_read_int64(int root, const char *path, int64_t *ret);

/* Returns the names in a directory, sorted, without "." and "..". Free with g_strfreev(). */
int ald_sysroot_list(int root, const char *path, char ***ret);

/* Returns the target of a symbolic link as it is written: ../../../devices/pci0000:00/0000:00:02.0 for a PCI
 * device. */
int ald_sysroot_link_target(int root, const char *path, char **ret);

/* Returns the last component of the target of a symbolic link, such as the driver for sys/…/device/driver. */
int ald_sysroot_link_name(int root, const char *path, char **ret);

bool ald_sysroot_exists(int root, const char *path);
