/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "record/kind.h"

/* A service that measures this node, and the kinds of records of nodes it sends. It sends all of them again
 * every 30 s. */
typedef struct AldRecordSource {
        const char *name; /* on the bus */
        const char *path;
        const char *unit;
        AldKind kinds[ALD_N_KINDS];
        unsigned n_kinds;
        bool optional; /* not started on the bus only to read its records */
} AldRecordSource;

extern const AldRecordSource ald_record_sources[ALD_N_RECORD_SOURCES];

/* A service that has sent nothing for this long has stopped: it should have sent its records five times. */
#define ALD_RECORD_SOURCE_SILENT_USEC (UINT64_C(150) * 1000 * 1000)
