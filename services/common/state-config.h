/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"

/*
 * The keys of [state], for the state service and for services that read some of them too: each service knows
 * all keys of the groups that it reads, so that it can report misspelt ones.
 */
#define ALD_STATE_CONFIG_KEYS                                                                        \
        { .group = "state",                                                                          \
                .key = "max-nodes",                                                                  \
                .type = ALD_CONFIG_UINT,                                                             \
                .min = 1,                                                                            \
                .max = 10000,                                                                        \
                .fallback = "1000" },                                                                \
        {                                                                                            \
                .group = "state", .key = "expiry-h", .type = ALD_CONFIG_UINT, .min = 1, .max = 8760, \
                .fallback = "24"                                                                     \
        }
