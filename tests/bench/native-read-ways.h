/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A way of reading. */
typedef struct NativeWay {
        const char *name;
        bool (*can)(void); /* whether this processor can */
        /* The sum of words of 64 bits; size is a multiple of 64 KiB, and memory aligned to it. */
        uint64_t (*sum)(const char *memory, size_t size);
} NativeWay;

/* The last has no name; the first can be done anywhere. */
extern const NativeWay native_ways[];
