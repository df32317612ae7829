/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "services/link-probe/inhibit/inhibit-what.h"

/* A lock. On disk, N.lock describes it, and N.fifo is open for writing as long as it is held, so that it
 * survives a restart of the service. */
typedef struct AldInhibitorFile {
        unsigned number;
        char *what; /* the list of kinds, as given */
        char *who;
        char *why;
        uid_t uid;
        pid_t pid;
} AldInhibitorFile;

/* The locks by which other programs inhibit probes, each until the last copy of its file descriptor is
 * closed. */
typedef struct AldInhibitors AldInhibitors;

#define ALD_INHIBITORS_MAX 256u
#define ALD_INHIBITORS_PER_USER_MAX 32u

/* Loads the locks in the directory that are still held. Creates the directory if it is missing; if it cannot
 * be used, locks cannot be taken. `changed` is called when a lock is taken or released. */
AldInhibitors *ald_inhibitors_new(const char *directory, void (*changed)(void *userdata), void *userdata);
void ald_inhibitors_free(AldInhibitors *inhibitors);

/* Adds a lock like `lock`, whose number is ignored. The caller hands out *ret_fd and closes it. Returns
 * -ALD_E_USER_LIMIT if the user has too many locks, -ALD_E_COMMON_LIMIT if there are too many in total. */
int ald_inhibitors_add(AldInhibitors *inhibitors, const AldInhibitorFile *lock, int *ret_fd);

/* Returns the set of kinds that are inhibited now. */
unsigned ald_inhibitors_what(const AldInhibitors *inhibitors);

/* Returns the oldest lock that inhibits one of these kinds, or NULL. */
const AldInhibitorFile *ald_inhibitors_find(const AldInhibitors *inhibitors, unsigned what);
/* Describes who holds that lock and why; NULL if there is none. Free with g_free(). */
char *ald_inhibitors_reason(const AldInhibitors *inhibitors, unsigned what);

/* Releases a lock that is still held; -ENOENT if there is no lock with this number. */
int ald_inhibitors_release(AldInhibitors *inhibitors, unsigned number);

unsigned ald_inhibitors_count(const AldInhibitors *inhibitors);
const AldInhibitorFile *ald_inhibitors_at(const AldInhibitors *inhibitors, unsigned i);
