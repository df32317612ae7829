/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdint.h>

#include "record/record.h"
#include "services/telemetry/helper/nvml-processes.h"

/* More rows than this of one list are only counted, and more samples are not read. */
#define ROWS_MAX 8192u
#define SAMPLES_MAX 8192u

/* The time over which the use of a GPU is averaged; the driver keeps samples of some seconds. */
#define USED_USEC (INT64_C(5) * 1000 * 1000)

/* Linux has no greater numbers of processes. */
#define PID_MAX 4194304u

/* Room for what a driver may add to a row, so that it cannot write beyond the end. */
#define SLACK_PER_ROW 16u

/* The row of _v2 and _v3; a row without a version ends after the memory. */
typedef struct ProcessInfo {
        unsigned pid;
        unsigned long long memory;
        unsigned gpu_instance, compute_instance;
} ProcessInfo;

typedef struct ProcessInfo1 {
        unsigned pid;
        unsigned long long memory;
} ProcessInfo1;

/* Memory of a process that the driver does not know, as below Windows. */
#define MEMORY_UNKNOWN (~0ULL)

typedef struct Lists {
        GStringChunk *texts;
        const char *device;
        GHashTable *by_pid; /* number of a process → index of its row in `processes`, plus 1 */
        AldNvmlProcesses *processes;
} Lists;

/* Adds a process, or what this list knows of one that is in the other list as well: NVML reports the same
 * memory in both. */
static void add_process(Lists *lists, unsigned pid, unsigned long long memory, bool computes)
{
        guint known = GPOINTER_TO_UINT(g_hash_table_lookup(lists->by_pid, GUINT_TO_POINTER(pid)));
        AldNvmlProcess *row, fresh = ALD_NVML_PROCESS_INIT;
        g_autofree char *id = NULL;

        if (!known && (pid == 0 || pid > PID_MAX || lists->processes->rows->len >= lists->processes->most)) {
                lists->processes->unlisted++;
                return;
        }
        if (!known) {
                id = g_strdup_printf("%s,%u", lists->device, pid);
                fresh.id = g_string_chunk_insert(lists->texts, id);
                fresh.device = lists->device;
                fresh.pid = pid;
                fresh.computes = computes;
                g_array_append_val(lists->processes->rows, fresh);
                known = lists->processes->rows->len;
                g_hash_table_insert(lists->by_pid, GUINT_TO_POINTER(pid), GUINT_TO_POINTER(known));
        }
        row = &g_array_index(lists->processes->rows, AldNvmlProcess, known - 1);
        row->computes |= computes;
        if (memory != MEMORY_UNKNOWN &&
                (row->memory_bytes == ALD_ABSENT_UINT64 || memory > row->memory_bytes))
                row->memory_bytes = memory;
}

/* Reads one of the lists. It may grow between the two calls, and then is too long once more: with some more
 * room that is rare, and what is beyond is counted. */
static void read_list(
        const AldNvml *nvml, AldNvmlHandle *device, AldNvmlListProcesses list, bool computes, Lists *lists)
{
        size_t size = nvml->has_old_processes ? sizeof(ProcessInfo1) : sizeof(ProcessInfo);
        unsigned count = 0, room;
        g_autofree char *rows = NULL;
        int result;

        result = list ? list(device, &count, NULL) : ALD_NVML_FUNCTION_NOT_FOUND;
        if (result != ALD_NVML_INSUFFICIENT_SIZE || count == 0)
                return;
        if (count > ROWS_MAX) {
                lists->processes->unlisted += count;
                return;
        }
        room = count + 16;
        rows = g_malloc0((gsize) room * (size + SLACK_PER_ROW));
        result = list(device, &room, rows);
        if (result != ALD_NVML_SUCCESS) {
                lists->processes->unlisted += count;
                return;
        }
        for (unsigned i = 0; i < MIN(room, count + 16); i++) {
                /* Both layouts begin alike. */
                const ProcessInfo1 *row = (const void *) (rows + i * size);

                add_process(lists, row->pid, row->memory, computes);
        }
}

/* Some drivers keep a sample of a process for each period in which it did something, others only the last
 * one, each at a time of its own. The process with the most samples shows how many periods there were. */
static void add_samples(Lists *lists, const AldNvmlUsed *samples, unsigned n)
{
        g_autofree unsigned *counts = g_new0(unsigned, lists->processes->rows->len);
        unsigned periods = 1;
        GHashTableIter iter;
        gpointer index;

        for (unsigned i = 0; i < n; i++) {
                const AldNvmlUsed *sample = &samples[i];
                guint known = GPOINTER_TO_UINT(
                        g_hash_table_lookup(lists->by_pid, GUINT_TO_POINTER(sample->pid)));
                unsigned busiest = MAX(MAX(sample->sm, sample->encoder), sample->decoder);
                AldNvmlProcess *row;

                if (known == 0)
                        continue;
                row = &g_array_index(lists->processes->rows, AldNvmlProcess, known - 1);
                row->usage = (isnan(row->usage) ? 0 : row->usage) + MIN(busiest, 100);
                counts[known - 1]++;
                periods = MAX(periods, counts[known - 1]);
        }
        g_hash_table_iter_init(&iter, lists->by_pid);
        while (g_hash_table_iter_next(&iter, NULL, &index)) {
                AldNvmlProcess *row = &g_array_index(
                        lists->processes->rows, AldNvmlProcess, GPOINTER_TO_UINT(index) - 1);

                row->usage = isnan(row->usage) ? 0 : row->usage / periods;
        }
}

static void read_usage(const AldNvml *nvml, AldNvmlHandle *device, Lists *lists)
{
        unsigned long long since = (unsigned long long) (g_get_real_time() - USED_USEC);
        g_autofree AldNvmlUsed *samples = NULL;
        unsigned n = 0;
        int result;

        if (!nvml->process_utilization || g_hash_table_size(lists->by_pid) == 0)
                return;
        result = nvml->process_utilization(device, NULL, &n, since);
        if (result == ALD_NVML_INSUFFICIENT_SIZE && n > 0 && n <= SAMPLES_MAX) {
                samples = g_new0(AldNvmlUsed, n);
                result = nvml->process_utilization(device, samples, &n, since);
        } else if (result == ALD_NVML_SUCCESS)
                n = 0; /* only their number was asked for */
        /* There is no sample if no process did anything. */
        if (result == ALD_NVML_SUCCESS || result == ALD_NVML_NOT_FOUND)
                add_samples(lists, samples, result == ALD_NVML_SUCCESS ? n : 0);
}

void ald_nvml_processes_read(const AldNvml *nvml, AldNvmlHandle *device, const char *id, GStringChunk *texts,
        AldNvmlProcesses *ret)
{
        g_autoptr(GHashTable) by_pid = g_hash_table_new(NULL, NULL);
        Lists lists = { .texts = texts, .device = id, .by_pid = by_pid, .processes = ret };

        read_list(nvml, device, nvml->list_compute, true, &lists);
        read_list(nvml, device, nvml->list_graphics, false, &lists);
        read_usage(nvml, device, &lists);
}
