/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * The state of a large cluster has more pages than a processor keeps the addresses of, so merging a record
 * would wait several times for a walk of the page tables. Once the heap is that large, the kernel is asked
 * for huge pages, which it grants unless the machine is configured without them. A small heap stays as it is,
 * since a huge page takes 2 MiB even if little of it is used.
 */
typedef struct AldHeapPages {
        char *start; /* the end of the heap when it was first looked at */
        char *end;   /* the end of the heap when the kernel was last asked; NULL: it was not yet */
        bool refused;
} AldHeapPages;

/* Called after the heap may have grown; costs next to nothing if it has not. */
void ald_heap_pages_request(AldHeapPages *pages);
