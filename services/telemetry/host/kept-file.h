/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A file of procfs or sysfs that is read repeatedly. It stays open, since opening costs more than reading;
 * after an error it is opened again at the next read. Only the first error is logged, so that a flapping file
 * does not fill the log.
 */
typedef struct AldKeptFile {
        int root;
        int fd;
        bool warned;
        char *path;
} AldKeptFile;

/* Copies the path, which is relative to the root. The root must stay open as long as the file is used. */
void ald_kept_file_init(AldKeptFile *file, int root, const char *path);
void ald_kept_file_clear(AldKeptFile *file);

/* Reads the file from its start and terminates it; truncates it if it does not fit. Returns the length, or a
 * negative errno after logging it. */
ssize_t ald_kept_file_read(AldKeptFile *file, char *buffer, size_t size);

/* Reads a decimal number that is alone in its file. Returns -EBADMSG for anything else, -ERANGE if it does
 * not fit. */
int ald_kept_file_read_int64(AldKeptFile *file, int64_t *ret);

/* Logs that the file cannot be used, unless this was logged before. */
void ald_kept_file_warn(AldKeptFile *file, int error);
