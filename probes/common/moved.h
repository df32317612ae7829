/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* What one direction has transferred by a time. */
typedef struct AldMoved {
        uint64_t when;
        uint64_t bytes;    /* received in order, or acknowledged */
        uint64_t segments; /* received, including those after a lost one; 0 if unknown */
        uint64_t segment;  /* bytes of a full segment */
} AldMoved;
