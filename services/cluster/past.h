/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * What brokers keep of this machine's life before it was installed anew. They may keep several epochs, in any
 * order, and the state service goes beyond what it meets only once; so the newest of what comes within a
 * moment stands for all. What this machine says takes its place at the broker, so it is met at once or never.
 */
typedef struct AldPast AldPast;

#define ALD_PAST_USEC (1000 * 1000)

/* False: not now; it is tried again. */
typedef bool (*AldPastMeet)(const AldUpdate *update, void *userdata);

AldPast *ald_past_new(AldPastMeet meet, void *userdata);
void ald_past_free(AldPast *past);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPast, ald_past_free)

void ald_past_found(AldPast *past, const AldUpdate *update);
