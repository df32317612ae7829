/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <link.h>
#include <sanitizer/lsan_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Only in builds with sanitizers. At the end of a program, LeakSanitizer searches all global variables for
 * pointers. Among them are 9 MiB of tables of its own, most of which were never written to, and to read these
 * for the first time takes longer than all else that a short program does. So global variables are not
 * searched, but a copy of those of their pages that were written to.
 */
#define PAGES_AT_ONCE 512u

/* Bits of entries of /proc/self/pagemap. */
#define PAGE_PRESENT_OR_SWAPPED (UINT64_C(3) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61)

typedef struct LeakRoots {
        int pagemap, memory;
        size_t page_size;
        char *copy;    /* NULL: only count */
        size_t n, max; /* bytes */
} LeakRoots;

/* libFuzzer searches a fuzz target for leaks while it runs, and so needs all global variables as usual. */
__attribute__((weak)) int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* LeakSanitizer calls this. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
        return LLVMFuzzerTestOneInput ? "" : "use_globals=0";
}

static bool add_pages(LeakRoots *roots, size_t first, size_t n)
{
        size_t size = n * roots->page_size;

        if (roots->copy && (size > roots->max - roots->n ||
                                   pread(roots->memory, roots->copy + roots->n, size,
                                           (off_t) (first * roots->page_size)) != (ssize_t) size))
                return false;
        roots->n += size;
        return true;
}

static bool add_written_pages(LeakRoots *roots, size_t first, size_t end)
{
        uint64_t entries[PAGES_AT_ONCE];

        for (size_t n; first < end; first += n) {
                n = end - first < PAGES_AT_ONCE ? end - first : PAGES_AT_ONCE;
                if (pread(roots->pagemap, entries, n * sizeof *entries, (off_t) (first * sizeof *entries)) !=
                        (ssize_t) (n * sizeof *entries))
                        return false;
                for (size_t i = 0, written; i < n; i += written + 1) {
                        for (written = 0; i + written < n; written++)
                                if (!(entries[i + written] & PAGE_PRESENT_OR_SWAPPED) ||
                                        entries[i + written] & PAGE_OF_FILE)
                                        break;
                        if (written > 0 && !add_pages(roots, first + i, written))
                                return false;
                }
        }
        return true;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *userdata)
{
        LeakRoots *roots = userdata;
        size_t relro = 0, relro_end = 0;

        /* The dynamic linker alone writes to these pages, before the program begins. */
        for (unsigned i = 0; i < info->dlpi_phnum; i++)
                if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
                        relro = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                        relro_end = (relro + info->dlpi_phdr[i].p_memsz) / roots->page_size;
                        relro = (relro + roots->page_size - 1) / roots->page_size;
                }
        for (unsigned i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
                size_t begin = info->dlpi_addr + segment->p_vaddr, first = begin / roots->page_size;
                size_t end = (begin + segment->p_memsz + roots->page_size - 1) / roots->page_size;

                if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
                        continue;
                if (first <= relro && relro_end <= end && relro < relro_end) {
                        if (!add_written_pages(roots, first, relro))
                                return -1;
                        first = relro_end;
                }
                if (!add_written_pages(roots, first, end))
                        return -1;
        }
        return 0;
}

static int register_module(struct dl_phdr_info *info, size_t size, void *userdata)
{
        for (unsigned i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

                if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
                        __lsan_register_root_region(
                                (const char *) (info->dlpi_addr + segment->p_vaddr), segment->p_memsz);
        }
        return 0;
}

static bool copy_roots(LeakRoots *roots)
{
        if (roots->pagemap < 0 || roots->memory < 0 || dl_iterate_phdr(add_module, roots) != 0)
                return false;
        /* Pages may be written to meanwhile. */
        roots->max = roots->n + 16 * roots->page_size;
        roots->copy = mmap(
                NULL, roots->max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (roots->copy == MAP_FAILED)
                return false;
        roots->n = 0;
        return dl_iterate_phdr(add_module, roots) == 0;
}

/* Runs before LeakSanitizer, which registered before the program was started. */
__attribute__((destructor)) void ald_set_leak_roots(void);
void ald_set_leak_roots(void)
{
        LeakRoots roots = { .page_size = (size_t) sysconf(_SC_PAGESIZE) };

        if (LLVMFuzzerTestOneInput)
                return;
        roots.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        roots.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        if (copy_roots(&roots))
                __lsan_register_root_region(roots.copy, roots.max);
        else
                (void) dl_iterate_phdr(register_module, NULL);
        /* Destructors of libraries still run, and what they allocate is not in the copy. */
        __lsan_disable();
}
