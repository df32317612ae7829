/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "common/config.h"

/*
 * The keys of [telemetry], for the telemetry service, which passes its functions to check values, and for
 * services that read one of them too: these pass NULL.
 */
#define ALD_TELEMETRY_CONFIG_KEYS(refuse_paths_, refuse_sharing_)                                           \
        { "telemetry", "memory-interval-ms", ALD_CONFIG_UINT, 100, 60 * 1000, "500", NULL, NULL },          \
                { "telemetry", "system-interval-ms", ALD_CONFIG_UINT, 250, 60 * 1000, "1000", NULL, NULL }, \
                { "telemetry", "disk-interval-s", ALD_CONFIG_UINT, 5, 3600, "30", NULL, NULL },             \
                { "telemetry", "disk-paths", ALD_CONFIG_STRV, 0, 0, "/", refuse_paths_, NULL },             \
        {                                                                                                   \
                "telemetry", "share-processes", ALD_CONFIG_STRING, 0, 0, "none", refuse_sharing_, NULL      \
        }
