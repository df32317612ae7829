/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* What one direction has moved by then. */
typedef struct AldMoved {
        uint64_t when;
        uint64_t bytes;    /* received in order, or acknowledged */
        uint64_t segments; /* received, also ahead of one that was lost; 0 where that is not known */
        uint64_t segment;  /* bytes of a full one */
} AldMoved;
