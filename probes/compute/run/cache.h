/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "probes/common/failure.h"

/* The folder in which drivers cache compiled code; some show no device without one. */
typedef struct AldCache {
        char *folder;
        bool is_own; /* temporary, removed at the end */
} AldCache;

/*
 * Opens $CACHE_DIRECTORY, else alidade below the user's cache, if it is writable; else a temporary folder.
 * Returns a negative errno if none can be used.
 */
int ald_cache_open(AldCache *ret);
void ald_cache_close(AldCache *cache);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldCache, ald_cache_close)

/* Returns an environment that makes all drivers use this folder. */
char **ald_cache_environment(const AldCache *cache);

/*
 * Takes a lock for one probe at a time per user, since two would disturb each other. There is no lock across
 * users, since any of them could then prevent the service from measuring; their probes are detected like any
 * other work. Returns a file descriptor that holds the lock, or a failure of kind busy.
 */
int ald_cache_lock(const AldCache *cache, AldFailure *failure);
