/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>
#include <linux/mman.h>

#include "services/state/heap-pages.h"

#define MEBI (1024u * 1024)

/* Processors keep the addresses of 1500 to 3000 pages of 4 KiB, and the heap is not all of the memory. */
#define LARGE (4u * MEBI)

/* The heap grows by so much at once, so that the kernel is asked before the memory is used. */
#define GROWTH (8u * MEBI)

/* malloc() would learn these limits from the replies of this service, but not once it was told how to grow:
 * no reply exceeds 16 MiB. */
#define REPLY (16u * MEBI)

/* A collapse would not heed this setting of the machine. */
static bool are_allowed(void)
{
        g_autofree char *setting = NULL;

        return g_file_get_contents("/sys/kernel/mm/transparent_hugepage/enabled", &setting, NULL, NULL) &&
               !strstr(setting, "[never]");
}

static void grow_in_large_steps(void)
{
        (void) mallopt(M_TOP_PAD, (int) GROWTH);
        (void) mallopt(M_MMAP_THRESHOLD, (int) REPLY);
        (void) mallopt(M_TRIM_THRESHOLD, (int) (2 * REPLY));
}

void ald_heap_pages_request(AldHeapPages *pages)
{
        char *end = sbrk(0);
        bool first = !pages->end;

        if (!pages->start)
                pages->start = end;
        if (end == pages->end || end < pages->start + LARGE)
                return;
        pages->end = end;
        if (first) {
                pages->start -= (uintptr_t) pages->start % (uintptr_t) sysconf(_SC_PAGESIZE);
                pages->refused = !are_allowed();
        }
        if (pages->refused)
                return;
        /* Whatever of this the kernel refuses, nothing changes but the speed. */
        (void) madvise(pages->start, (size_t) (end - pages->start), MADV_HUGEPAGE);
        if (first) {
                grow_in_large_steps();
                (void) madvise(pages->start, (size_t) (end - pages->start), MADV_COLLAPSE);
        }
}
