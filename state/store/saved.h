/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * The state that survives a restart, as text: {"version": 1, "epoch": …, "records": […]}, with the records of
 * this node whose kinds are persistent. Deletions are saved too, so that they stay deleted on other nodes.
 */
#define ALD_SAVED_MAX (16u * 1024 * 1024)

typedef struct AldSaved {
        uint64_t epoch;
        size_t n_updates;
        AldUpdate *updates; /* their strings and records belong to this struct */
        char **keys;
        size_t n_unknown; /* records of kinds that only a newer version knows; they are not among the updates
                           */
} AldSaved;

/* Returns the text; free with g_free(). */
char *ald_saved_format(AldStore *store);

/* Returns -EBADMSG with *ret_error set if the text is invalid, or belongs to another version or another node.
 * */
int ald_saved_parse(const char *text, size_t n, const AldId *local, AldSaved **ret, char **ret_error);
void ald_saved_free(AldSaved *saved);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSaved, ald_saved_free)

/* Puts the records into a new store, each with a new stamp and the time at which it was measured. */
void ald_saved_restore(const AldSaved *saved, AldStore *store, uint64_t now);
