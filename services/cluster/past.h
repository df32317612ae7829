/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * Records that brokers have stored from before this machine was reinstalled. They may be of several epochs,
 * in any order, and the state service goes beyond such an epoch only once, so the newest record that arrives
 * within a moment stands for all. What this machine publishes replaces them, so they arrive at once or
 * never.
 */
typedef struct AldPast AldPast;

#define ALD_PAST_USEC (1000 * 1000)

/* Returns false to be called again later. */
typedef bool (*AldPastMeet)(const AldUpdate *update, void *userdata);

AldPast *ald_past_new(AldPastMeet meet, void *userdata);
void ald_past_free(AldPast *past);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPast, ald_past_free)

void ald_past_found(AldPast *past, const AldUpdate *update);
