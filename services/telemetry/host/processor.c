/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "services/common/cpuinfo.h"
#include "services/common/firmware-text.h"
#include "services/common/instruction-sets.h"
#include "services/common/sysroot.h"
#include "services/telemetry/host/device-watch.h"
#include "services/telemetry/host/processor-clocks.h"
#include "services/telemetry/host/processor-topology.h"
#include "services/telemetry/host/processor.h"

/* A tool sets a governor for one CPU after the other, so the clocks are read only after a pause. */
#define SETTLE_MS 100
#define EVENTS_SIZE 4096u

struct AldProcessorCollector {
        void (*changed)(void *userdata);
        void *userdata;
        AldProcessorReader reader;
        AldProcessorTopology *topology;
        AldProcessorClocks clocks;
        AldCpuinfo cpuinfo;
        const char **instruction_sets; /* or NULL */
        AldDeviceWatch *watch;
        int governors_fd; /* inotify */
        guint governors_source, settle_source;
};

/* Reads the instruction sets of POWER, which only the auxiliary vector of a process shows. The numbers are
 * part of the kernel's interface; <sys/auxv.h> has names for them on POWER only. */
static uint64_t read_power_sets(int root)
{
        static const struct {
                unsigned long type, bit;
                const char *name;
        } known[] = {
                { 16 /* AT_HWCAP */, 0x00000080 /* PPC_FEATURE_HAS_VSX */, "vsx" },
                { 26 /* AT_HWCAP2 */, 0x00020000 /* PPC_FEATURE2_MMA */, "mma" },
        };
        g_autofree char *bytes = NULL;
        ssize_t n = ald_bytes_read(root, "proc/self/auxv", &bytes);
        unsigned long entry[2];
        uint64_t sets = 0;

        for (; n >= (ssize_t) sizeof entry; n -= (ssize_t) sizeof entry) {
                memcpy(entry, bytes + n - sizeof entry, sizeof entry);
                for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                        if (entry[0] == known[i].type && (entry[1] & known[i].bit) != 0)
                                sets |= ald_instruction_set(known[i].name);
        }
        return sets;
}

static void read_cpuinfo(AldProcessorCollector *collector)
{
        uint64_t sets;

        ald_cpuinfo_clear(&collector->cpuinfo);
        ald_cpuinfo_read(collector->reader.root, &collector->cpuinfo);
        sets = collector->cpuinfo.instruction_sets;
        if (sets & ald_instruction_set("altivec"))
                sets |= read_power_sets(collector->reader.root);
        g_free(collector->instruction_sets);
        collector->instruction_sets = ald_instruction_sets_list(sets);
}

/* Watches the governor of a policy. inotify takes a path rather than a file descriptor, hence the link below
 * /proc. A file that is already watched stays so. */
static void watch_governor(AldProcessorCollector *collector, const char *policy)
{
        g_autofree char *path = g_strdup_printf(ALD_PROCESSOR_POLICIES_DIR "/%s/scaling_governor", policy);
        ald_fd int fd = openat(collector->reader.root, path, O_PATH | O_CLOEXEC);
        char link[64];

        if (fd < 0)
                return;
        g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (inotify_add_watch(collector->governors_fd, link, IN_CLOSE_WRITE) < 0)
                g_info("Failed to watch /%s: %s", path, g_strerror(errno));
}

static void watch_governors(AldProcessorCollector *collector)
{
        g_auto(GStrv) names = NULL;

        if (collector->governors_fd < 0 ||
                ald_sysroot_list(collector->reader.root, ALD_PROCESSOR_POLICIES_DIR, &names) < 0)
                return;
        for (char **name = names; *name; name++)
                if (ald_processor_is_policy(*name))
                        watch_governor(collector, *name);
}

static void read_clocks(AldProcessorCollector *collector)
{
        ald_processor_clocks_clear(&collector->clocks);
        ald_processor_clocks_read(&collector->reader, &collector->clocks);
}

void ald_processor_collector_refresh(AldProcessorCollector *collector)
{
        ald_processor_topology_free(collector->topology);
        collector->topology = ald_processor_topology_new(&collector->reader);
        read_cpuinfo(collector);
        /* The watch comes before the first reading, so that a governor that is set meanwhile is read
         * again. */
        watch_governors(collector);
        read_clocks(collector);
}

static void on_hardware(void *userdata)
{
        AldProcessorCollector *collector = userdata;

        ald_processor_collector_refresh(collector);
        collector->changed(collector->userdata);
}

static gboolean on_settled(gpointer userdata)
{
        AldProcessorCollector *collector = userdata;

        collector->settle_source = 0;
        read_clocks(collector);
        collector->changed(collector->userdata);
        return G_SOURCE_REMOVE;
}

static gboolean on_governor(int fd, GIOCondition condition, gpointer userdata)
{
        AldProcessorCollector *collector = userdata;
        _Alignas(struct inotify_event) char buffer[EVENTS_SIZE];

        while (read(fd, buffer, sizeof buffer) > 0)
                ;
        if (collector->settle_source == 0)
                collector->settle_source = g_timeout_add(SETTLE_MS, on_settled, collector);
        return G_SOURCE_CONTINUE;
}

AldProcessorCollector *ald_processor_collector_new(int root, void (*changed)(void *userdata), void *userdata)
{
        static const char *const subsystems[] = { "cpu", "node", NULL };
        AldProcessorCollector *collector = g_new0(AldProcessorCollector, 1);

        collector->changed = changed;
        collector->userdata = userdata;
        collector->reader.root = root;
        collector->reader.warned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        collector->watch = ald_device_watch_new("processors", subsystems, on_hardware, collector);
        collector->governors_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (collector->governors_fd >= 0)
                collector->governors_source = g_unix_fd_add(
                        collector->governors_fd, G_IO_IN, on_governor, collector);
        else
                g_info("Failed to watch governors: %s", g_strerror(errno));
        ald_processor_collector_refresh(collector);
        return collector;
}

void ald_processor_collector_free(AldProcessorCollector *collector)
{
        if (!collector)
                return;
        g_clear_handle_id(&collector->governors_source, g_source_remove);
        g_clear_handle_id(&collector->settle_source, g_source_remove);
        ald_device_watch_free(collector->watch);
        ald_fd_close(&collector->governors_fd);
        ald_processor_topology_free(collector->topology);
        ald_processor_clocks_clear(&collector->clocks);
        ald_cpuinfo_clear(&collector->cpuinfo);
        g_free(collector->instruction_sets);
        g_hash_table_unref(collector->reader.warned);
        g_free(collector);
}

/* Returns the base clock. POWER reports a clock even if the kernel does not control it; if the kernel does,
 * that clock is the current one and does not count. */
static uint64_t base_clock(const AldProcessorCollector *collector)
{
        const AldProcessorClocks *clocks = &collector->clocks;

        if (clocks->base_hz == ALD_ABSENT_UINT64 && !clocks->driver && collector->cpuinfo.clock_hz > 0)
                return collector->cpuinfo.clock_hz;
        return clocks->base_hz;
}

void ald_processor_collector_fill(const AldProcessorCollector *collector, AldProcessor *ret)
{
        const AldProcessorTopology *topology = collector->topology;
        AldProcessor processor = ALD_PROCESSOR_INIT;

        processor.model = collector->cpuinfo.chip;
        processor.sockets = topology->sockets;
        processor.cores = topology->cores;
        processor.threads = topology->threads;
        processor.offline_threads = topology->offline_threads;
        processor.threads_per_core = topology->threads_per_core;
        processor.base_clock_hz = base_clock(collector);
        processor.max_clock_hz = collector->clocks.max_hz;
        processor.frequency_driver = collector->clocks.driver;
        processor.governors = (const char *const *) collector->clocks.governors;
        processor.instruction_sets = collector->instruction_sets;
        processor.microcode = collector->cpuinfo.microcode;
        processor.caches.items = topology->caches->data;
        processor.caches.n = topology->caches->len;
        processor.numa_nodes.items = topology->nodes->data;
        processor.numa_nodes.n = topology->nodes->len;
        *ret = processor;
}
