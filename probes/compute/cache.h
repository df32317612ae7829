/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* In the folder of the cache, and spared when that is emptied; see probes/compute/lock.h. */
#define ALD_CACHE_LOCK_FILE ".lock"

/* Where drivers keep what they compiled: some show no device where they cannot. */
typedef struct AldCache {
        char *folder;
        bool is_own; /* of this run, removed at the end */
} AldCache;

/*
 * $CACHE_DIRECTORY, else alidade below the cache of the user, if it can be written; else a folder for this
 * run. Negative errno where there is none at all.
 */
int ald_cache_open(AldCache *ret);
void ald_cache_close(AldCache *cache);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldCache, ald_cache_close)

/* The environment with all the caches of drivers there. */
char **ald_cache_environment(const AldCache *cache);
