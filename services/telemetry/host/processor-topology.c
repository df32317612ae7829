/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/memory-nodes.h"
#include "services/telemetry/host/processor-topology.h"

#define FOLDER_SIZE 64u
#define CACHES_MAX 10u /* per CPU */
#define SIZES_MAX 64u  /* rows of different caches */
#define NODES_MAX 256u

/* A group of identical caches. */
typedef struct CacheGroup {
        uint64_t level, size; /* the size is absent if unknown */
        AldProcessorCacheType type;
        unsigned instances;
} CacheGroup;

static const char *cpu_folder(char folder[FOLDER_SIZE], unsigned cpu, const char *below)
{
        snprintf(folder, FOLDER_SIZE, ALD_CPUS_DIR "/cpu%u/%s", cpu, below);
        return folder;
}

/* Counts groups of CPUs, and the members of the largest. A file of each CPU lists the CPUs of its group:
 * `file` since Linux 5.3, `older_file` before. Returns false if a CPU has no group. */
static bool count_groups(AldProcessorReader *reader, const AldCpuSet *online, const char *file,
        const char *older_file, unsigned *ret, unsigned *ret_largest)
{
        AldCpuSet counted = {};
        unsigned n = 0, largest = 0;

        for (unsigned cpu = 0; cpu < ALD_CPU_SET_MAX; cpu++) {
                char buffer[FOLDER_SIZE];
                const char *folder = cpu_folder(buffer, cpu, "topology");
                AldCpuSet group;
                int r;

                if (!ald_cpu_set_has(online, cpu) || ald_cpu_set_has(&counted, cpu))
                        continue;
                r = ald_processor_read_cpus(reader, folder, file, &group);
                if (r == -ENOENT)
                        r = ald_processor_read_cpus(reader, folder, older_file, &group);
                if (r >= 0 && !ald_cpu_set_has(&group, cpu)) {
                        r = -EBADMSG;
                        ald_processor_warn(reader, folder, file, r);
                }
                if (r < 0)
                        return false;
                ald_cpu_set_add(&counted, &group);
                largest = MAX(largest, ald_cpu_set_count(&group));
                n++;
        }
        *ret = n;
        *ret_largest = largest;
        return n > 0;
}

static void count_threads(AldProcessorReader *reader, AldProcessorTopology *topology, const AldCpuSet *online)
{
        AldCpuSet present;
        unsigned n = ald_cpu_set_count(online), n_present, largest;

        topology->threads = n;
        if (ald_processor_read_cpus(reader, ALD_CPUS_DIR, "present", &present) >= 0) {
                n_present = ald_cpu_set_count(&present);
                if (n_present >= n)
                        topology->offline_threads = n_present - n;
        }
        if (count_groups(reader, online, "core_cpus_list", "thread_siblings_list", &n, &largest)) {
                topology->cores = n;
                topology->threads_per_core = largest;
        }
        if (count_groups(reader, online, "package_cpus_list", "core_siblings_list", &n, &largest))
                topology->sockets = n;
}

/* Returns the bytes of a size such as "48K", or absent. Some kernels for embedded machines write "0K" for an
 * unknown size. */
static uint64_t read_size(AldProcessorReader *reader, const char *folder)
{
        g_autofree char *text = NULL;
        uint64_t size;
        char *unit;

        if (ald_processor_read_string(reader, folder, "size", &text) < 0)
                return ALD_ABSENT_UINT64;
        size = g_ascii_isdigit(*text) ? strtoull(text, &unit, 10) : 0;
        if (size > 0 && size <= (uint64_t) ALD_INTEGER_MAX / 1024 && g_str_equal(unit, "K"))
                return size * 1024;
        if (!g_str_equal(text, "0K"))
                ald_processor_warn(reader, folder, "size", -EBADMSG);
        return ALD_ABSENT_UINT64;
}

/* Returns the type of a cache, or a negative errno. */
static int read_type(AldProcessorReader *reader, const char *folder)
{
        g_autofree char *text = NULL, *word = NULL;
        int r = ald_processor_read_string(reader, folder, "type", &text);

        if (r < 0)
                return r;
        word = g_ascii_strdown(text, -1);
        r = ald_processor_cache_type_from_string(word);
        if (r >= 0)
                return r;
        ald_processor_warn(reader, folder, "type", -EBADMSG);
        return -EBADMSG;
}

static void count_cache(GArray *groups, const CacheGroup *cache)
{
        for (guint i = 0; i < groups->len; i++) {
                CacheGroup *group = &g_array_index(groups, CacheGroup, i);

                if (group->level == cache->level && group->type == cache->type &&
                        group->size == cache->size) {
                        group->instances++;
                        return;
                }
        }
        if (groups->len < SIZES_MAX)
                g_array_append_val(groups, *cache);
}

/* Counts a cache with the first CPU that it serves. Returns false if the CPU has no further cache. */
static bool read_cache(
        AldProcessorReader *reader, unsigned cpu, unsigned index, AldCpuSet *counted, GArray *groups)
{
        char buffer[FOLDER_SIZE], below[16];
        const char *folder = buffer;
        CacheGroup cache = { .instances = 1 };
        AldCpuSet shared;
        int type, r;

        snprintf(below, sizeof below, "cache/index%u", index);
        cpu_folder(buffer, cpu, below);
        r = ald_processor_read_uint64(reader, folder, "level", &cache.level);
        if (r == -ENOENT || r == -ENOTDIR)
                return false;
        type = read_type(reader, folder);
        if (r < 0 || type < 0 || cache.level < 1 || cache.level > CACHES_MAX ||
                ald_processor_read_cpus(reader, folder, "shared_cpu_list", &shared) < 0)
                return true;
        cache.type = (AldProcessorCacheType) type;
        cache.size = read_size(reader, folder);
        ald_cpu_set_add(counted, &shared);
        count_cache(groups, &cache);
        return true;
}

/* Groups the caches of all CPUs. The index of a cache is the same for all CPUs that share it, so `counted`
 * has one set of CPUs per index. */
static GArray *read_caches(AldProcessorReader *reader, const AldCpuSet *online)
{
        GArray *groups = g_array_new(FALSE, FALSE, sizeof(CacheGroup));
        AldCpuSet counted[CACHES_MAX] = {};

        for (unsigned cpu = 0; cpu < ALD_CPU_SET_MAX; cpu++)
                for (unsigned i = 0; ald_cpu_set_has(online, cpu) && i < CACHES_MAX; i++)
                        if (!ald_cpu_set_has(&counted[i], cpu) &&
                                !read_cache(reader, cpu, i, &counted[i], groups))
                                break;
        return groups;
}

/* Returns "L1d", or "L2,2048K" if there is another L2. */
static char *name_group(const GArray *groups, const CacheGroup *group)
{
        static const char *const letters[ALD_PROCESSOR_CACHE_TYPE_N] = {
                [ALD_PROCESSOR_CACHE_TYPE_DATA] = "d",
                [ALD_PROCESSOR_CACHE_TYPE_INSTRUCTION] = "i",
                [ALD_PROCESSOR_CACHE_TYPE_UNIFIED] = "",
        };
        unsigned n_alike = 0;

        for (guint i = 0; i < groups->len; i++) {
                const CacheGroup *other = &g_array_index(groups, CacheGroup, i);

                n_alike += other->level == group->level && other->type == group->type;
        }
        if (n_alike == 1 || group->size == ALD_ABSENT_UINT64)
                return g_strdup_printf("L%u%s", (unsigned) group->level, letters[group->type]);
        return g_strdup_printf("L%u%s,%luK", (unsigned) group->level, letters[group->type],
                (unsigned long) (group->size / 1024));
}

static void add_caches(AldProcessorTopology *topology, const GArray *groups)
{
        for (guint i = 0; i < groups->len; i++) {
                const CacheGroup *group = &g_array_index(groups, CacheGroup, i);
                g_autofree char *id = name_group(groups, group);
                AldProcessorCache row = { .id = g_string_chunk_insert(topology->strings, id),
                        .level = group->level,
                        .type = ald_processor_cache_type_to_string(group->type),
                        .size_bytes = group->size,
                        .instances = group->instances };

                g_array_append_val(topology->caches, row);
        }
}

static void add_node(AldProcessorReader *reader, AldProcessorTopology *topology, unsigned number)
{
        g_autofree char *folder = g_strdup_printf(ALD_MEMORY_NODES_DIR "/node%u", number), *list = NULL;
        g_autofree char *id = g_strdup_printf("%u", number);
        AldNumaNode row = ALD_NUMA_NODE_INIT;
        AldCpuSet cpus;

        row.id = g_string_chunk_insert(topology->strings, id);
        row.memory_bytes = ald_memory_node_total(reader->root, number);
        if (ald_processor_read_cpus(reader, folder, "cpulist", &cpus) >= 0 && ald_cpu_set_count(&cpus) > 0 &&
                ald_processor_read_string(reader, folder, "cpulist", &list) >= 0 &&
                strlen(list) <= ALD_STRING_MAX)
                row.processors = g_string_chunk_insert(topology->strings, list);
        g_array_append_val(topology->nodes, row);
}

static void add_nodes(AldProcessorReader *reader, AldProcessorTopology *topology)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(reader->root, ALD_MEMORY_NODES_DIR, &names) < 0)
                return;
        for (char **name = names; *name && topology->nodes->len < NODES_MAX; name++) {
                unsigned number;
                int end = 0;

                if (sscanf(*name, "node%5u%n", &number, &end) == 1 && (*name)[end] == '\0')
                        add_node(reader, topology, number);
        }
}

AldProcessorTopology *ald_processor_topology_new(AldProcessorReader *reader)
{
        AldProcessorTopology *topology = g_new(AldProcessorTopology, 1);
        g_autoptr(GArray) groups = NULL;
        AldCpuSet online = {};

        *topology = (AldProcessorTopology){
                .threads = ALD_ABSENT_UINT64,
                .offline_threads = ALD_ABSENT_UINT64,
                .cores = ALD_ABSENT_UINT64,
                .threads_per_core = ALD_ABSENT_UINT64,
                .sockets = ALD_ABSENT_UINT64,
                .caches = g_array_new(FALSE, FALSE, sizeof(AldProcessorCache)),
                .nodes = g_array_new(FALSE, FALSE, sizeof(AldNumaNode)),
                .strings = g_string_chunk_new(256),
        };
        add_nodes(reader, topology);
        if (ald_processor_read_cpus(reader, ALD_CPUS_DIR, "online", &online) < 0 ||
                ald_cpu_set_count(&online) == 0)
                return topology;
        count_threads(reader, topology, &online);
        groups = read_caches(reader, &online);
        add_caches(topology, groups);
        return topology;
}

void ald_processor_topology_free(AldProcessorTopology *topology)
{
        if (!topology)
                return;
        g_array_unref(topology->caches);
        g_array_unref(topology->nodes);
        g_string_chunk_free(topology->strings);
        g_free(topology);
}
