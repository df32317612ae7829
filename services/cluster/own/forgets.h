/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/payload.h"

/*
 * The nodes that were forgotten on this machine. The broker keeps a forget message for each until the node
 * is back, or for the expiry time. Times are CLOCK_REALTIME in µs.
 */
typedef struct AldForgets AldForgets;

#define ALD_FORGETS_MAX 4096u

AldForgets *ald_forgets_new(void);
void ald_forgets_free(AldForgets *forgets);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldForgets, ald_forgets_free)

/* False if there are too many. */
bool ald_forgets_add(AldForgets *forgets, const AldId *target, const AldNodeForget *forget);
bool ald_forgets_remove(AldForgets *forgets, const AldId *target);

typedef void (*AldForgetsFunc)(const AldId *target, const AldNodeForget *forget, void *userdata);
void ald_forgets_foreach(AldForgets *forgets, AldForgetsFunc func, void *userdata);
/* Removes older ones and calls the function for each of them. */
void ald_forgets_expire(AldForgets *forgets, uint64_t before, AldForgetsFunc func, void *userdata);
