/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/host/kept-file.h"
#include "services/telemetry/host/memory-limit.h"
#include "services/telemetry/host/memory-nodes.h"
#include "services/telemetry/host/memory.h"

#define MEMINFO_MAX 8192u
#define PSI_MAX 512u
#define ARCSTATS "proc/spl/kstat/zfs/arcstats"

struct AldMemoryCollector {
        int root;
        bool is_replaced; /* /proc/meminfo is not that of the kernel */
        AldKeptFile meminfo;
        AldKeptFile psi;
        AldMemoryLimits *limits; /* of the container, or NULL */
        GArray *device_nodes;    /* of guint: NUMA nodes that are the memory of a GPU, or NULL */
};

/* lxcfs mounts files over those of /proc, with the figures of the container; the others remain those of the
 * host. */
static bool is_meminfo_replaced(int root)
{
        g_autofree char *mounts = NULL;

        return ald_sysroot_read(root, "proc/self/mountinfo", &mounts) >= 0 &&
               strstr(mounts, " /proc/meminfo ");
}

AldMemoryCollector *ald_memory_collector_new(int root)
{
        AldMemoryCollector *collector = g_new(AldMemoryCollector, 1);

        *collector = (AldMemoryCollector){
                .root = root,
                .is_replaced = is_meminfo_replaced(root),
                .limits = ald_memory_limits_new(root),
        };
        ald_kept_file_init(&collector->meminfo, root, "proc/meminfo");
        ald_kept_file_init(&collector->psi, root, "proc/pressure/memory");
        return collector;
}

void ald_memory_collector_free(AldMemoryCollector *collector)
{
        ald_kept_file_clear(&collector->meminfo);
        ald_kept_file_clear(&collector->psi);
        ald_memory_limits_free(collector->limits);
        g_clear_pointer(&collector->device_nodes, g_array_unref);
        g_free(collector);
}

void ald_memory_collector_use_backends(AldMemoryCollector *collector, const AldRows *backends)
{
        g_clear_pointer(&collector->device_nodes, g_array_unref);
        collector->device_nodes = ald_memory_nodes_of_devices(collector->root, backends);
}

/* "   24682416 kB" up to the end of the line; anything else is not a size. */
static bool parse_size(const char *text, uint64_t *ret)
{
        unsigned long long kib;
        uint64_t bytes;
        char *end;

        text += strspn(text, " \t");
        if (!g_ascii_isdigit(*text))
                return false;
        errno = 0;
        kib = strtoull(text, &end, 10);
        if (errno != 0 || !g_str_has_prefix(end, " kB\n") || __builtin_mul_overflow(kib, 1024u, &bytes))
                return false;
        if (bytes > (uint64_t) ALD_INTEGER_MAX)
                return false;
        *ret = bytes;
        return true;
}

static void parse_line(const char *line, AldMemory *memory)
{
        const struct {
                const char *name;
                uint64_t *value;
        } sizes[] = {
                { "MemTotal:", &memory->total_bytes },
                { "MemAvailable:", &memory->available_bytes },
                { "SwapTotal:", &memory->swap_total_bytes },
                { "SwapFree:", &memory->swap_available_bytes },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
                if (g_str_has_prefix(line, sizes[i].name))
                        parse_size(line + strlen(sizes[i].name), sizes[i].value);
}

/* A part without its total is kept, since it shows what is free. A part greater than its total is
 * discarded. */
static void drop_contradictions(AldMemory *memory)
{
        if (memory->total_bytes == 0)
                memory->total_bytes = ALD_ABSENT_UINT64;
        if (memory->available_bytes > memory->total_bytes)
                memory->available_bytes = ALD_ABSENT_UINT64;
        if (memory->swap_available_bytes > memory->swap_total_bytes)
                memory->swap_available_bytes = ALD_ABSENT_UINT64;
}

void ald_meminfo_parse(const char *text, AldMemory *memory)
{
        for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
                parse_line(line, memory);
        drop_contradictions(memory);
}

/* "size    4    34359738368": the name, the type of the number, and the number. */
static uint64_t parse_kstat(const char *text, const char *name)
{
        for (const char *line = text; line; line = strchr(line, '\n')) {
                const char *field;

                line += *line == '\n';
                if (!g_str_has_prefix(line, name))
                        continue;
                field = line + strlen(name);
                field += strspn(field, " ");
                if (field == line + strlen(name) || strspn(field, "0123456789") == 0)
                        continue;
                field += strspn(field, "0123456789");
                field += strspn(field, " ");
                if (g_ascii_isdigit(*field))
                        return g_ascii_strtoull(field, NULL, 10);
        }
        return ALD_ABSENT_UINT64;
}

void ald_arcstats_parse(const char *text, AldMemory *memory)
{
        uint64_t size = parse_kstat(text, "size"), least = parse_kstat(text, "c_min");

        if (memory->total_bytes == ALD_ABSENT_UINT64 || memory->available_bytes == ALD_ABSENT_UINT64 ||
                size == ALD_ABSENT_UINT64 || least == ALD_ABSENT_UINT64)
                return;
        if (size > least && size <= memory->total_bytes - memory->available_bytes)
                memory->available_bytes += size - least;
}

/* Adds what the cache of ZFS gives back. Most machines have none, which is no reason for a line in the log.
 */
static void add_zfs_cache(const AldMemoryCollector *collector, AldMemory *memory)
{
        g_autofree char *text = NULL;

        if (!collector->is_replaced && ald_sysroot_read(collector->root, ARCSTATS, &text) >= 0)
                ald_arcstats_parse(text, memory);
}

/* "some avg10=0.12 avg60=…": always with a point, whatever the locale. */
static double parse_average(const char *line, const char *name)
{
        double value;
        char *end;

        if (!g_str_has_prefix(line, name))
                return ALD_ABSENT_DOUBLE;
        line += strlen(name);
        if (!g_ascii_isdigit(*line))
                return ALD_ABSENT_DOUBLE;
        value = g_ascii_strtod(line, &end);
        return *end == ' ' && value <= 100 ? value : ALD_ABSENT_DOUBLE;
}

void ald_psi_parse(const char *text, AldMemory *memory)
{
        for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
                if (g_str_has_prefix(line, "some "))
                        memory->pressure_some10 = parse_average(line, "some avg10=");
                else if (g_str_has_prefix(line, "full "))
                        memory->pressure_full10 = parse_average(line, "full avg10=");
        }
}

void ald_memory_collector_sample(AldMemoryCollector *collector, AldMemory *ret)
{
        char meminfo[MEMINFO_MAX], psi[PSI_MAX];

        *ret = (AldMemory) ALD_MEMORY_INIT;
        if (ald_kept_file_read(&collector->meminfo, meminfo, sizeof meminfo) >= 0) {
                ald_meminfo_parse(meminfo, ret);
                if (ret->total_bytes == ALD_ABSENT_UINT64 || ret->available_bytes == ALD_ABSENT_UINT64)
                        ald_kept_file_warn(&collector->meminfo, -EBADMSG);
                add_zfs_cache(collector, ret);
                if (collector->device_nodes)
                        ald_memory_nodes_subtract(collector->root, collector->device_nodes, ret);
                if (collector->limits)
                        ald_memory_limits_apply(collector->limits, ret);
        }
        if (ald_kept_file_read(&collector->psi, psi, sizeof psi) >= 0) {
                ald_psi_parse(psi, ret);
                if (isnan(ret->pressure_some10))
                        ald_kept_file_warn(&collector->psi, -EBADMSG);
        }
}
