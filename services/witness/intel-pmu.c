/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fd.h"
#include "record/field.h"
#include "services/common/sysroot.h"
#include "services/witness/intel-pmu.h"

#define SOURCES "sys/bus/event_source/devices"
#define BUSY "-busy"
#define ENGINES_MAX 32u

typedef struct Engine {
        int fd;
        uint64_t busy_ns, enabled_ns; /* at the last reading; 0 before the first */
} Engine;

struct AldIntelPmu {
        int error;
        unsigned n_engines;
        Engine engines[ENGINES_MAX];
};

int ald_intel_parse_event(const char *text, uint64_t *ret_config)
{
        static const char key[] = "config=0x";
        guint64 config;
        char *end;

        if (!g_str_has_prefix(text, key) || !g_ascii_isxdigit(text[sizeof key - 1]))
                return -EBADMSG;
        errno = 0;
        config = g_ascii_strtoull(text + sizeof key - 1, &end, 16);
        if (errno != 0 || *end != '\0')
                return -EBADMSG;
        *ret_config = config;
        return 0;
}

/* Returns the path of the device's events, or NULL. i915 names its first, integrated device plainly and the
 * others by their address, without colons. */
static char *find_source(int root, const char *address)
{
        g_autofree char *name = g_strdup_printf(SOURCES "/i915_%s", address);

        for (char *c = name; *c; c++)
                if (*c == ':')
                        *c = '_';
        if (ald_sysroot_exists(root, name))
                return g_steal_pointer(&name);
        if (g_str_equal(address, "0000:00:02.0") && ald_sysroot_exists(root, SOURCES "/i915"))
                return g_strdup(SOURCES "/i915");
        return NULL;
}

static uint64_t read_number(int root, const char *source, const char *name)
{
        g_autofree char *path = g_strdup_printf("%s/%s", source, name), *text = NULL;

        /* The first number of a list of processors is one that can count. */
        return ald_sysroot_read_string(root, path, &text) < 0 ? 0 : g_ascii_strtoull(text, NULL, 10);
}

static int open_counter(uint64_t type, uint64_t config, uint64_t cpu)
{
        struct perf_event_attr attributes = {
                .type = (uint32_t) type,
                .size = sizeof attributes,
                .config = config,
                .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
        };
        long fd = syscall(SYS_perf_event_open, &attributes, -1, (int) cpu, -1, PERF_FLAG_FD_CLOEXEC);

        return fd < 0 ? -errno : (int) fd;
}

static void add_engine(AldIntelPmu *pmu, int root, const char *source, const char *event)
{
        g_autofree char *path = g_strdup_printf("%s/events/%s", source, event), *text = NULL;
        uint64_t config;
        int fd;

        if (pmu->n_engines == ENGINES_MAX || ald_sysroot_read_string(root, path, &text) < 0 ||
                ald_intel_parse_event(text, &config) < 0)
                return;
        fd = open_counter(read_number(root, source, "type"), config, read_number(root, source, "cpumask"));
        if (fd < 0)
                pmu->error = fd;
        else
                pmu->engines[pmu->n_engines++] = (Engine){ .fd = fd };
}

AldIntelPmu *ald_intel_pmu_new(int root, const char *address)
{
        g_autofree char *source = find_source(root, address), *folder = NULL;
        g_auto(GStrv) events = NULL;
        AldIntelPmu *pmu;

        if (!source)
                return NULL;
        folder = g_strdup_printf("%s/events", source);
        if (ald_sysroot_list(root, folder, &events) < 0)
                return NULL;
        pmu = g_new0(AldIntelPmu, 1);
        for (char **event = events; *event; event++)
                if (g_str_has_suffix(*event, BUSY))
                        add_engine(pmu, root, source, *event);
        return pmu;
}

void ald_intel_pmu_free(AldIntelPmu *pmu)
{
        if (!pmu)
                return;
        for (unsigned i = 0; i < pmu->n_engines; i++)
                ald_fd_close(&pmu->engines[i].fd);
        g_free(pmu);
}

int ald_intel_pmu_error(const AldIntelPmu *pmu)
{
        return pmu->n_engines > 0 ? 0 : pmu->error;
}

static double read_engine(Engine *engine)
{
        uint64_t now[2]; /* busy and enabled, in ns */
        uint64_t busy, enabled;

        if (read(engine->fd, now, sizeof now) != (ssize_t) sizeof now)
                return ALD_ABSENT_DOUBLE;
        busy = now[0] - engine->busy_ns;
        enabled = now[1] - engine->enabled_ns;
        if (engine->enabled_ns == 0 || now[0] < engine->busy_ns || now[1] <= engine->enabled_ns)
                busy = enabled = 0;
        engine->busy_ns = now[0];
        engine->enabled_ns = now[1];
        return enabled == 0 ? ALD_ABSENT_DOUBLE : MIN(100.0, 100.0 * (double) busy / (double) enabled);
}

double ald_intel_pmu_read(AldIntelPmu *pmu)
{
        double busiest = ALD_ABSENT_DOUBLE;

        for (unsigned i = 0; i < pmu->n_engines; i++) {
                double usage = read_engine(&pmu->engines[i]);

                if (isnan(busiest) || usage > busiest)
                        busiest = usage;
        }
        return busiest;
}
