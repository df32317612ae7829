/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Reading /proc, /sys and /etc below a root directory, which tests replace. `root` is a file descriptor of
 * that directory and `path` is relative to it: "proc/meminfo". Symbolic links are followed by the kernel, so
 * a fake root must contain relative ones, like sysfs. Functions return a negative errno.
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

/* The whole file, NUL-terminated and otherwise unchanged. -EFBIG beyond ALD_SYSROOT_FILE_MAX. */
int ald_sysroot_read(int root, const char *path, char **ret);

/* The file without surrounding white space and NUL bytes, made valid UTF-8. -ENODATA if nothing remains. */
int ald_sysroot_read_string(int root, const char *path, char **ret);

/* Reads a decimal number, or a hexadecimal one with 0x; -EBADMSG for anything else, -ERANGE if it does not
 * fit. */
int ald_sysroot_read_uint64(int root, const char *path, uint64_t *ret);
int ald_sysroot_read_int64(int root, const char *path, int64_t *ret);

/* The names in a directory, sorted, without "." and "..". */
int ald_sysroot_list(int root, const char *path, char ***ret);

/* The target of a symbolic link, as it is written: ../../../devices/pci0000:00/0000:00:02.0 for a device on
 * PCI. */
int ald_sysroot_link_target(int root, const char *path, char **ret);

/* The last component of the target of a symbolic link: the driver behind sys/…/device/driver. */
int ald_sysroot_link_name(int root, const char *path, char **ret);

bool ald_sysroot_exists(int root, const char *path);
