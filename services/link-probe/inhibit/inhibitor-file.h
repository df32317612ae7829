/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

/*
 * One lock on disk: N.lock describes it, and N.fifo is open for writing as long as it is held. So it survives
 * a restart of the service. Paths are relative to an open directory. All return negative errno.
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

/* Creates both files. *ret_ours is the end to watch, *ret_theirs the end to hand out. */
int ald_inhibitor_file_create(int directory, const AldInhibitorFile *file, int *ret_ours, int *ret_theirs);

/* Reads both files. -ENOLINK if the lock is no longer held; -EBADMSG if it is damaged. */
int ald_inhibitor_file_open(int directory, unsigned number, AldInhibitorFile *ret, int *ret_ours);

void ald_inhibitor_file_remove(int directory, unsigned number);

/* The number in the name of either file, or -EINVAL for another file. */
int ald_inhibitor_file_number(const char *name, unsigned *ret);
