/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

/*
 * One lock as it lies on disk: N.lock tells of it, N.fifo is open for writing as long as somebody holds it.
 * So it outlives the service. Paths are relative to a directory that is open. All return negative errno.
 */
typedef struct AldInhibitorFile {
        unsigned number;
        char *what; /* as given */
        char *who;
        char *why;
        uid_t uid;
        pid_t pid;
} AldInhibitorFile;

void ald_inhibitor_file_clear(AldInhibitorFile *file);

/* Makes both. *ret_ours is the end to watch, *ret_theirs the one to hand out. */
int ald_inhibitor_file_create(int directory, const AldInhibitorFile *file, int *ret_ours, int *ret_theirs);

/* Reads both. -ENOLINK where nobody holds it any more; -EBADMSG where it is damaged. */
int ald_inhibitor_file_open(int directory, unsigned number, AldInhibitorFile *ret, int *ret_ours);

void ald_inhibitor_file_remove(int directory, unsigned number);

/* The number in the name of either file, or -EINVAL for another file. */
int ald_inhibitor_file_number(const char *name, unsigned *ret);
