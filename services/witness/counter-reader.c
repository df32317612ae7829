/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "common/fd.h"
#include "record/message.h"
#include "services/common/pci-address.h"
#include "services/common/sysroot.h"
#include "services/witness/counter-reader.h"
#include "services/witness/intel-memory.h"
#include "services/witness/intel-pmu.h"

struct AldCounterReader {
        int root;
        GHashTable *counters; /* PCI address → AldIntelPmu, or NULL */
};

AldCounterReader *ald_counter_reader_new(int root)
{
        AldCounterReader *reader = g_new0(AldCounterReader, 1);

        reader->root = root;
        reader->counters = g_hash_table_new_full(
                g_str_hash, g_str_equal, g_free, (GDestroyNotify) ald_intel_pmu_free);
        return reader;
}

void ald_counter_reader_free(AldCounterReader *reader)
{
        if (!reader)
                return;
        g_hash_table_unref(reader->counters);
        g_free(reader);
}

/* Returns the render node of a device, opened, or a negative errno. */
static int open_render_node(int root, const char *device)
{
        g_autofree char *folder = g_strdup_printf("%s/drm", device);
        g_auto(GStrv) names = NULL;
        int r = ald_sysroot_list(root, folder, &names);

        if (r < 0)
                return r;
        for (char **name = names; *name; name++) {
                g_autofree char *path = g_strdup_printf("dev/dri/%s", *name);

                if (g_str_has_prefix(*name, "renderD"))
                        return ald_sysroot_open_file(root, path);
        }
        return -ENODEV;
}

/* A device that sleeps would be woken by the question. */
static bool is_asleep(int root, const char *device)
{
        g_autofree char *path = g_strdup_printf("%s/power/runtime_status", device), *status = NULL;

        return ald_sysroot_read_string(root, path, &status) >= 0 && g_str_has_prefix(status, "suspend");
}

static uint64_t read_memory(const AldCounterReader *reader, const char *device)
{
        g_autofree char *link = g_strdup_printf("%s/driver", device), *driver = NULL;
        uint64_t bytes = ALD_ABSENT_UINT64;
        ald_fd int fd = -1;

        if (!ald_intel_memory_is_told(reader->root) ||
                ald_sysroot_link_name(reader->root, link, &driver) < 0 ||
                (!g_str_equal(driver, "i915") && !g_str_equal(driver, "xe")))
                return ALD_ABSENT_UINT64;
        fd = open_render_node(reader->root, device);
        if (fd >= 0)
                (void) ald_intel_memory_used(fd, driver, &bytes);
        return bytes;
}

/* Counting goes on from one request to the next, so the usage is absent in the first. */
static double read_usage(AldCounterReader *reader, const char *address)
{
        gpointer pmu;

        if (!g_hash_table_lookup_extended(reader->counters, address, NULL, &pmu)) {
                pmu = ald_intel_pmu_new(reader->root, address);
                g_hash_table_insert(reader->counters, g_strdup(address), pmu);
        }
        return pmu ? ald_intel_pmu_read(pmu) : ALD_ABSENT_DOUBLE;
}

static gboolean is_not_named(gpointer address, gpointer pmu, gpointer ids)
{
        return !g_strv_contains(ids, address);
}

char *ald_counter_reader_answer(AldCounterReader *reader, const AldRecord *request)
{
        const char *const *ids = ald_record_as(request, COUNTERS_REQUEST, AldCountersRequest)->ids;
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldCountedDevice));
        AldCountersAnswer answer = ALD_COUNTERS_ANSWER_INIT;

        g_hash_table_foreach_remove(reader->counters, is_not_named, (gpointer) ids);
        for (; *ids; ids++) {
                g_autofree char *device = g_strdup_printf("sys/bus/pci/devices/%s", *ids);
                AldCountedDevice row = ALD_COUNTED_DEVICE_INIT;

                if (!ald_gpu_is_pci_address(*ids))
                        continue;
                row.id = *ids;
                if (!is_asleep(reader->root, device)) {
                        row.memory_used_bytes = read_memory(reader, device);
                        row.usage = read_usage(reader, *ids);
                }
                g_array_append_val(rows, row);
        }
        answer.devices.items = rows->data;
        answer.devices.n = rows->len;
        return ald_message_format(ALD_KIND_COUNTERS_ANSWER, &answer);
}
